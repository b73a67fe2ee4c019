import t from 'tap'
import { runLlmConformance } from '../../../conformance/llm.ts'
import { runSttConformance } from '../../../conformance/stt.ts'
import { runTtsConformance } from '../../../conformance/tts.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { deserted, registryWith, spokenFrames } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const TEXT = 'What time do you open on Saturday?'

const { env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
const registry = await registryWith(t, env)
const unreachable = await registryWith(t, { ...env, OPENAI_BASE_URL: await deserted() })

t.test('the stt of plugin "openai" conforms', async (t) =>
  runSttConformance(t, {
    make: () => registry.create('stt', 'openai'),
    makeFailing: () => unreachable.create('stt', 'openai'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

t.test('the tts of plugin "openai" conforms', (t) =>
  runTtsConformance(t, {
    make: () => registry.create('tts', 'openai'),
    makeFailing: () => unreachable.create('tts', 'openai'),
  }),
)

const realtime = await registryWith(t, env, { openai: { sttApi: 'realtime' } })
const unreachableRealtime = await registryWith(
  t,
  { ...env, OPENAI_BASE_URL: await deserted() },
  { openai: { sttApi: 'realtime' } },
)

t.test('the realtime stt of plugin "openai" conforms', async (t) =>
  runSttConformance(t, {
    make: () => realtime.create('stt', 'openai'),
    makeFailing: () => unreachableRealtime.create('stt', 'openai'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

const voice = { openai: { ttsModel: 'gpt-realtime-2.1-mini' } }
const realtimeVoice = await registryWith(t, env, voice)
const unreachableVoice = await registryWith(t, { ...env, OPENAI_BASE_URL: await deserted() }, voice)

t.test('the realtime tts of plugin "openai" conforms', (t) =>
  runTtsConformance(t, {
    make: () => realtimeVoice.create('tts', 'openai'),
    makeFailing: () => unreachableVoice.create('tts', 'openai'),
  }),
)

t.test('the llm of plugin "openai" conforms', (t) =>
  runLlmConformance(t, {
    make: () => registry.create('llm', 'openai'),
    makeFailing: () => unreachable.create('llm', 'openai'),
  }),
)
