import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { loadPlugins, type PluginRegistry } from '../../../../../runtime/plugin/host.ts'
import { installPlugin } from '../../../../support/instance/install-plugin.ts'

const PARROT = join(import.meta.dirname, '../../../../../examples/plugins/parrot')
/** Says where it runs. */
const SPY = `import { definePlugin } from '@patchbay/plugin'
import process from 'node:process'
export default definePlugin({
  embedding: () => ({ dimensions: 2, embed: async (texts) => texts.map(() => [typeof Deno === 'undefined' ? 0 : 1, process.pid]) }),
})
`

async function installed(t: Test, settings: object): Promise<{ registry: PluginRegistry; signal: AbortSignal }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-second-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  await installPlugin(dataDir, 'parrot', { folder: PARROT })
  await installPlugin(dataDir, 'spy', { provides: { embedding: {} }, mod: SPY })
  const settingsFile = join(dataDir, 'plugins.json')
  writeFileSync(settingsFile, JSON.stringify(settings))
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const { signal } = stop
  const log = pino({ level: 'silent' })
  const options = { settingsFile, config: { dataDir }, env: {}, log, signal, createTimeoutMs: 60_000 }
  return { registry: await loadPlugins(options), signal }
}

async function whereabouts({ registry, signal }: Awaited<ReturnType<typeof installed>>, provider: string) {
  const [[isDeno, pid] = []] = await (await registry.create('embedding', provider)).embed(['where'], signal)
  return { isDeno: isDeno === 1, isRole: pid === process.pid }
}

test('each instance of an installed plugin runs in the sandbox, whatever its entry is called', async (t) => {
  const world = await installed(t, {
    'parrot:two': { plugin: 'parrot' },
    'spy:two': { plugin: 'spy' },
    'spy:in-role': { plugin: 'spy', isolation: 'none' },
  })
  for (const name of ['parrot', 'parrot:two', 'spy', 'spy:two']) {
    t.equal(world.registry.plugins.find((plugin) => plugin.name === name)?.isolation, 'process', name)
  }
  for (const name of ['spy', 'spy:two']) t.same(await whereabouts(world, name), { isDeno: true, isRole: false }, name)
  t.same(await whereabouts(world, 'spy:in-role'), { isDeno: false, isRole: true }, 'unless this very entry says so')
  const embedding = await world.registry.create('embedding', 'parrot:two')
  t.equal((await embedding.embed(['a'], world.signal))[0]?.length, 26)
})

test('what the entry of a plugin says does not let its other instances out of the sandbox', async (t) => {
  const world = await installed(t, { spy: { isolation: 'none' }, 'spy:two': { plugin: 'spy' } })
  t.same(await whereabouts(world, 'spy'), { isDeno: false, isRole: true })
  t.same(await whereabouts(world, 'spy:two'), { isDeno: true, isRole: false })
})

test('an instance of a plugin of ours that is kept in a process runs in one, too', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'patchbay-second-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const settingsFile = join(dir, 'plugins.json')
  const settings = {
    openai: { isolation: 'process' },
    'openai:two': { plugin: 'openai' },
    'cartesia:two': { plugin: 'cartesia' },
  }
  writeFileSync(settingsFile, JSON.stringify(settings))
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const log = pino({ level: 'silent' })
  const { plugins } = await loadPlugins({ settingsFile, config: {}, env: {}, log, signal: stop.signal })
  const isolationOf = (name: string) => plugins.find((plugin) => plugin.name === name)?.isolation
  t.equal(isolationOf('openai:two'), 'process')
  t.equal(isolationOf('cartesia:two'), 'none')
})

test('names are resolved to IPv4 addresses alone, whose ranges Deno holds back', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const { registry, signal } = await installed(t, {})
  const [[, pid] = []] = await (await registry.create('embedding', 'spy')).embed(['where'], signal)
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  t.ok(environment.includes('RES_OPTIONS=no-aaaa'))
})
