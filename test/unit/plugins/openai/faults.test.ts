import t from 'tap'
import { runLlmFaults, runSttFaults, runTtsFaults } from '../../../conformance/provider-faults.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { registryWith, spokenFrames } from '../../../support/providers/doubles/registry.ts'
import { DOUBLE_KEY, startDoubles } from '../../../support/providers/doubles/start.ts'

const TEXT = 'What time do you open on Saturday?'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
const registry = await registryWith(t, env)
const realtime = await registryWith(t, env, { openai: { sttApi: 'realtime' } })
const suite = { faults: doubles.openai.faults, key: DOUBLE_KEY, inBand: false }

t.test('the stt of plugin "openai" tells faults as what they are', async (t) =>
  runSttFaults(t, {
    ...suite,
    make: () => registry.create('stt', 'openai'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

t.test('the tts of plugin "openai" tells faults as what they are', (t) =>
  runTtsFaults(t, { ...suite, make: () => registry.create('tts', 'openai') }),
)

t.test('the realtime stt of plugin "openai" tells faults as what they are', async (t) =>
  runSttFaults(t, {
    ...suite,
    inBand: true,
    make: () => realtime.create('stt', 'openai'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

const realtimeVoice = await registryWith(t, env, { openai: { ttsModel: 'gpt-realtime-2.1-mini' } })

t.test('the realtime tts of plugin "openai" tells faults as what they are', (t) =>
  runTtsFaults(t, { ...suite, inBand: true, make: () => realtimeVoice.create('tts', 'openai') }),
)

t.test('the llm of plugin "openai" tells faults as what they are', (t) =>
  runLlmFaults(t, { ...suite, make: () => registry.create('llm', 'openai') }),
)
