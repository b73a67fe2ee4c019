import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { testFolder } from '../../../support/instance/services.ts'

const run = promisify(execFile)
const CACHE = join(import.meta.dirname, '../../../../runtime/process/module-cache.ts')

/** Without what this test's own process keeps its modules by. */
const { NODE_COMPILE_CACHE: _, NODE_OPTIONS: __, ...own } = process.env

/** A module of TypeScript, and what a process that keeps its modules in `folder` finds in it. */
async function module(t: Parameters<typeof testFolder>[0]) {
  const dir = await testFolder(t)
  const file = join(dir, 'greeting.ts')
  await writeFile(join(dir, 'package.json'), '{"type": "module"}')
  const write = (source: string): Promise<void> => writeFile(file, source)
  const load = async (folder: string, env: NodeJS.ProcessEnv = {}): Promise<{ stdout: string; stderr: string }> => {
    const program = `import { cacheModules } from ${JSON.stringify(CACHE)}
cacheModules(${JSON.stringify(folder)})
try { console.log((await import(${JSON.stringify(file)})).default) } catch (error) { console.log(error.stack) }`
    return run(process.execPath, ['--input-type=module', '-e', program], { env: { ...own, ...env } })
  }
  return { dir, write, load }
}

const stripped = (folder: string): Promise<string[]> => readdir(join(folder, 'typescript')).catch(() => [])

t.test('a module is kept for the next process, and made anew when its source changed', async (t) => {
  const { dir, write, load } = await module(t)
  const folder = join(dir, 'kept')
  await write('const name: string = "Anna"\nexport default name\n')
  t.same(await load(folder), { stdout: 'Anna\n', stderr: '' })
  const [kept = '', ...more] = await stripped(folder)
  t.same(more, [])
  const path = join(folder, 'typescript', kept)
  const javascript = await readFile(path, 'utf8')
  t.notMatch(javascript, ': string')
  await writeFile(path, javascript.replace('Anna', 'kept'))
  t.equal((await load(folder)).stdout, 'kept\n', 'the second process takes what the first made')
  await write('const name: string = "Bob"\nexport default name\n')
  t.equal((await load(folder)).stdout, 'Bob\n')
  t.same(await stripped(folder), [kept], 'the old one is replaced')
})

t.test('a thread takes what the process keeps, and keeps what it loads', async (t) => {
  const { dir, write } = await module(t)
  const folder = join(dir, 'kept')
  await write("import { parentPort } from 'node:worker_threads'\nparentPort!.postMessage('Anna' satisfies string)\n")
  const program = `import { cacheModules, threadEntry } from ${JSON.stringify(CACHE)}
import { Worker } from 'node:worker_threads'
cacheModules(${JSON.stringify(folder)})
const entry = threadEntry(new URL(${JSON.stringify(`file://${join(dir, 'greeting.ts')}`)}))
new Worker(entry, { env: {}, execArgv: [] }).on('message', (name) => console.log(name))`
  const start = () => run(process.execPath, ['--input-type=module', '-e', program], { env: own })
  t.equal((await start()).stdout, 'Anna\n')
  const files = (await stripped(folder)).map((name) => join(folder, 'typescript', name))
  const sources = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  const at = sources.findIndex((source) => source.includes("'Anna'"))
  await writeFile(files[at] ?? '', sources[at]?.replace('Anna', 'kept') ?? '')
  t.equal((await start()).stdout, 'kept\n')
})

t.test('a process takes what the one that started it keeps; without a cache it is started as any other', async (t) => {
  const { dir, write } = await module(t)
  const folder = join(dir, 'kept')
  await write("console.log('Anna' satisfies string)\n")
  const file = join(dir, 'greeting.ts')
  const programOf = (caching: string) => `import { cacheModules, processEntry } from ${JSON.stringify(CACHE)}
import { spawnSync } from 'node:child_process'
${caching}
const args = processEntry(new URL(${JSON.stringify(`file://${file}`)}))
console.log(args.length, spawnSync(process.execPath, args, { env: {} }).stdout.toString().trim())`
  const start = async (caching: string) =>
    (await run(process.execPath, ['--input-type=module', '-e', programOf(caching)], { env: own })).stdout
  const caching = `cacheModules(${JSON.stringify(folder)})`
  t.equal(await start(caching), '3 Anna\n')
  const files = (await stripped(folder)).map((name) => join(folder, 'typescript', name))
  const sources = await Promise.all(files.map((path) => readFile(path, 'utf8')))
  const at = sources.findIndex((source) => source.startsWith("console.log('Anna'"))
  await writeFile(files[at] ?? '', sources[at]?.replace('Anna', 'kept') ?? '')
  t.equal(await start(caching), '3 kept\n')
  t.equal(await start(''), '1 Anna\n')
})

t.test('errors name the line and column of the source', async (t) => {
  const { dir, write, load } = await module(t)
  await write(
    'interface Long {\n  name: string\n}\nexport default ((long: Long): never => { throw new Error(long.name) })({ name: "here" })\n',
  )
  for (const _ of [1, 2]) t.match((await load(join(dir, 'kept'))).stdout, /greeting\.ts:4:\d+/)
})

t.test('a folder that cannot be written, a file cut off and a cache switched off lose nothing', async (t) => {
  const { dir, write, load } = await module(t)
  await write('export default ("Anna" as string)\n')
  await writeFile(join(dir, 'file'), '')
  t.same(await load(join(dir, 'file', 'below')), { stdout: 'Anna\n', stderr: '' })
  const folder = join(dir, 'kept')
  t.same(await load(folder, { NODE_DISABLE_COMPILE_CACHE: '1' }), { stdout: 'Anna\n', stderr: '' })
  t.same(await stripped(folder), [])
  await load(folder)
  const [kept = ''] = await stripped(folder)
  await writeFile(join(folder, 'typescript', kept), 'export default "cut')
  t.equal((await load(folder)).stdout, 'Anna\n')
})
