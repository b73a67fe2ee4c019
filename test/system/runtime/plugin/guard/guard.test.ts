import dgram from 'node:dgram'
import { chmodSync } from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { WebSocketServer } from 'ws'
import { guarded, PATH, ROOT } from '../../../../unit/runtime/plugin/guarded.ts'

const netCure = (target: string): string =>
  `Plugin "probe" requires net access to "${target}"; grant it in config/plugins.json or with --allow-net=probe:${target}`
const runCure = (target: string): string =>
  `Plugin "probe" requires run access to "${target}"; grant it in config/plugins.json or with --allow-run=probe:${target}`

async function listening(t: Test, server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  return (server.address() as AddressInfo).port
}

test('an ungranted host is refused with the cure by every way to reach it', async (t) => {
  const { outcomes, refusals, logged } = await guarded(t, {
    'host.net.fetch': `return host.net.fetch('http://evil.example:8000/')`,
    'host.net.connect': `return host.net.connect({ host: 'evil.example', port: 8000 })`,
    fetch: `return fetch('http://evil.example:8000/')`,
    'http.get': `return opened(http.get('http://evil.example:8000/'), 'response')`,
    'net.connect': `return opened(net.connect(8000, 'evil.example'))`,
    'net.connect options': `return opened(net.connect({ host: 'evil.example', port: '8000' }))`,
    'socket.connect': `return opened(new net.Socket().connect({ port: 8000, host: 'evil.example' }))`,
    'tls.connect': `return opened(tls.connect({ host: 'evil.example', port: 8000 }), 'secureConnect')`,
    ws: `return opened(new WebSocket('ws://evil.example:8000/'), 'open')`,
    'dgram.send': `const s = dgram.createSocket('udp4'); try { return await promisify(s.send.bind(s))('x', 8000, 'evil.example') } finally { s.close() }`,
    'dgram.send long': `const s = dgram.createSocket('udp4'); try { return await promisify(s.send.bind(s))('xy', 0, 2, 8000, 'evil.example') } finally { s.close() }`,
    'dgram.connect': `const s = dgram.createSocket('udp4'); try { return await promisify(s.connect.bind(s))(8000, 'evil.example') } finally { s.close() }`,
  })
  for (const [probe, outcome] of Object.entries(outcomes)) t.equal(outcome.error, netCure('evil.example:8000'), probe)
  t.match(outcomes.fetch, { code: 'permission_denied' })
  t.equal(refusals['probe net'], Object.keys(outcomes).length - 2, 'each refusal of the guard is counted')
  t.same(logged, [netCure('evil.example:8000')], 'and logged once')
})

test('an ungranted address is refused though nothing is resolved', async (t) => {
  const port = await listening(t, net.createServer())
  const { outcomes } = await guarded(
    t,
    {
      v4: `return opened(net.connect(args.port, '127.0.0.1'))`,
      v6: `return opened(net.connect(args.port, '::1'))`,
      mapped: `return opened(net.connect(args.port, '::ffff:127.0.0.1'))`,
      'no host': `return opened(net.connect(args.port))`,
      unix: `return opened(net.connect('/run/redis.sock'))`,
    },
    { args: { port } },
  )
  t.equal(outcomes.v4?.error, netCure(`127.0.0.1:${port}`))
  t.equal(outcomes.v6?.error, netCure(`[::1]:${port}`))
  t.equal(outcomes.mapped?.error, netCure(`[::ffff:127.0.0.1]:${port}`))
  t.equal(outcomes['no host']?.error, netCure(`localhost:${port}`))
  t.equal(outcomes.unix?.error, netCure('unix:/run/redis.sock'))
})

test('names that are not granted are not asked of any DNS server', async (t) => {
  const { outcomes } = await guarded(t, {
    lookup: `return promisify(dns.lookup)('evil.example')`,
    'named import': `return promisify(namedLookup)('evil.example')`,
    'promises.lookup': `return dnsPromises.lookup('evil.example')`,
    resolve4: `return promisify(dns.resolve4)('evil.example')`,
    resolveTxt: `return dnsPromises.resolveTxt('evil.example')`,
    Resolver: `return promisify((name, cb) => new dns.Resolver().resolveSrv(name, cb))('evil.example')`,
    'promises.Resolver': `return new dnsPromises.Resolver().resolveMx('evil.example')`,
    'after setServers': `dns.setServers(dns.getServers()); return promisify(dns.resolve4)('evil.example')`,
  })
  const { 'after setServers': servers, ...lookups } = outcomes
  for (const [probe, outcome] of Object.entries(lookups)) t.equal(outcome.error, netCure('evil.example'), probe)
  t.match(servers?.error, /requires net access to/)
})

