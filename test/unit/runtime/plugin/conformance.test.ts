import { pino } from 'pino'
import t from 'tap'
import { processEnvironment } from '../../../../config/load.ts'
import { loadPlugins, type PluginRegistry } from '../../../../runtime/plugin/host.ts'
import { runLlmConformance } from '../../../conformance/llm.ts'
import { runTtsConformance } from '../../../conformance/tts.ts'

const stop = new AbortController()
t.teardown(() => stop.abort())

const load = (files: { settingsFile?: string } = {}): Promise<PluginRegistry> =>
  loadPlugins({
    ...files,
    config: {},
    env: processEnvironment(),
    log: pino({ level: 'silent' }),
    signal: stop.signal,
  })
const registry = await load()
const ungranted = await load({ settingsFile: '/nonexistent/plugins.json' })

t.test('the llm of plugin "offline" conforms', (t) =>
  runLlmConformance(t, {
    make: () => registry.create('llm', 'offline'),
    makeFailing: { skip: 'it depends on nothing that could fail' },
  }),
)

t.test('the tts of plugin "offline" conforms', (t) =>
  runTtsConformance(t, {
    make: () => registry.create('tts', 'offline'),
    makeFailing: () => ungranted.create('tts', 'offline'),
  }),
)
