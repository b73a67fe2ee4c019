import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { PatchbayError } from '../../../../runtime/lib/errors.ts'
import { checkChoice } from '../../../../runtime/plugin/catalogue.ts'
import { type LoadPluginsOptions, loadPlugins, type PluginRegistry } from '../../../../runtime/plugin/host.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const CONTRACT = join(import.meta.dirname, '../../../../runtime/plugin/contract.ts')
const log = pino({ level: 'silent' })

/** Writes a plugin into the test's folder. `mod` is the object given to definePlugin, as source text. */
function plugin(t: Test, name: string, manifest: object, mod = '{}', before = ''): string {
  const dir = join(t.testdirName, 'plugins')
  mkdirSync(join(dir, name), { recursive: true })
  const whole = { name, version: '1.0.0', provides: { llm: {} }, permissions: {}, ...manifest }
  writeFileSync(join(dir, name, 'plugin.json'), JSON.stringify(whole))
  const source = `import { definePlugin } from ${JSON.stringify(CONTRACT)}\n${before}\nexport default definePlugin(${mod})\n`
  writeFileSync(join(dir, name, 'mod.ts'), source)
  return dir
}

function load(t: Test, options: Partial<LoadPluginsOptions> = {}): Promise<PluginRegistry> {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  return loadPlugins({
    dir: join(t.testdirName, 'plugins'),
    settingsFile: join(t.testdirName, 'plugins.json'),
    config: {},
    env: {},
    log,
    signal: stop.signal,
    createTimeoutMs: 60_000,
    ...options,
  })
}

const reasonOf = (promise: Promise<unknown>): Promise<PatchbayError> =>
  promise.then(
    () => Promise.reject(new Error('was expected to fail')),
    (error) => {
      if (error instanceof PatchbayError) return error
      throw error
    },
  )

test('the catalogue is made from manifests without running plugin code', async (t) => {
  t.testdir({})
  plugin(
    t,
    'voices',
    { provides: { tts: { voices: ['ada', 'bob'], defaultVoice: 'bob' }, llm: { models: ['one'] } } },
    '{}',
    'globalThis.ranPluginCode = true',
  )
  const { catalogue } = await load(t)
  t.same([...catalogue.tts], [['voices', { voices: ['ada', 'bob'], defaultVoice: 'bob' }]])
  t.same([...catalogue.stt.keys()], [])
  t.notOk('ranPluginCode' in globalThis)

  t.equal(checkChoice(catalogue, 'tts', { provider: 'voices', voice: 'ada' }), undefined)
  t.same(checkChoice(catalogue, 'tts', { provider: 'voices', voice: 'eve' }), {
    field: 'voice',
    available: ['ada', 'bob'],
  })
  t.same(checkChoice(catalogue, 'llm', { provider: 'nobody' }), { field: 'provider', available: ['voices'] })
})

test('create imports the plugin once and fills in defaults and the operator’s options', async (t) => {
  t.testdir({ 'plugins.json': JSON.stringify({ echo: { options: { greeting: 'hi' } } }) })
  plugin(
    t,
    'echo',
    {
      provides: { llm: { models: ['small', 'large'], defaultModel: 'large' } },
      options: { type: 'object', properties: { greeting: { type: 'string' } }, additionalProperties: false },
    },
    '{ llm: (host, options) => ({ options, plugin: host.plugin, loads: globalThis.echoLoads }) }',
    'globalThis.echoLoads = (globalThis.echoLoads ?? 0) + 1',
  )
  const registry = await load(t)
  await registry.create('llm', 'echo')
  t.match(await registry.create('llm', 'echo', { temperature: 0.3 }), {
    options: { model: 'large', temperature: 0.3, settings: { greeting: 'hi' } },
    plugin: 'echo',
    loads: 1,
  })
  t.match(await registry.create('llm', 'echo', { model: 'small' }), { options: { model: 'small' } })
})

