import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { rm, stat, utimes } from 'node:fs/promises'
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

const pack = () => run(process.execPath, [join(ROOT, 'scripts/pack-packages.ts'), folder])

t.before(pack)
t.teardown(() => rm(folder, { recursive: true, force: true }))

/** What a process of its own prints. */
async function printed(program: string): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env
  return (await run(process.execPath, ['--input-type=module', '-e', program], { env, cwd: ROOT })).stdout
}

const PACKING = `import { importPacked } from ${JSON.stringify(PACKED)}\nimportPacked(${JSON.stringify(folder)})`
const placeOfTypebox = () => printed(`${PACKING}\nconsole.log(import.meta.resolve('typebox'))`)

t.test('packages come out of what they were packed into as they went in', async (t) => {
  const program = (first: string) => `${first}
const found = {}
for (const name of ${JSON.stringify(packed())}) {
  const all = await import(name)
  found[name] = Object.keys(all).filter((key) => key !== 'module.exports').sort().map((key) => key + ' ' + typeof all[key])
}
console.log(JSON.stringify(found))
process.exit()`
  const [asTheyWere, asTheyAre] = await Promise.all([printed(program('')), printed(program(PACKING))])
  t.same(JSON.parse(asTheyAre), JSON.parse(asTheyWere))
  t.match(await placeOfTypebox(), folder)
})

t.test(
  'packages are loaded from their own files where npm wrote after they were packed, until they are packed again',
  async (t) => {
    const list = join(folder, PACKED_LIST)
    const packedAtMs = async () => (await stat(list)).mtimeMs
    const firstMs = await packedAtMs()
    await pack()
    t.equal(await packedAtMs(), firstMs, 'packed once')
    const { mtimeMs } = await stat(join(ROOT, 'node_modules/.package-lock.json'))
    await utimes(list, new Date(), new Date(mtimeMs - 1_000))
    t.notMatch(await placeOfTypebox(), folder)
    await pack()
    t.ok((await packedAtMs()) >= mtimeMs, 'packed again')
    t.match(await placeOfTypebox(), folder)
  },
)

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
