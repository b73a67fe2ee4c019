import t from 'tap'
import { runSttFaults } from '../../../conformance/provider-faults.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { registryWith, spokenFrames } from '../../../support/providers/doubles/registry.ts'
import { DOUBLE_KEY, startDoubles } from '../../../support/providers/doubles/start.ts'

const TEXT = 'What time do you open on Saturday?'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
const registry = await registryWith(t, env)

t.test('the stt of plugin "assemblyai" tells faults as what they are', async (t) =>
  runSttFaults(t, {
    faults: doubles.assemblyai.faults,
    key: DOUBLE_KEY,
    inBand: true,
    make: () => registry.create('stt', 'assemblyai'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)
