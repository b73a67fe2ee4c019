import t from 'tap'
import { runSttFaults, runTtsFaults } from '../../../conformance/provider-faults.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { registryWith, spokenFrames } from '../../../support/providers/doubles/registry.ts'
import { DOUBLE_KEY, startDoubles } from '../../../support/providers/doubles/start.ts'

const TEXT = 'What time do you open on Saturday?'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
const registry = await registryWith(t, env)
const suite = { faults: doubles.elevenlabs.faults, key: DOUBLE_KEY, inBand: true }

t.test('the stt of plugin "elevenlabs" tells faults as what they are', async (t) =>
  runSttFaults(t, {
    ...suite,
    make: () => registry.create('stt', 'elevenlabs'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

t.test('the tts of plugin "elevenlabs" tells faults as what they are', (t) =>
  runTtsFaults(t, { ...suite, make: () => registry.create('tts', 'elevenlabs') }),
)

const dialogue = await registryWith(t, env, { elevenlabs: { ttsModel: 'eleven_v4_turbo' } })
t.test('the dialogue voices of plugin "elevenlabs" tell faults as what they are', (t) =>
  runTtsFaults(t, { ...suite, make: () => dialogue.create('tts', 'elevenlabs') }),
)
