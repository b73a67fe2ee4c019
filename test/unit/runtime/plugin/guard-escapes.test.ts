import dgram from 'node:dgram'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { guarded, ROOT } from './guarded.ts'

/**
 * Ways by which code without any grant got out of the process. Each is tried against a server of this machine, which
 * says what arrived.
 */

/** A TCP and a UDP port of this machine that note whatever reaches them. */
async function victim(t: Test): Promise<{ port: number; udp: number; arrived: string[] }> {
  const arrived: string[] = []
  const server = net.createServer((socket) => {
    arrived.push('tcp')
    socket.on('error', () => undefined).destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = dgram.createSocket('udp4').on('message', () => arrived.push('udp'))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    socket.close()
  })
  return { port: (server.address() as AddressInfo).port, udp: socket.address().port, arrived }
}

test('no way around a worker thread’s constructor leads to an unguarded thread', async (t) => {
  const { outcomes } = await guarded(t, {
    prototype: `return new (Object.getPrototypeOf(Worker))('1', { eval: true }).threadId`,
    'constructor of the prototype': `new Worker.prototype.constructor('1', { eval: true }); return 'made'`,
    subclass: `new (class extends Worker {})('1', { eval: true }); return 'made'`,
    'Reflect.construct': `Reflect.construct(Worker, ['1', { eval: true }], Object); return 'made'`,
    hooks: `(await import('node:module')).registerHooks({ load: (url, context, next) => next(url, context) }); return 'made'`,
  })
  for (const [way, outcome] of Object.entries(outcomes)) t.equal(outcome.value, undefined, way)
})

test('no way around the spawn of child processes starts a program', async (t) => {
  const started = t.testdir({})
  const touch = (name: string): string => `['touch', ${JSON.stringify(join(started, name))}]`
  const { outcomes } = await guarded(t, {
    'raw process object': `const { _handle } = new child_process.ChildProcess()
      return _handle.spawn({ file: '/usr/bin/touch', args: ${touch('raw')}, stdio: [] })`,
    'its class': `const { constructor } = new child_process.ChildProcess()._handle
      return new constructor().spawn({ file: '/usr/bin/touch', args: ${touch('class')}, stdio: [] })`,
    'a file that is read twice': `let reads = 0
      return new child_process.ChildProcess()._handle.spawn({ get file() { return reads++ === 0 ? '/bin/true' : '/usr/bin/touch' }, args: ${touch('twice')}, stdio: [] })`,
    'native code': `const { Module } = await import('node:module')
      Module._extensions['.node'](new Module('libc'), '/lib/x86_64-linux-gnu/libc.so.6'); return 'loaded'`,
    'another program in place of this one': `const [replace] = Object.keys(process).filter((name) => /^exec[a-z]+$/.test(name))
      if (replace === undefined) throw new Error('requires run access to a newer Node')
      process[replace]('/usr/bin/touch', ${touch('replaced')})`,
    'extension of SQLite': `const { DatabaseSync } = await import('node:sqlite')
      new DatabaseSync(':memory:', { allowExtension: true }).loadExtension('/tmp/x.so'); return 'loaded'`,
  })
  for (const [way, { value, error }] of Object.entries(outcomes)) {
    t.equal(value, undefined, way)
    t.match(error, /requires run access to/, way)
  }
  const { readdirSync } = await import('node:fs')
  t.same(readdirSync(started), [], 'nothing ran')
})

test('an argument that answers otherwise when it is read again opens no raw binding', async (t) => {
  const { outcomes } = await guarded(t, {
    binding: `let reads = 0; return typeof process.binding({ toString: () => reads++ === 0 ? 'constants' : 'tcp_wrap' }).TCP`,
    tcp_wrap: `return typeof process.binding('tcp_wrap')`,
  })
  t.not(outcomes.binding?.value, 'function')
  t.match(outcomes.tcp_wrap?.error, /requires run access to "process.binding\(tcp_wrap\)"/)
})

