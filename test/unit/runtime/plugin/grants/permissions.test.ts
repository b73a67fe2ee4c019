// biome-ignore-all lint/suspicious/noTemplateCurlyInString: grants name variables this way.

import { test } from 'tap'
import {
  allowsHost,
  allowsResolved,
  allowsUnixSocket,
  formatTarget,
  type NetRule,
  netEntryOf,
  parseInfrastructureRule,
  parseNetRule,
} from '../../../../../runtime/plugin/grants/net-rule.ts'
import {
  allowsRead,
  compileGrants,
  coversRequest,
  grantsOfFlags,
  permissionDenied,
} from '../../../../../runtime/plugin/grants/permissions.ts'

const rules = (...entries: string[]): NetRule[] =>
  entries.map((entry) => parseNetRule(entry, {})).filter((rule) => rule !== undefined)

test('a net grant matches name and port, and nothing that only looks like it', async (t) => {
  const table: [entry: string, host: string, port: number, allowed: boolean][] = [
    ['api.example.com:443', 'api.example.com', 443, true],
    ['api.example.com:443', 'API.Example.com.', 443, true],
    ['api.example.com:443', 'api.example.com', 80, false],
    ['api.example.com:443', 'api.example.com.evil.net', 443, false],
    ['api.example.com:443', 'xapi.example.com', 443, false],
    ['api.example.com', 'api.example.com', 8443, true],
    ['*.example.com:443', 'eu.api.example.com', 443, true],
    ['*.example.com:443', 'example.com', 443, false],
    ['*.example.com:443', 'evilexample.com', 443, false],
    ['10.0.0.1:80', '10.0.0.1', 80, true],
    ['10.0.0.1:80', '::ffff:10.0.0.1', 80, true],
    ['10.0.0.1:80', '10.0.0.1', 81, false],
    ['10.0.0.0/8:443', '10.200.3.4', 443, true],
    ['10.0.0.0/8', '11.0.0.1', 443, false],
    ['[::1]:8080', '::1', 8080, true],
    ['[::1]:8080', '[0:0::1]', 8080, true],
    ['[::1]:8080', '::1', 8081, false],
    ['::1', '::1', 5, true],
    ['fd00::/8', 'fd12:3456::1', 5, true],
    ['[fd00::/8]:443', 'fd12::1', 80, false],
    ['localhost:80', '127.0.0.1', 80, false],
    ['127.0.0.1:80', 'localhost', 80, false],
    ['127.0.0.1:80', '127.1', 80, true],
    ['127.0.0.2:80', '0x7f.1', 80, false],
    ['bücher.example:443', 'xn--bcher-kva.example', 443, true],
  ]
  for (const [entry, host, port, allowed] of table) {
    t.equal(allowsHost(rules(entry), host, port), allowed, `${entry} ${allowed ? 'allows' : 'refuses'} ${host}:${port}`)
  }
})

