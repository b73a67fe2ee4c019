import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { isPackedCurrent, PACKED_FOLDER, PACKED_LIST } from '../../../../runtime/process/packed-packages.ts'
import { testFolder } from '../../../support/instance/services.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../../..')
const PACKED = join(ROOT, 'runtime/process/packed-packages.ts')
const notPacked = isPackedCurrent() ? false : 'node_modules/.packed is missing or old: node scripts/pack-packages.ts'
const packed = (): string[] => Object.keys(JSON.parse(readFileSync(join(PACKED_FOLDER, PACKED_LIST), 'utf8')) as object)

/** What a process of its own prints. */
async function printed(program: string, cwd = ROOT): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env
  return (await run(process.execPath, ['--input-type=module', '-e', program], { env, cwd })).stdout
}

t.test('packages come out of what they were packed into as they went in', { skip: notPacked }, async (t) => {
  const program = (first: string) => `${first}
const found = {}
for (const name of ${JSON.stringify(packed())}) {
  const all = await import(name)
  found[name] = Object.keys(all).filter((key) => key !== 'module.exports').sort().map((key) => key + ' ' + typeof all[key])
}
console.log(JSON.stringify(found))
process.exit()`
  const packing = `import { importPacked } from ${JSON.stringify(PACKED)}\nimportPacked()`
  const [asTheyWere, asTheyAre] = await Promise.all([printed(program('')), printed(program(packing))])
  t.same(JSON.parse(asTheyAre), JSON.parse(asTheyWere))
  const place = await printed(`${packing}\nconsole.log(import.meta.resolve('typebox'))`)
  t.match(place, '/node_modules/.packed/')
})

t.test(
  'whatever is imported of a packed package is packed: nothing has a copy of its own',
  { skip: notPacked },
  (t) => {
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
  },
)

t.test('packages that were installed since are taken as they are', async (t) => {
  const folder = await testFolder(t)
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '.packed'), { recursive: true })
  await mkdir(join(modules, 'greeting'))
  await writeFile(join(modules, 'greeting', 'package.json'), '{"type": "module", "exports": "./mod.js"}')
  await writeFile(join(modules, 'greeting', 'mod.js'), 'export default "as it is"')
  await writeFile(join(modules, '.packed', 'greeting.mjs'), 'export default "packed"')
  await writeFile(join(modules, '.package-lock.json'), '{}')
  await writeFile(join(modules, '.packed', PACKED_LIST), '{"greeting": "greeting.mjs"}')
  const at = (seconds: number) => utimes(join(modules, '.packed', PACKED_LIST), seconds, seconds)
  const main = join(folder, 'main.mjs')
  await writeFile(
    main,
    `import { importPacked } from ${JSON.stringify(PACKED)}
importPacked(${JSON.stringify(join(modules, '.packed'))})
console.log((await import('greeting')).default)`,
  )
  const greeting = () => printed(`await import(${JSON.stringify(main)})`, folder)
  const nowS = Date.now() / 1000
  await at(nowS + 10)
  t.equal(await greeting(), 'packed\n')
  await at(nowS - 10)
  t.equal(await greeting(), 'as it is\n')
})