test('what is granted works by every way', async (t) => {
  const server = http.createServer((_, response) => response.end('hello'))
  const sockets = new WebSocketServer({ server })
  t.teardown(() => sockets.close())
  const port = await listening(t, server)
  const udp = dgram.createSocket('udp4')
  udp.on('message', (message, from) => udp.send(message, from.port, from.address))
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
  t.teardown(() => udp.close())
  const echo = `const s = dgram.createSocket('udp4'); s.on('error', () => {}); try { const back = once(s, 'message'); await promisify(s.send.bind(s))('ping', args.udp, args.to ?? 'localhost'); return String((await back)[0]) } finally { s.close() }`
  const { outcomes, refusals } = await guarded(
    t,
    {
      'host.net.fetch': `return (await host.net.fetch('http://localhost:' + args.port)).text()`,
      'host.net.connect': `const s = await host.net.connect({ host: '127.0.0.1', port: args.port }); s.destroy(); return 'open'`,
      fetch: `return (await fetch('http://localhost:' + args.port)).text()`,
      'net by name': `return opened(net.connect(args.port, 'localhost'))`,
      'net by address': `return opened(net.connect(args.port, '127.0.0.1'))`,
      ws: `return opened(new WebSocket('ws://localhost:' + args.port), 'open')`,
      dgram: echo,
      lookup: `return (await dnsPromises.lookup('localhost', { family: 4 })).address`,
      spawn: `const c = namedSpawn('true'); return (await once(c, 'exit'))[0]`,
      spawnSync: `return namedSpawnSync('true').status`,
      'host.run.spawn': `const c = host.run.spawn('true', []); return (await once(c, 'exit'))[0]`,
      'host.env': `return host.env.get('PROBE_KEY')`,
      'process.env': `return process.env.PROBE_KEY ?? 'hidden'`,
      'another port': `return opened(net.connect(args.port + 1, 'localhost'))`,
    },
    {
      args: { port, udp: udp.address().port },
      env: { PATH, PROBE_KEY: 'k-1' },
      flags: {
        allowNet: [`probe:localhost:${port}`, `probe:127.0.0.1:${port}`, `probe:localhost:${udp.address().port}`],
        allowRun: ['probe:true'],
        allowEnv: ['probe:PROBE_KEY'],
      },
    },
  )
  const { 'another port': other, ...rest } = outcomes
  t.equal(other?.error, netCure(`localhost:${port + 1}`))
  t.same(rest, {
    'host.net.fetch': { value: 'hello' },
    'host.net.connect': { value: 'open' },
    fetch: { value: 'hello' },
    'net by name': { value: 'open' },
    'net by address': { value: 'open' },
    ws: { value: 'open' },
    dgram: { value: 'ping' },
    lookup: { value: '127.0.0.1' },
    spawn: { value: 0 },
    spawnSync: { value: 0 },
    'host.run.spawn': { value: 0 },
    'host.env': { value: 'k-1' },
    'process.env': { value: 'hidden' },
  })
  t.same(refusals, { 'probe net': 1 })
})

test('a granted name that resolves to this machine is refused by its address', async (t) => {
  const port = await listening(
    t,
    http.createServer((_, response) => response.end('inner')),
  )
  const probes = {
    net: `return opened(net.connect({ host: 'api.example.com', port: args.port }))`,
    http: `return opened(http.get({ host: 'api.example.com', port: args.port }), 'response')`,
  }
  const allowNet = [`probe:api.example.com:${port}`]
  const hosts = { 'api.example.com': '127.0.0.1' }
  const denied = await guarded(t, probes, { args: { port }, flags: { allowNet }, hosts })
  const message = `Plugin "probe" requires net access to "127.0.0.1:${port}" (the address of "api.example.com"); grant it in config/plugins.json or with --allow-net=probe:127.0.0.1:${port}`
  t.same(
    Object.values(denied.outcomes).map(({ error }) => error),
    [message, message],
  )
  const granted = await guarded(t, probes, {
    args: { port },
    flags: { allowNet: [...allowNet, `probe:127.0.0.0/8:${port}`] },
    hosts,
  })
  t.same(
    Object.values(granted.outcomes).map(({ value }) => value),
    ['open', 'open'],
  )
})

