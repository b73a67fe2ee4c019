import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { PACKED_LIST } from '../../../../runtime/process/packed-packages.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../../..')
const PACKED = join(ROOT, 'runtime/process/packed-packages.ts')
/** Beside the packages, which it imports some of. */
const folder = join(ROOT, `node_modules/.test-packed-${process.pid}`)
const packed = (): string[] => Object.keys(JSON.parse(readFileSync(join(folder, PACKED_LIST), 'utf8')) as object)

t.before(() => run(process.execPath, [join(ROOT, 'scripts/pack-packages.ts'), folder]))
t.teardown(() => rm(folder, { recursive: true, force: true }))

/** What a process of its own prints. */
async function printed(program: string): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env
  return (await run(process.execPath, ['--input-type=module', '-e', program], { env, cwd: ROOT })).stdout
}

t.test('packages come out of what they were packed into as they went in', async (t) => {
  const program = (first: string) => `${first}
const found = {}
for (const name of ${JSON.stringify(packed())}) {
  const all = await import(name)
  found[name] = Object.keys(all).filter((key) => key !== 'module.exports').sort().map((key) => key + ' ' + typeof all[key])
}
console.log(JSON.stringify(found))
process.exit()`
  const packing = `import { importPacked } from ${JSON.stringify(PACKED)}\nimportPacked(${JSON.stringify(folder)})`
  const [asTheyWere, asTheyAre] = await Promise.all([printed(program('')), printed(program(packing))])
  t.same(JSON.parse(asTheyAre), JSON.parse(asTheyWere))
  const place = await printed(`${packing}\nconsole.log(import.meta.resolve('typebox'))`)
  t.match(place, folder)
})

t.test('whatever is imported of a packed package is packed: nothing has a copy of its own', (t) => {
  const listed = packed()
  const packageOf = (name: string): string => name.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? ''
  const packages = new Set(listed.map(packageOf))
  const files = globSync(['{api,bench,cli,plugins,runtime,scripts,store,test,workers}/**/*.ts', 'main.ts'], {
    cwd: ROOT,
  })
  t.ok(files.length > 1_000)
  for (const file of files) {
    const source = readFileSync(join(ROOT, file), 'utf8')
    for (const [, what = '', name = ''] of source.matchAll(
      /^(import|\} from|export .*from|.*\bimport\()(?: type)?[^'"\n]*'([@a-z][^'\n]*)'/gm,
    )) {
      if (packages.has(packageOf(name)) && !listed.includes(name) && !/^import type/.test(what))
        t.fail(`${file}: ${name}`)
    }
  }
  t.end()
})