test('a broken plugin is named and the others go on', async (t) => {
  t.testdir({ 'plugins.json': JSON.stringify({ picky: { options: { size: 'big' } } }) })
  plugin(t, 'good', {}, '{ llm: () => ({}) }')
  const dir = plugin(t, 'torn', {})
  writeFileSync(join(dir, 'torn', 'plugin.json'), '{ "name": ')
  plugin(t, 'typo', { permisions: {} })
  plugin(t, 'other-name', { name: 'somebody' })
  plugin(t, 'bad-net', { permissions: { net: ['https://example.com'] } })
  plugin(t, 'picky', { options: { type: 'object', properties: { size: { type: 'integer' } } } })
  const registry = await load(t)
  t.same([...registry.catalogue.llm.keys()], ['good'])
  for (const [name, why] of [
    ['torn', /"torn" can't be used: .*JSON.*plugin\.json/],
    ['typo', /"typo" can't be used: \/permisions is unknown/],
    ['other-name', /its name is "somebody" but its folder is "other-name"/],
    ['bad-net', /Net grant "https:\/\/example.com" is a URL; write "example.com:443"/],
    ['picky', /"picky" has options that don't fit: \/size must be integer; correct them in config\/plugins.json/],
  ] as const) {
    t.match((await reasonOf(registry.create('llm', name))).message, why)
  }
  t.ok(await registry.create('llm', 'good'))
})

test('an unknown provider is answered with the known ones', async (t) => {
  t.testdir({})
  plugin(t, 'good', {})
  const registry = await load(t)
  t.equal((await reasonOf(registry.create('llm', 'bad'))).message, 'No plugin provides llm "bad"; available: good')
  t.equal((await reasonOf(registry.create('tts', 'good'))).message, 'No plugin provides tts "good"; available: none')
})

test('a factory that throws, is missing, makes nothing or hangs is named', async (t) => {
  t.testdir({})
  plugin(t, 'throws', {}, `{ llm: () => { throw new Error('no model file') } }`)
  plugin(t, 'missing', {}, '{ tts: () => ({}) }')
  plugin(t, 'empty', {}, '{ llm: () => undefined }')
  plugin(t, 'unloadable', {}, '{}', `throw new Error('on import')`)
  plugin(t, 'hangs', {}, '{ llm: () => new Promise(() => {}) }')
  const registry = await load(t)
  for (const [name, why] of [
    ['throws', 'Plugin "throws" can\'t make llm: no model file'],
    ['missing', 'Plugin "missing" can\'t make llm: mod.ts has no llm factory'],
    ['empty', 'Plugin "empty" can\'t make llm: the factory returned undefined'],
  ] as const) {
    t.equal((await reasonOf(registry.create('llm', name))).message, why)
  }
  const impatient = await load(t, { createTimeoutMs: 500 })
  t.equal(
    (await reasonOf(impatient.create('llm', 'hangs'))).message,
    'Making llm of plugin "hangs" did not finish within 500 ms',
  )
  t.match((await reasonOf(registry.create('llm', 'unloadable'))).message, /can't be loaded from .*: on import/)
})

test('an instance that comes after the timeout is closed', async (t) => {
  t.testdir({})
  plugin(
    t,
    'late',
    {},
    `{ llm: () => new Promise((done) => { globalThis.finishLate = () => done({ aclose: async () => globalThis.lateClosed() }) }) }`,
  )
  const registry = await load(t, { createTimeoutMs: 300 })
  t.equal((await reasonOf(registry.create('llm', 'late'))).code, 'timeout')
  const closed = Promise.withResolvers<void>()
  const hooks = globalThis as unknown as { finishLate?(): void; lateClosed(): void }
  hooks.lateClosed = () => closed.resolve()
  await waitUntil(() => hooks.finishLate !== undefined)
  hooks.finishLate?.()
  await closed.promise
})

test('flags and files that mean nothing stop the start', async (t) => {
  t.testdir({ 'plugins.json': '{ "openai": { "grants": {} } }' })
  plugin(t, 'openai', {})
  t.match((await reasonOf(load(t))).message, /plugins\.json: \/openai\/grants is unknown/)
  const settingsFile = join(t.testdirName, 'none.json')
  const refuse = async (config: LoadPluginsOptions['config'], why: RegExp): Promise<void> => {
    t.match((await reasonOf(load(t, { settingsFile, config }))).message, why)
  }
  await refuse(
    { allowNet: ['api.openai.com'] },
    /must name a plugin and what it may use, as --allow-net=openai:localhost:11434/,
  )
  await refuse({ allowNet: ['openai:a b'] }, /Net grant "a b" is not a host/)
  await refuse({ allowNet: ['openai:h:99999'] }, /names no port between 1 and 65535/)
})

test('the guard is told only of plugins that are set up, of the kinds a process makes', async (t) => {
  t.testdir({ 'plugins.json': '{}' })
  const key = { key: { env: 'EAR_KEY' } }
  plugin(t, 'ear', { provides: { stt: {} }, permissions: { net: ['ear.example:443'] }, ...key })
  plugin(t, 'line', { provides: { telephony: {} }, permissions: { net: ['line.example:5060'] } })
  const config = { allowNet: ['ear:ear.example:443', 'line:line.example:5060'] }
  const nets = (registry: PluginRegistry, ...kinds: Parameters<PluginRegistry['ambientGrants']>[0]): number =>
    registry.ambientGrants(kinds).reduce((sum, { net }) => sum + net.length, 0)
  t.equal(nets(await load(t, { config }), 'stt', 'llm'), 0, 'its key is not set')
  const setUp = await load(t, { config, env: { EAR_KEY: 'k' } })
  t.equal(nets(setUp, 'stt'), 1)
  t.equal(nets(setUp, 'tts', 'vectorstore'), 0)
})

test('an instance is a plugin again, with a name, a key, a server and options of its own', async (t) => {
  const settings = {
    ear: { grant: { env: ['EAR_KEY', 'EAR_URL'] } },
    'ear:left': {
      plugin: 'ear',
      grant: { env: ['EAR_KEY', 'EAR_URL'] },
      env: { EAR_KEY: '$' + '{LEFT_KEY}', EAR_URL: 'http://left.example:9000' },
    },
    'ear:lost': { plugin: 'mouth' },
  }
  t.testdir({ 'plugins.json': JSON.stringify(settings) })
  plugin(
    t,
    'ear',
    {
      title: 'Ear',
      provides: { llm: { models: ['m'] } },
      permissions: { net: ['$' + '{EAR_URL}'], env: ['EAR_KEY', 'EAR_URL'] },
      key: { env: 'EAR_KEY' },
    },
    `{ llm: (host) => ({ asked: [host.plugin, host.env.get('EAR_KEY'), host.env.get('EAR_URL')] }) }`,
  )
  const registry = await load(t, { env: { LEFT_KEY: 'left' } })
  t.same([...registry.catalogue.llm.keys()], ['ear', 'ear:left'])
  t.match(registry.missingKey('ear'), /EAR_KEY is not set/)
  t.equal(registry.missingKey('ear:left'), undefined)
  t.equal(registry.titleOf('ear:left'), 'Ear (left)')
  const made = (await registry.create('llm', 'ear:left')) as unknown as { asked: unknown[] }
  t.same(made.asked, ['ear:left', 'left', 'http://left.example:9000'])
  t.equal(registry.grants.get('ear:left')?.net.length, 1)
  t.equal(registry.grants.get('ear')?.net.length, 0)
  t.match(
    registry.plugins.find(({ name }) => name === 'ear:lost')?.fault?.message,
    /instance of "mouth", which is not installed/,
  )
})