test('an ungranted program is refused with the cure by every way to start it', async (t) => {
  const dir = t.testdir({ true: '#!/bin/sh\nexit 7\n' })
  chmodSync(join(dir, 'true'), 0o755)
  const { outcomes, refusals } = await guarded(
    t,
    {
      'host.run.spawn': `return host.run.spawn('id', [])`,
      spawn: `return child_process.spawn('id')`,
      'named spawn': `return namedSpawn('id')`,
      execFile: `return promisify(child_process.execFile)('id')`,
      spawnSync: `return child_process.spawnSync('id')`,
      'named spawnSync': `return namedSpawnSync('id', ['-u'])`,
      execFileSync: `return child_process.execFileSync('id')`,
      exec: `return promisify(child_process.exec)('true')`,
      execSync: `return child_process.execSync('true')`,
      'spawn in a shell': `return child_process.spawnSync('true', { shell: true })`,
      fork: `return child_process.fork('/tmp/x.js')`,
      'module hooks': `return (await import('node:module')).register('data:text/javascript,1')`,
      Worker: `return new Worker('1', { eval: true })`,
      'own PATH': `return namedSpawnSync('true', { env: { PATH: args.dir } }).status`,
      LD_PRELOAD: `return namedSpawnSync('true', { env: { LD_PRELOAD: '/tmp/x.so' } })`,
      'raw binding': `return typeof process.binding('tcp_wrap')`,
    },
    { flags: { allowRun: ['probe:true'] }, args: { dir } },
  )
  const byId = ['host.run.spawn', 'spawn', 'named spawn', 'execFile', 'spawnSync', 'named spawnSync', 'execFileSync']
  for (const probe of byId) t.equal(outcomes[probe]?.error, runCure('id'), probe)
  for (const probe of ['exec', 'execSync', 'spawn in a shell']) {
    t.equal(outcomes[probe]?.error, runCure('/bin/sh'), probe)
  }
  t.equal(outcomes.fork?.error, runCure(process.execPath))
  t.equal(outcomes.Worker?.error, runCure('worker_threads'))
  t.equal(outcomes['module hooks']?.error, runCure('worker_threads'))
  t.same(outcomes['own PATH'], { value: 0 }, 'the operator’s PATH decides what a granted name means')
  t.match(outcomes.LD_PRELOAD?.error, /requires run access to "true" \(with its own LD_PRELOAD\)/)
  t.equal(outcomes['raw binding']?.error, runCure('process.binding(tcp_wrap)'))
  t.equal(refusals['probe run'], 14)
})

test('an ungranted variable or file is refused with the cure', async (t) => {
  const dir = t.testdir({
    open: { 'a.txt': 'A', out: t.fixture('symlink', '../closed/b.txt') },
    closed: { 'b.txt': 'B' },
  })
  const text = (path: string): string => `return Buffer.from(await host.read.bytes(${path})).toString()`
  const { outcomes } = await guarded(
    t,
    {
      env: `return host.env.get('DATABASE_URL')`,
      granted: text(`args.dir + '/open/a.txt'`),
      closed: text(`args.dir + '/closed/b.txt'`),
      absent: text(`args.dir + '/closed/none.txt'`),
      dots: text(`args.dir + '/open/../closed/b.txt'`),
      link: text(`args.dir + '/open/out'`),
      'own manifest': `return JSON.parse(Buffer.from(await host.read.bytes('plugin.json'))).name`,
    },
    { env: { PATH, DATABASE_URL: 'postgres://secret' }, args: { dir }, flags: { allowRead: [`probe:${dir}/open`] } },
  )
  t.equal(
    outcomes.env?.error,
    'Plugin "probe" requires env access to "DATABASE_URL"; grant it in config/plugins.json or with --allow-env=probe:DATABASE_URL',
  )
  t.equal(outcomes.granted?.value, 'A')
  t.equal(outcomes['own manifest']?.value, 'probe')
  for (const [probe, path] of [
    ['closed', `${dir}/closed/b.txt`],
    ['absent', `${dir}/closed/none.txt`],
    ['dots', `${dir}/closed/b.txt`],
    ['link', `${dir}/open/out`],
  ] as const) {
    t.equal(
      outcomes[probe]?.error,
      `Plugin "probe" requires read access to "${path}"; grant it in config/plugins.json or with --allow-read=probe:${path}`,
      probe,
    )
  }
})