test('a granted name stands for private or local addresses only where no stranger decides them', async (t) => {
  const table: [entry: string, host: string, address: string, allowed: boolean][] = [
    ['api.example.com', 'api.example.com', '93.184.215.14', true],
    ['api.example.com', 'api.example.com', '2606:2800::1', true],
    ['api.example.com', 'api.example.com', '127.0.0.1', false],
    ['api.example.com', 'api.example.com', '::1', false],
    ['api.example.com', 'api.example.com', '::ffff:127.0.0.1', false],
    ['api.example.com', 'api.example.com', '0.0.0.0', false],
    ['api.example.com', 'api.example.com', '169.254.169.254', false],
    ['api.example.com', 'api.example.com', '10.0.0.5', false],
    ['api.example.com', 'api.example.com', '::ffff:a00:5', false],
    ['api.example.com', 'api.example.com', 'fd00::5', false],
    ['*.example.com', 'a.example.com', '192.168.1.1', false],
    ['api.example.com', 'api.example.com', '64:ff9b::7f00:1', false],
    ['api.example.com', 'api.example.com', '64:ff9b:1::a00:5', false],
    ['api.example.com', 'api.example.com', '64:ff9b::5db8:d70e', true],
    ['api.example.com', 'api.example.com', '2002:7f00:1::', false],
    ['api.example.com', 'api.example.com', '2002:5db8:d70e::1', true],
    ['ollama', 'ollama', '172.18.0.3', true],
    ['llm.internal', 'llm.internal', '10.0.0.5', true],
    ['ollama', 'ollama', '127.0.0.1', false],
    ['localhost', 'localhost', '127.0.0.1', true],
    ['localhost', 'localhost', '::1', true],
    ['localhost', 'localhost', '169.254.169.254', false],
  ]
  for (const [entry, host, address, allowed] of table) {
    const what = `${entry} ${allowed ? 'may' : "can't"} stand for ${address}`
    t.equal(allowsResolved(rules(entry), host, address, 443), allowed, what)
  }
  t.ok(allowsResolved(rules('api.example.com:443', '10.0.0.0/8:443'), 'api.example.com', '10.0.0.5', 443))
  t.notOk(allowsResolved(rules('api.example.com:443', '10.0.0.0/8:80'), 'api.example.com', '10.0.0.5', 443))
  t.notOk(allowsResolved(rules('api.example.com'), 'api.example.com', 'not-an-address', 443))
})

test('a variable grants the host of the URL it holds, with the port of its scheme', async (t) => {
  const env = { A: 'https://api.example.com/v1', B: 'http://llm.corp.example:8000', C: 'ws://[fd00::1]/x', D: '' }
  const allowed = (entry: string, host: string, port: number): boolean => {
    const rule = parseNetRule(entry, env)
    return rule !== undefined && allowsHost([rule], host, port)
  }
  t.ok(allowed('${A}', 'api.example.com', 443))
  t.notOk(allowed('${A}', 'api.example.com', 80))
  t.ok(allowed('${B}', 'llm.corp.example', 8000))
  t.ok(allowed('${C}', 'fd00::1', 80))
  t.equal(parseNetRule('${D}', env), undefined)
  t.equal(parseNetRule('${UNSET}', env), undefined)
  const named = parseNetRule('${B}', env)
  t.ok(named && allowsResolved([named], 'llm.corp.example', '10.0.0.5', 8000), 'which the operator knows to be private')
  t.notOk(named && allowsResolved([named], 'llm.corp.example', '127.0.0.1', 8000))
})

test('a manifest’s variable counts only when the operator lets the plugin read it', async (t) => {
  const env = { OPENAI_BASE_URL: 'http://localhost:11434/v1', DATABASE_URL: 'postgres://db/x' }
  const requested = { net: ['api.openai.com:443', '${OPENAI_BASE_URL}', '${DATABASE_URL}'] }
  const granted = { env: ['OPENAI_BASE_URL'] }
  const { net } = compileGrants(granted, { env, baseDir: '/', requested })
  t.ok(allowsHost(net, 'localhost', 11434))
  t.notOk(allowsHost(net, 'db', 5432), 'a manifest can’t reach for a variable of somebody else')
  t.notOk(allowsHost(net, 'api.openai.com', 443), 'a manifest’s own word grants nothing')
  const covers = (entry: string): boolean =>
    coversRequest('net', entry, compileGrants(granted, { env, baseDir: '/', requested }), {
      env,
      baseDir: '/',
      literal: granted,
    })
  t.ok(covers('${OPENAI_BASE_URL}'))
  t.notOk(covers('${DATABASE_URL}'))
  t.notOk(covers('api.openai.com:443'))
})

