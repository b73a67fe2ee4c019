import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { productFiles, unguardedIn } from '../../../support/source/registrations.ts'

const ROOT = join(import.meta.dirname, '../../../..')

/** Files that register without a boundary, and why what throws there ends no call. */
const ALLOWED: Readonly<Record<string, string>> = {
  'runtime/process/lifecycle.ts': 'the last resort itself',
  'workers/voice/survive.ts': 'the last resort of a voice worker',
  'runtime/process/log-output.ts': 'below the log, which a boundary needs to say what failed',
  'runtime/process/offload/task.ts': 'a worker of a pool: its owner hears of its end and fails what it ran',
  'store/uploads/bulk-copy-thread.ts': 'a worker of a pool: its owner hears of its end and fails the load',
  'plugins/local/thread.ts': 'a thread: its owner hears of its end and starts another',
  'plugins/local/recognisers.ts': 'runs in the thread of plugins/local/thread.ts',
  'runtime/models/pull-main.ts': 'a process of its own: its parent hears of its end and fails the download',
  'runtime/plugin/isolated/inside/runner.ts': 'the process of a plugin: its role hears of its end and starts another',
  'runtime/plugin/isolated/inside/deno-main.ts':
    'the process of a plugin: its role hears of its end and starts another',
  'runtime/plugin/isolated/inside/node-main.ts':
    'the process of a plugin: its role hears of its end and starts another',
}

t.test('every handler of a socket, stream, timer, queue and event of the product is behind a boundary', async (t) => {
  const files = await productFiles()
  t.ok(files.size > 900, 'files are found')
  const found = [...files].flatMap(([file, text]) => unguardedIn(file, text))
  const unguarded = found.filter(({ file }) => ALLOWED[file] === undefined)
  t.same(
    unguarded.map(({ file, line, text }) => `${file}:${line}: ${text}`),
    [],
    'wrap the handler: boundary(kind, handler) of runtime/lib/async/boundary.ts',
  )
  const needed = new Set(found.map(({ file }) => file))
  t.same(
    Object.keys(ALLOWED).filter((file) => !needed.has(file)),
    [],
    'no exception is left over',
  )
})

t.test('a registration without a boundary is found however it is written', async (t) => {
  for (const text of [
    "socket.on('message', (data) => read(data))",
    "socket.once('close', read)",
    "socket.on('close', () => { read() })",
    "signal.addEventListener('abort', () => read(), { once: true })",
    "const read = () => parse(); emitter.on('x', read)",
    'setInterval(() => read(), 5)',
    'setTimeout(read, 5)',
    'queueMicrotask(() => read())',
    'setImmediate(async () => read())',
    'socket.setTimeout(5, () => read())',
    'process.nextTick(read)',
    'createServer((request) => read(request))',
    'port.onmessage = (message) => read(message)',
    "subscriber.subscribe('channel', (text) => read(text))",
    "subscriber.subscribe('channel', read)",
    'class A { #read = () => parse(); start() { emitter.on("x", this.#read) } }',
  ]) {
    t.equal(unguardedIn('x.ts', text).length, 1, text)
  }
  for (const text of [
    "socket.on('message', boundary('http', (data) => read(data)))",
    "const read = boundary('http', () => parse()); emitter.on('x', read); setTimeout(read, 5)",
    "socket.on('error', () => {})",
    "socket.on('error', () => undefined)",
    "socket.on('error', () => socket.destroy())",
    'new Promise((done) => setTimeout(done, 5))',
    'new Promise((done) => emitter.once("x", () => done(1)))',
    "import { setTimeout } from 'node:timers/promises'; await setTimeout(5)",
    'class A { #read = boundary("http", () => parse()); start() { emitter.on("x", this.#read) } }',
  ]) {
    t.same(unguardedIn('x.ts', text), [], text)
  }
})

t.test('no promise of the product is left without a handler', async (t) => {
  const biome = join(ROOT, 'node_modules/.bin/biome')
  const rooms = ['main.ts', 'api', 'cli', 'config', 'runtime', 'plugins', 'store', 'workers']
  const rules = ['--only=nursery/noFloatingPromises', '--only=complexity/noVoid']
  const { stdout, stderr } = await promisify(execFile)(biome, ['lint', ...rules, '--error-on-warnings', ...rooms], {
    cwd: ROOT,
    maxBuffer: 16 << 20,
  }).catch((error: { stdout: string; stderr: string }) => error)
  const said = `${stdout}${stderr}`
  t.match(said, /Checked \d{3,} files/)
  t.notMatch(said, /lint\//, 'give it to inBackground(kind, promise) of runtime/lib/async/boundary.ts, or wait for it')
})
