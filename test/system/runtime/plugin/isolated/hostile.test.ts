import { lookup } from 'node:dns/promises'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { llm } from '@livekit/agents'
import { type Test, test } from 'tap'
import { refusals } from '../../../../../runtime/plugin/grants/refusals.ts'
import { type PluginRegistry, ROOT } from '../../../../../runtime/plugin/host.ts'
import { collect, errorsOf, ONE_ATTEMPT } from '../../../../conformance/support.ts'
import { ILL_FORMED } from '../../../../support/world/ill-formed.ts'
import { type Foreign, foreign } from '../../../../unit/runtime/plugin/isolated/support.ts'

const PATIENCE_MS = 60_000

/** A plugin whose model does what its question says: each try is the body of an async function over `host` and `args`. */
function probing(tries: Record<string, string>): Exclude<Foreign['plugin'], 'parrot'> {
  const bodies = Object.entries(tries).map(
    ([name, body]) => `${JSON.stringify(name)}: async (host, args) => { ${body} }`,
  )
  return {
    mod: `import { definePlugin } from '@patchbay/plugin'
const tries = { ${bodies.join(',\n')} }
export default definePlugin({ llm: (host) => ({ async *chat({ messages }) {
  const { name, args } = JSON.parse(messages.at(-1).content)
  let said
  try { said = 'did: ' + JSON.stringify(await tries[name](host, args)) } catch (error) { said = 'refused: ' + error.name + ' ' + error.message }
  yield { type: 'text', text: said }
} }) })
`,
  }
}

/** What came of a try; what the model's stream reported when it failed. */
async function attempt(registry: PluginRegistry, name: string, args: object = {}): Promise<string> {
  const model = await registry.create('llm', 'probe')
  const errors = errorsOf(model)
  const chatCtx = llm.ChatContext.empty()
  chatCtx.addMessage({ role: 'user', content: JSON.stringify({ name, args }) })
  const chunks = await collect(model.chat({ chatCtx, connOptions: ONE_ATTEMPT }), PATIENCE_MS)
  const [error] = errors
  return error === undefined
    ? chunks.map(({ delta }) => delta?.content ?? '').join('')
    : `failed: ${error.error.message}`
}