test('a handle follows redirects only to granted hosts', async (t) => {
  const port = await listening(
    t,
    http.createServer((request, response) => {
      const location = request.url === '/away' ? 'http://evil.example/' : '/here'
      if (request.url === '/here') response.end(request.headers.authorization ?? 'none')
      else response.writeHead(302, { location }).end()
    }),
  )
  const fetchPath = (path: string): string =>
    `return (await host.net.fetch('http://localhost:' + args.port + '${path}', { headers: { authorization: 'key' } })).text()`
  const { outcomes } = await guarded(
    t,
    { same: fetchPath('/start'), away: fetchPath('/away') },
    { args: { port }, flags: { allowNet: [`probe:localhost:${port}`] } },
  )
  t.equal(outcomes.same?.value, 'key')
  t.equal(outcomes.away?.error, netCure('evil.example:80'))
})

test('a redirect to another host takes no credential along, by whatever name', async (t) => {
  const seen: http.IncomingHttpHeaders[] = []
  const port = await listening(
    t,
    http.createServer((request, response) => {
      seen.push(request.headers)
      if (request.url === '/there') response.end('ok')
      else response.writeHead(302, { location: `http://127.0.0.1:${port}/there` }).end()
    }),
  )
  const secrets = ['authorization', 'xi-api-key', 'x-goog-api-key', 'ocp-apim-subscription-key', 'x-token', 'cookie']
  const headers = JSON.stringify({ ...Object.fromEntries(secrets.map((name) => [name, 'k'])), accept: 'text/plain' })
  const away = `return (await host.net.fetch('http://localhost:' + args.port + '/start', { headers: ${headers} })).text()`
  const allowNet = [`probe:localhost:${port}`, `probe:127.0.0.1:${port}`]
  const { outcomes } = await guarded(t, { away }, { args: { port }, flags: { allowNet } })
  t.equal(outcomes.away?.value, 'ok')
  const [first, second] = seen
  t.equal(first?.['xi-api-key'], 'k')
  t.equal(second?.accept, 'text/plain')
  for (const name of secrets) t.notOk(second?.[name], name)
})

test('what the process itself needs is allowed to it and not to handles', async (t) => {
  const port = await listening(
    t,
    http.createServer((_, response) => response.end('own')),
  )
  const { outcomes, own } = await guarded(
    t,
    {
      process: `return (await fetch('http://127.0.0.1:' + args.port)).text()`,
      handle: `return (await host.net.fetch('http://127.0.0.1:' + args.port)).text()`,
      program: `return namedSpawnSync('id')`,
    },
    { args: { port }, infrastructure: [`http://127.0.0.1:${port}/metrics`] },
  )
  t.same(outcomes.process, { value: 'own' })
  t.equal(outcomes.handle?.error, netCure(`127.0.0.1:${port}`))
  t.equal(outcomes.program?.error, runCure('id'))
  t.same(own, { program: 0, thread: 3 }, 'the process starts its own programs and threads')
})

test('the speech stack loads and resamples under the guard', async (t) => {
  const agents = join(ROOT, 'node_modules/@livekit/agents/dist/index.js')
  const rtc = join(ROOT, 'node_modules/@livekit/rtc-node/dist/index.js')
  const { outcomes } = await guarded(t, {
    resample: `const { AudioFrame, AudioResampler } = await import(${JSON.stringify(rtc)})
      await import(${JSON.stringify(agents)})
      const resampler = new AudioResampler(8000, 24000)
      const out = [0, 1, 2, 3, 4].flatMap(() => resampler.push(new AudioFrame(new Int16Array(160), 8000, 1, 160)))
      return [...out, ...resampler.flush()].reduce((n, frame) => n + frame.samplesPerChannel, 0)`,
  })
  t.equal(outcomes.resample?.error, undefined)
  t.ok(Number(outcomes.resample?.value) >= 2000)
})