test('no form of a datagram and no raw socket reaches an address that was not granted', async (t) => {
  const { port, udp, arrived } = await victim(t)
  const { outcomes } = await guarded(
    t,
    {
      'numbers as text': `const s = dgram.createSocket('udp4'); s.on('error', () => {})
        s.send(Buffer.from('x'), undefined, '1', args.udp, '127.0.0.1'); await new Promise((r) => setTimeout(r, 100)); s.close()`,
      'lookup of its own': `const s = dgram.createSocket({ type: 'udp4', lookup: (h, o, cb) => cb(null, '127.0.0.1', 4) }); s.on('error', () => {})
        s.send('x', args.udp, '192.0.2.1'); await new Promise((r) => setTimeout(r, 100)); s.close()`,
      'handle of a listening socket': `const server = net.createServer(); await new Promise((r) => server.listen(0, r))
        const { constructor: Raw } = server._handle
        let Request
        const connect = Raw.prototype.connect
        Raw.prototype.connect = function (request, ...rest) { Request = request.constructor; return connect.call(this, request, ...rest) }
        await new Promise((r) => net.connect(1, '127.0.0.1').on('error', r))
        server.close()
        if (Request === undefined) return 'no request'
        return new Raw(0).connect(new Request(), '127.0.0.1', args.port)`,
      'lookup for a granted name': `return opened(net.connect({ host: 'api.example.com', port: args.port, lookup: (h, o, cb) => o.all ? cb(null, [{ address: '127.0.0.1', family: 4 }]) : cb(null, '127.0.0.1', 4) }))`,
      'replaced lookup': `const { default: d } = await import('node:dns'); d.lookup = (h, o, cb) => o.all ? cb(null, [{ address: '127.0.0.1', family: 4 }]) : cb(null, '127.0.0.1', 4)
        return opened(net.connect({ host: 'api.example.com', port: args.port }))`,
      http2: `const { connect } = await import('node:http2'); return opened(connect('http://127.0.0.1:' + args.port), 'close')`,
    },
    {
      args: { port, udp },
      flags: { allowNet: [`probe:api.example.com:${port}`] },
      hosts: { 'api.example.com': '203.0.113.9' },
      patienceMs: 2_000,
    },
  )
  t.same(arrived, [], 'nothing arrived')
  t.match(outcomes['handle of a listening socket']?.value ?? 'no request', /^(-13|no request)$/)
})