/** Listens on the loopback device and on a Unix socket. */
async function victim(t: Test): Promise<{ port: number; socket: string; requests: string[] }> {
  const requests: string[] = []
  const server = http.createServer((request, response) => {
    requests.push(request.url ?? '')
    if (request.url === '/away') response.writeHead(302, { location: `http://127.0.0.1:${port}/inner` }).end()
    else response.end('hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  t.teardown(() => server.close())
  const socket = join(t.testdir({}), 'socket')
  const local = net.createServer((connection) => {
    requests.push('a connection')
    connection.destroy()
  })
  await new Promise<void>((resolve) => local.listen(socket, resolve))
  t.teardown(() => local.close())
  return { port, socket, requests }
}

test('nothing that was not granted can be reached, by any way Deno has', async (t) => {
  const { port, socket, requests } = await victim(t)
  const marks = mkdtempSync(join(tmpdir(), 'patchbay-marks-'))
  t.teardown(() => rmSync(marks, { recursive: true, force: true }))
  const tries = {
    fetch: `return (await fetch('http://127.0.0.1:' + args.port)).status`,
    'fetch by name': `return (await fetch('http://localhost:' + args.port)).status`,
    websocket: `return await new Promise((ok, no) => { const s = new WebSocket('ws://127.0.0.1:' + args.port); s.onopen = () => ok(1); s.onerror = (e) => no(e.error ?? new Error('refused')) })`,
    connect: `return (await Deno.connect({ hostname: '127.0.0.1', port: args.port })).rid`,
    udp: `const s = Deno.listenDatagram({ transport: 'udp', port: 0, hostname: '0.0.0.0' }); return await s.send(new Uint8Array(1), { transport: 'udp', hostname: '127.0.0.1', port: args.port })`,
    'node:net': `const net = await import('node:net'); return await new Promise((ok, no) => net.connect(args.port, '127.0.0.1').on('connect', () => ok(1)).on('error', no))`,
    'node:http': `const http = await import('node:http'); return await new Promise((ok, no) => http.get('http://127.0.0.1:' + args.port, () => ok(1)).on('error', no))`,
    dns: `return await Deno.resolveDns('example.com', 'A')`,
    'own lookup': `const net = await import('node:net'); return await new Promise((ok, no) => net.connect({ port: args.port, host: 'granted.example', lookup: (h, o, cb) => cb(null, [{ address: '127.0.0.1', family: 4 }]) }).on('connect', () => ok(1)).on('error', no))`,
    'raw binding': `return await new Promise((ok, no) => { const { TCP, TCPConnectWrap } = process.binding('tcp_wrap'); const r = new TCPConnectWrap(); r.oncomplete = (s) => s === 0 ? ok(1) : no(new Error('refused ' + s)); const code = new TCP(0).connect(r, '127.0.0.1', args.port); if (code) no(new Error('refused ' + code)) })`,
    'read a file': `return (await Deno.readTextFile('/etc/passwd')).length`,
    'node:fs': `return (await import('node:fs')).readFileSync('/etc/passwd').length`,
    environ: `return (await Deno.readTextFile('/proc/self/environ')).length`,
    'import a file': `return (await import('/etc/hostname')).default`,
    'import by text': `const name = 'file:///' + 'etc/hostname'; return (await import(name)).default`,
    'remote import': `return (await import('http://127.0.0.1:' + args.port + '/x.js')).default`,
    'npm import': `return (await import('npm:left-pad')).default`,
    write: `return await Deno.writeTextFile(args.marks + '/write', 'x')`,
    'write its own folder': `return await Deno.writeTextFile(new URL('./extra.ts', import.meta.url), 'x')`,
    env: `if (Object.keys(Deno.env.toObject()).length === 0) throw new Error('none'); return Deno.env.toObject()`,
    'the real environment': `const { env } = await import('node:process'); if (env.PATH === undefined && env.SECRET_KEY === undefined) throw new Error('none'); return env.PATH`,
    'granted by nobody': `return host.env.get('SECRET_KEY')`,
    'node env': `return process.env.SECRET_KEY ?? (() => { throw new Error('not there') })()`,
    run: `return (await new Deno.Command('/bin/touch', { args: [args.marks + '/run'] }).output()).code`,
    child_process: `return (await import('node:child_process')).spawnSync('/bin/touch', [args.marks + '/spawn']).status ?? (() => { throw new Error('refused') })()`,
    worker: `const w = new Worker(URL.createObjectURL(new Blob(['fetch("http://127.0.0.1:' + args.port + '")'])), { type: 'module', deno: { permissions: { net: true } } }); return await new Promise((ok, no) => { w.onerror = (e) => no(new Error(e.message)); setTimeout(() => no(new Error('nothing came of it')), 1000) })`,
    'prototype of Worker': `const { Worker } = await import('node:worker_threads'); const Raw = Worker.prototype.constructor; const w = new Raw('require("node:http").get("http://127.0.0.1:' + args.port + '")', { eval: true }); return await new Promise((ok, no) => { w.on('error', no); w.on('exit', (code) => no(new Error('ended ' + code))); setTimeout(() => no(new Error('nothing came of it')), 1000) })`,
    'raw process object': `const { ChildProcess } = await import('node:child_process'); const code = new ChildProcess()._handle.spawn({ file: '/bin/touch', args: ['/bin/touch', args.marks + '/raw'] }); if (code !== 0) throw new Error('refused ' + code); return code`,
    'a binding read twice': `let reads = 0; const name = { toString: () => (reads++ === 0 ? 'util' : 'tcp_wrap') }; const { TCP, TCPConnectWrap } = process.binding(name); return await new Promise((ok, no) => { const r = new TCPConnectWrap(); r.oncomplete = (s) => s === 0 ? ok(1) : no(new Error('refused ' + s)); const code = new TCP(0).connect(r, '127.0.0.1', args.port); if (code) no(new Error('refused ' + code)) })`,
    'node:dgram': `const { createSocket } = await import('node:dgram'); const s = createSocket('udp4'); return await new Promise((ok, no) => { setTimeout(() => no(new Error('nothing came of it')), 1000); s.on('error', no); s.send(Buffer.from('x'), undefined, '1', args.port, '127.0.0.1', (error) => error ? no(error) : ok(1)) })`,
    'module hooks': `const { registerHooks } = await import('node:module'); registerHooks({ load: (url, c, next) => next(url, c) }); return (await import('/etc/hostname')).default`,
    "the core's own powers": `return Object.keys(await import(args.root + '/runtime/plugin/scope.ts'))`,
    'the plugin beside it': `return Object.keys(await import(args.root + '/plugins/s3/mod.ts'))`,
    'packages with sockets of their own': `return Object.keys(await import(args.root + '/node_modules/@livekit/rtc-node/dist/index.js'))`,
    'native code by Node': `const { Module } = await import('node:module'); Module._extensions['.node'](new Module('libc'), '/lib/x86_64-linux-gnu/libc.so.6'); return 1`,
    'memory of the process': `return (await Deno.open('/proc/self/mem')).rid`,
    'an address behind another': `return (await fetch('http://[64:ff9b::7f00:1]:' + args.port)).status`,
    'a listening port': `return Deno.listen({ hostname: '127.0.0.1', port: 0 }).addr.port`,
    ffi: `const [open] = Object.keys(Deno).filter((name) => /^dl/.test(name)); return Deno[open]('libc.so.6', {}).symbols`,
    sqlite: `return new (await import('node:sqlite')).DatabaseSync('/tmp/patchbay-hostile.db').open()`,
    kill: `return Deno.kill(Deno.ppid ?? 1, 'SIGTERM')`,
    'system information': `return Deno.hostname()`,
    "the role's environment": `return (await Deno.readTextFile('/proc/' + Deno.ppid + '/environ')).length`,
    "the role's memory": `return (await Deno.open('/proc/' + Deno.ppid + '/mem')).close()`,
    'IPv4 in IPv6': `return (await fetch('http://[::ffff:127.0.0.1]:' + args.port)).status`,
    'every address': `return (await fetch('http://0.0.0.0:' + args.port)).status`,
    'IPv4 in IPv6, by own lookup': `const net = await import('node:net'); return await new Promise((ok, no) => net.connect({ port: args.port, host: 'granted.example', lookup: (h, o, cb) => cb(null, [{ address: '::ffff:127.0.0.1', family: 6 }]) }).on('connect', () => ok(1)).on('error', no))`,
    'a lookup that answers twice': `const net = await import('node:net'); return await new Promise((ok, no) => net.connect({ port: args.port, host: 'granted.example', lookup: (h, o, cb) => { cb(null, [{ address: '93.184.216.34', family: 4 }]); cb(null, [{ address: '127.0.0.1', family: 4 }]) } }).on('connect', () => ok(1)).on('error', no))`,
    'a proxy': `const client = Deno.createHttpClient({ proxy: { url: 'http://127.0.0.1:' + args.port } }); return (await fetch('http://granted.example/', { client })).status`,
    'a Unix socket': `return (await Deno.connect({ transport: 'unix', path: args.socket })).close()`,
    'a Unix socket by Node': `const net = await import('node:net'); return await new Promise((ok, no) => net.connect(args.socket).on('connect', () => ok(1)).on('error', no))`,
    'a Unix socket by HTTP': `const http = await import('node:http'); return await new Promise((ok, no) => http.get({ socketPath: args.socket }, () => ok(1)).on('error', no))`,
    'a Unix socket as a proxy': `const client = Deno.createHttpClient({ proxy: { transport: 'unix', path: args.socket } }); return (await fetch('http://granted.example/', { client })).status`,
    'inherited descriptors': `const fs = await import('node:fs'); const open = []; for (let fd = 3; fd < 64; fd++) { try { fs.fstatSync(fd); open.push(fd) } catch {} } if (open.length === 0) throw new Error('none'); return open`,
    'a list of descriptors': `return [...Deno.readDirSync('/proc/self/fd')].length`,
    'asking for more': `const { state } = await Deno.permissions.request({ name: 'read' }); if (state !== 'granted') throw new Error(state); return state`,
    'a cache on the disk': `const cache = await caches.open('x'); await cache.put('http://a/', new Response('x')); return 1`,
    'storage on the disk': `localStorage.setItem('a', 'b'); return localStorage.length`,
    'a file of its own making': `return Deno.makeTempFileSync()`,
    'a link of its own making': `return Deno.symlinkSync('/etc/passwd', new URL('./passwd', import.meta.url))`,
    inspector: `return (await import('node:inspector')).open(0)`,
    cluster: `const { pid } = (await import('node:cluster')).default.fork().process; if (pid === undefined) throw new Error('none'); return pid`,
    'a worker with more rights': `const w = new Worker(URL.createObjectURL(new Blob(['Deno.writeTextFileSync("' + args.marks + '/write", "x")'], { type: 'text/javascript' })), { type: 'module', deno: { permissions: 'inherit' } }); return await new Promise((ok, no) => { w.onerror = (e) => { e.preventDefault(); no(new Error(e.message)) }; setTimeout(() => no(new Error('nothing came of it')), 1000) })`,
    'patched built-ins': `Array.prototype.some = () => true; Set.prototype.has = () => true; return (await fetch('http://127.0.0.1:' + args.port)).status`,
  }
  const { registry } = await foreign(t, {
    plugin: probing(tries),
    env: { SECRET_KEY: 'sk-of-another' },
    settings: { grant: { net: ['granted.example'] } },
  })
  for (const name of Object.keys(tries)) {
    const said = await attempt(registry, name, { port, socket, marks, root: ROOT })
    t.match(said, /^(refused|failed): /, `${name}: ${said.slice(0, 160)}`)
    t.notMatch(said, /sk-of-another/, name)
  }
  t.same(requests, [], 'no packet arrived')
  for (const mark of ['write', 'run', 'spawn', 'raw']) t.notOk(existsSync(join(marks, mark)), mark)
})

test('what was granted works, and its redirects stay inside of it', async (t) => {
  const { port, requests } = await victim(t)
  const { registry } = await foreign(t, {
    plugin: probing({
      granted: `return await (await fetch('http://localhost:' + args.port + '/ok')).text()`,
      redirected: `return await (await fetch('http://localhost:' + args.port + '/away')).text()`,
      variable: `return host.env.get('MY_KEY')`,
      'own file': `return JSON.parse(await Deno.readTextFile(new URL('./plugin.json', import.meta.url))).name`,
    }),
    env: { MY_KEY: 'k-1' },
    settings: { grant: { net: [`localhost:${port}`], env: ['MY_KEY'] } },
  })
  t.equal(await attempt(registry, 'granted', { port }), 'did: "hello"')
  t.match(await attempt(registry, 'redirected', { port }), /^refused: /)
  t.same(requests, ['/ok', '/away'])
  t.equal(await attempt(registry, 'variable'), 'did: "k-1"')
  t.equal(await attempt(registry, 'own file'), 'did: "probe"')
})

const name = hostname()
const isLoopback = await lookup(name, { all: true }).then(
  (addresses) => addresses.some(({ address }) => address.startsWith('127.')),
  () => false,
)
const nameless = isLoopback ? false : `"${name}" stands for no address of the loopback device here`

test('a grant to connect is none to listen', async (t) => {
  const { port } = await victim(t)
  const { registry } = await foreign(t, {
    plugin: probing({
      listen: `return Deno.listen({ hostname: 'localhost', port: args.port }).addr`,
      serve: `return Deno.serve({ hostname: 'localhost', port: args.port }, () => new Response('me')).addr`,
      'node:net': `const net = await import('node:net'); return await new Promise((ok, no) => net.createServer().on('error', no).listen(args.port, '127.0.0.1', () => ok(1)))`,
      'node:http': `const http = await import('node:http'); return await new Promise((ok, no) => http.createServer().on('error', no).listen(args.port, 'localhost', () => ok(1)))`,
    }),
    settings: { grant: { net: [`localhost:${port + 1}`, `127.0.0.1:${port + 1}`] } },
  })
  for (const name of ['listen', 'serve', 'node:net', 'node:http'])
    t.match(await attempt(registry, name, { port: port + 1 }), /^refused: Error A plugin .* can’t listen/, name)
})

test('a refusal is in our words, with who, what and the cure; it is logged once and counted', async (t) => {
  const { port } = await victim(t)
  const { registry, logged } = await foreign(t, {
    plugin: {
      mod: `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({ llm: () => ({ async *chat() { await fetch('http://other.example:${port}/') } }) })
`,
    },
    settings: { grant: { net: ['granted.example'] } },
  })
  const words = `Plugin "probe" requires net access to "other.example:${port}"; grant it in config/plugins.json or with --allow-net=probe:other.example:${port}`
  const count = async (): Promise<number> => {
    const { values } = await refusals.get()
    return values.find(({ labels }) => labels.plugin === 'probe' && labels.permission === 'net')?.value ?? 0
  }
  const before = await count()
  for (let n = 0; n < 2; n++) t.equal(await attempt(registry, 'anything'), `failed: ${words}`)
  t.equal(logged.filter((line) => line === words).length, 1)
  t.equal((await count()) - before, 2)
})

test('libraries read the variables that were granted in process.env, and others are not there', async (t) => {
  const { registry, logged } = await foreign(t, {
    plugin: probing({
      env: `return [process.env.MY_KEY, process.env.SECRET_KEY ?? 'none', Deno.env.get('MY_KEY'), Deno.env.get('SECRET_KEY') ?? 'none', Object.keys(process.env)]`,
    }),
    env: { MY_KEY: 'k-1', SECRET_KEY: 's-1' },
    settings: { grant: { env: ['MY_KEY'] } },
  })
  t.equal(await attempt(registry, 'env'), 'did: ["k-1","none","k-1","none",["MY_KEY"]]')
  t.same(logged, [], 'nothing is refused or warned of')
})

test('another granted name that stands for this machine reaches none but the granted ports', {
  skip: nameless,
}, async (t) => {
  const { port, requests } = await victim(t)
  const { registry } = await foreign(t, {
    plugin: probing({ rebound: `return (await fetch('http://' + args.name + ':' + args.port)).status` }),
    settings: { grant: { net: [name, `localhost:${port + 1}`] } },
  })
  t.match(await attempt(registry, 'rebound', { name, port }), /^refused: /)
  t.same(requests, [])
})

test('a granted name that stands for this machine leads nowhere', { skip: nameless }, async (t) => {
  const { port, requests } = await victim(t)
  const { registry } = await foreign(t, {
    plugin: probing({ rebound: `return (await fetch('http://' + args.name + ':' + args.port)).status` }),
    settings: { grant: { net: [`${name}:${port}`] } },
  })
  t.match(await attempt(registry, 'rebound', { name, port }), /^refused: /)
  t.same(requests, [])
})

test('a link in its folder leads nowhere: it is not run', async (t) => {
  const { registry } = await foreign(t, {
    plugin: { ...probing({}), links: { 'passwd.txt': '/etc/passwd' } },
  })
  await t.rejects(registry.create('llm', 'probe'), { message: /its folder holds a link, "passwd\.txt"/ })
})

/** Text of a plugin that gets hold of the pipe to its role. */
const BACK = `const { Socket } = await import('node:net'); const back = await new Promise((found) => { const { write } = Socket.prototype; Socket.prototype.write = function (...args) { found(this); return write.apply(this, args) }; console.debug('') });`

/** Text of a plugin that writes frames of its own: a JSON message, and anything. */
const RAW = `${BACK} const message = (value) => { const body = new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value)); const frame = new Uint8Array(body.length + 5); new DataView(frame.buffer).setUint32(0, body.length + 1, true); frame.set(body, 5); return frame }
const write = (bytes) => back.write(bytes)
const times = (frame, count) => { const all = new Uint8Array(frame.length * count); for (let n = 0; n < count; n++) all.set(frame, n * frame.length); return all };`

test('what a plugin says of other sessions, or of none, moves nobody', async (t) => {
  const forge = `for (let session = 0; session < 50; session++) {
    if (session === args.own) continue
    write(message({ type: 'event', session, event: { type: 'text', text: 'forged' } }))
    write(message({ type: 'failed', session: session + 1_000, message: 'forged', failure: { fault: 'authentication' } }))
    write(message({ type: 'done', session: -session }))
    write(message({ type: 'done', session: '__proto__' }))
  } return 'forged'`
  const pollute = `write(message('{"type":"event","session":' + args.own + ',"__proto__":{"polluted":1},"event":{"type":"text","text":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}')); write(message('{"type":"log","level":"constructor","message":"x","__proto__":{"polluted":1}}')); write(message('{"type":"failed","session":77,"message":"x","failure":{"fault":"__proto__","status":"x"}}')); return 'polluted'`
  const probe = await foreign(t, {
    plugin: probing({ forge: RAW + forge, pollute: RAW + pollute, well: `return 'well'` }),
  })
  const beside = await foreign(t, {
    plugin: probing({ slow: `await new Promise((r) => setTimeout(r, 1500)); return 'mine'` }),
  })
  const waiting = attempt(beside.registry, 'slow')
  t.match(await attempt(probe.registry, 'forge', { own: 1 }), /did: "forged"$/)
  t.equal(await waiting, 'did: "mine"', 'another plugin has a pipe of its own')
  t.match(await attempt(probe.registry, 'pollute', { own: 2 }), /did: "polluted"$/)
  t.equal(({} as { polluted?: number }).polluted, undefined)
  t.equal(await attempt(probe.registry, 'well'), 'did: "well"')
})

test('a process that loops, takes all memory, floods or dies is ended, told of, and started again', async (t) => {
  const plugin = probing({
    loop: `for (;;) {}`,
    leak: `const kept = []; for (;;) { kept.push(new Uint8Array(64 << 20).fill(1)); await new Promise((r) => setTimeout(r, 10)) }`,
    flood: `for (;;) await Deno.stdout.write(new Uint8Array(1 << 20))`,
    rubbish: `${BACK} back.write(new Uint8Array([9, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8])); await new Promise(() => {})`,
    messages: `${RAW} const many = times(message({ type: 'log', level: 'debug', message: '' }), 1_000); for (;;) { write(many); await new Promise((r) => setTimeout(r, 5)) }`,
    'a long message': `${RAW} write(message({ type: 'log', level: 'info', message: 'x'.repeat(100_000) })); await new Promise(() => {})`,
    'error output': `for (;;) { Deno.stderr.writeSync(new Uint8Array(1 << 20)); await new Promise((r) => setTimeout(r, 1)) }`,
    'no object': `${RAW} write(message('null')); await new Promise(() => {})`,
    exit: `Deno.exit(7)`,
    well: `return 'well'`,
  })
  const reasons = {
    loop: /did not answer for \d+ ms/,
    leak: /MiB of memory/,
    flood: /flooded its pipe|no message/,
    rubbish: /no message/,
    messages: /flooded its pipe with messages/,
    'a long message': /no message \(A frame of/,
    'error output': /flooded its pipe/,
    'no object': /no message/,
    exit: /ended with code 7/,
  }
  for (const [name, reason] of Object.entries(reasons)) {
    const { registry, logged } = await foreign(t, { plugin })
    const said = await attempt(registry, name)
    t.match(said, /^failed: The process of plugin "probe" ended/, name)
    t.match(said, reason, name)
    let next = await attempt(registry, 'well')
    for (const untilMs = performance.now() + PATIENCE_MS; performance.now() < untilMs && /^failed: /.test(next); ) {
      t.match(next, /it is started again in \d+ s at the earliest/, 'others take over meanwhile')
      await sleep(1_000)
      next = await attempt(registry, 'well')
    }
    t.equal(next, 'did: "well"', `it goes on after ${name}`)
    t.equal(logged.filter((line) => line.startsWith('The process of plugin')).length, 1, 'the operator is told')
  }
})

test('ill-formed text of a plugin, as what failed, what it logs and why it is broken, is clean and short', async (t) => {
  const throwing = (text: string) => `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({ llm: (host) => ({ async *chat() {
  host.log.warn(${JSON.stringify(text)})
  throw new Error(${JSON.stringify(text)})
} }) })
`
  for (const [kind, { text, clean }] of Object.entries(ILL_FORMED)) {
    const { registry, logged } = await foreign(t, { plugin: { mod: throwing(text) } })
    t.match(await attempt(registry, kind), `failed: ${clean}`, kind)
    t.ok(logged.includes(clean), `${kind}, logged`)
    const broken = await foreign(t, { plugin: { mod: `throw new Error(${JSON.stringify(text)})` } })
    const error = await broken.registry.create('llm', 'probe').catch((error: Error) => error)
    t.ok(error instanceof Error && error.message.includes(clean), `${kind}, broken`)
  }
  const long = await foreign(t, { plugin: { mod: throwing('\ud83d\ude00'.repeat(30_000)) } })
  const failed = await attempt(long.registry, 'long')
  t.ok(failed.isWellFormed() && failed.length < 3_000, `${failed.length} characters`)
})

test('a use in the middle of which the process dies fails alone', async (t) => {
  const { registry } = await foreign(t, {
    plugin: probing({ wait: `await new Promise(() => {})`, exit: `Deno.exit(1)` }),
  })
  const waiting = attempt(registry, 'wait')
  const exiting = attempt(registry, 'exit')
  t.match(await exiting, /^failed: /)
  t.match(await waiting, /^failed: The process of plugin "probe" ended/)
})

test('what can’t be run says why', async (t) => {
  const { registry } = await foreign(t, { plugin: { mod: 'export default 1' } })
  await t.rejects(registry.create('llm', 'probe'), { message: /its default export is not definePlugin/ })
})
