import t from 'tap'
import { runLlmConformance } from '../../../conformance/llm.ts'
import { runTtsConformance } from '../../../conformance/tts.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { deserted, registryWith } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const { env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
const registry = await registryWith(t, env)
const unreachable = await registryWith(t, { ...env, GOOGLE_BASE_URL: await deserted() })

t.test('the llm of plugin "google" conforms', (t) =>
  runLlmConformance(t, {
    make: () => registry.create('llm', 'google', { temperature: 0.7 }),
    makeFailing: () => unreachable.create('llm', 'google'),
  }),
)

t.test('the tts of plugin "google" conforms', (t) =>
  runTtsConformance(t, {
    make: () => registry.create('tts', 'google'),
    makeFailing: () => unreachable.create('tts', 'google'),
  }),
)