test('the address a granted name stands for is the system’s to say', async (t) => {
  const server = http.createServer((_, response) => response.end('inner'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const { outcomes } = await guarded(
    t,
    {
      own: `return opened(http.get({ host: 'api.example.com', port: args.port, lookup: (h, o, cb) => o.all ? cb(null, [{ address: '192.0.2.1', family: 4 }]) : cb(null, '192.0.2.1', 4) }), 'response')`,
    },
    {
      args: { port },
      flags: { allowNet: [`probe:api.example.com:${port}`, `probe:127.0.0.1:${port}`] },
      hosts: { 'api.example.com': '127.0.0.1' },
    },
  )
  t.same(outcomes.own, { value: 'open' }, 'the lookup that was brought is not asked')
})

test('the core’s own powers can’t be imported', async (t) => {
  const { outcomes } = await guarded(
    t,
    {
      'scope of plugins': `return Object.keys(await import(args.root + '/runtime/plugin/plugin-scope.ts'))`,
      scope: `return Object.keys(await import(args.root + '/runtime/process/own-act.ts'))`,
      guard: `return Object.keys(await import(args.root + '/runtime/plugin/guard/guard.ts'))`,
      handles: `return Object.keys(await import(args.root + '/runtime/plugin/make-host.ts'))`,
      supervisor: `return Object.keys(await import(args.root + '/runtime/process/supervisor.ts'))`,
      spawner: `return Object.keys(await import(args.root + '/runtime/process/offload/spawner.ts'))`,
      'processes of its own': `return Object.keys(await import(args.root + '/runtime/process/offload/offload.ts'))`,
      threads: `return Object.keys(await import(args.root + '/runtime/process/offload/thread.ts'))`,
      scheduling: `return Object.keys(await import(args.root + '/runtime/process/realtime.ts'))`,
      'installation of packages': `return Object.keys(await import(args.root + '/runtime/process/npm-install.ts'))`,
      store: `return Object.keys(await import(args.root + '/store/uploads/bulk-copy.ts'))`,
      require: `const { createRequire } = await import('node:module'); return Object.keys(createRequire(import.meta.url)(args.root + '/runtime/process/own-act.ts'))`,
      'another plugin': `return Object.keys(await import(args.root + '/plugins/s3/mod.ts'))`,
      'code from nowhere': `return Object.keys(await import('data:text/javascript,export * from ' + JSON.stringify('file://' + args.root + '/runtime/process/own-act.ts')))`,
    },
    { args: { root: ROOT } },
  )
  for (const [way, { value, error }] of Object.entries(outcomes)) {
    t.equal(value, undefined, way)
    t.match(error, /requires run access to "import /, way)
  }
})

test('no window into the process shows what belongs to another', async (t) => {
  const { outcomes } = await guarded(t, {
    inspector: `const { Session } = await import('node:inspector'); new Session().connect(); return 'open'`,
    'inspector with promises': `const { Session } = await import('node:inspector/promises'); new Session().connect(); return 'open'`,
    'heap snapshot': `const { getHeapSnapshot } = await import('node:v8'); getHeapSnapshot(); return 'open'`,
    'requests of others': `const dc = await import('node:diagnostics_channel'); dc.subscribe('undici:request:create', () => {}); return 'open'`,
    'requests of others by channel': `const dc = await import('node:diagnostics_channel'); dc.channel('undici:request:create').subscribe(() => {}); return 'open'`,
  })
  for (const [way, { value, error }] of Object.entries(outcomes)) {
    t.equal(value, undefined, way)
    t.match(error, /requires run access to/, way)
  }
})

test('a dependency that brings sockets of its own opens none', async (t) => {
  const { port, arrived } = await victim(t)
  const rtc = join(ROOT, 'node_modules/@livekit/rtc-node/dist/index.js')
  const { outcomes } = await guarded(
    t,
    {
      room: `const { Room } = await import(${JSON.stringify(rtc)}); await new Room().connect('ws://127.0.0.1:' + args.port, 'token', {}); return 'open'`,
    },
    { args: { port } },
  )
  t.match(outcomes.room?.error, /requires net access to "livekit request 3"/)
  t.same(arrived, [], 'nothing arrived')
})

test('a granted program’s environment is not the caller’s to choose', async (t) => {
  const { outcomes } = await guarded(
    t,
    {
      ALSA_CONFIG_PATH: `return namedSpawnSync('true', { env: { ALSA_CONFIG_PATH: '/tmp/evil' } }).status`,
      'spawn with it': `const c = namedSpawn('true', { env: { ALSA_CONFIG_PATH: '/tmp/evil' } }); return (await once(c, 'exit'))[0]`,
      'a getter': `let reads = 0; return namedSpawnSync('true', { env: { get LANG() { return 'C' }, get LD_PRELOAD() { return reads++ === 0 ? undefined : '/tmp/x.so' } } }).status`,
      plain: `return namedSpawnSync('true', { env: { LANG: 'C', PATH: '/nowhere' } }).status`,
    },
    { flags: { allowRun: ['probe:true'] } },
  )
  t.match(outcomes.ALSA_CONFIG_PATH?.error, /with its own ALSA_CONFIG_PATH/)
  t.match(outcomes['spawn with it']?.error, /with its own ALSA_CONFIG_PATH/)
  t.same(outcomes.plain, { value: 0 })
  t.not(outcomes['a getter']?.error, 'ran with it')
})