test('entries that mean nothing are named', async (t) => {
  for (const entry of [
    '',
    'a b',
    'http://x.example',
    '*',
    '*.com',
    '1.2.3.4/33',
    '1.2.3.4/',
    'h:0',
    'h:70000',
    '-a.b',
    'a..b',
    '127.1',
  ]) {
    t.throws(() => parseNetRule(entry, {}), { code: 'configuration', message: /^Net grant/ }, JSON.stringify(entry))
  }
  t.throws(() => parseNetRule('${A}', { A: 'no url at all' }), { code: 'configuration' })
})

test('what the process itself needs is read from its URLs', async (t) => {
  const pg = parseInfrastructureRule('postgres://patchbay@localhost/patchbay?host=%2Fdata%2Frun')
  t.ok(allowsUnixSocket([pg], '/data/run/.s.PGSQL.5432'))
  t.notOk(allowsUnixSocket([pg], '/data/runner/x'))
  const redis = parseInfrastructureRule('unix:///data/my%20run/redis.sock')
  t.ok(allowsUnixSocket([redis], '/data/my run/redis.sock'))
  const remote = parseInfrastructureRule('rediss://user:pw@cache.example.com/0')
  t.ok(allowsHost([remote], 'cache.example.com', 6379))
  t.ok(allowsResolved([remote], 'cache.example.com', '10.1.2.3', 6379), 'wherever its name leads')
})

test('targets are written as grants are', async (t) => {
  t.equal(formatTarget('::1', 80), '[::1]:80')
  t.equal(formatTarget('a.example', undefined), 'a.example')
  t.equal(netEntryOf('wss://a.example/x'), 'a.example:443')
  t.equal(netEntryOf('http://[::1]:90/'), '[::1]:90')
})

test('flags are read per plugin', async (t) => {
  const flags = grantsOfFlags({
    allowNet: ['a:h:1', 'a:[::1]:2', 'b:x'],
    allowRun: ['a:/bin/true'],
    allowRead: ['b:/srv'],
  })
  t.same(Object.fromEntries(flags), {
    a: { net: ['h:1', '[::1]:2'], run: ['/bin/true'] },
    b: { net: ['x'], read: ['/srv'] },
  })
})

test('a read grant covers a folder and not its neighbours', async (t) => {
  const grants = compileGrants({ read: ['/srv/models', 'data/list.txt'] }, { env: {}, baseDir: '/app' })
  t.ok(allowsRead(grants, '/srv/models'))
  t.ok(allowsRead(grants, '/srv/models/a/..b/c'))
  t.notOk(allowsRead(grants, '/srv/models2/a'))
  t.notOk(allowsRead(grants, '/srv'))
  t.ok(allowsRead(grants, '/app/data/list.txt'))
  t.notOk(allowsRead(grants, '/app/data/list.txt.bak'))
})

test('a refusal names its cure', async (t) => {
  t.equal(
    permissionDenied('openai', 'net', 'localhost:11434').message,
    'Plugin "openai" requires net access to "localhost:11434"; grant it in config/plugins.json or with --allow-net=openai:localhost:11434',
  )
  t.equal(
    permissionDenied(undefined, 'run', 'id').message,
    'A plugin requires run access to "id"; grant it in config/plugins.json or with --allow-run=<plugin>:id',
  )
})

test('a net grant with a range of ports, or a range of no such width, says what is wrong with it', (t) => {
  for (const [entry, why] of [
    [
      '127.0.0.0/8:18140-18149',
      /"127\.0\.0\.0\/8:18140-18149" has a range of ports at its end; write one port, .*"127\.0\.0\.0\/8:18140"/,
    ],
    ['[fd00::/8]:1-2', /has a range of ports at its end/],
    ['host.example:80-90', /"host\.example:80-90" has a range of ports at its end/],
    ['10.0.0.0/33', /is not an address range: behind the slash goes a number from 0 to 32, as in "10\.0\.0\.0\/32"/],
  ] as const) {
    t.throws(() => parseNetRule(entry, {}), { code: 'configuration', message: why }, entry)
  }
  t.end()
})
