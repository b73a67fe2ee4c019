import { dispose } from '@livekit/rtc-node'
import t from 'tap'
import { runSttConformance } from '../../conformance/stt.ts'
import { runTtsConformance } from '../../conformance/tts.ts'
import { deserted, registryWith, spokenFrames } from '../../support/doubles/registry.ts'
import { startDoubles } from '../../support/doubles/start.ts'

const TEXT = 'What time do you open on Saturday?'

const { env, stop } = await startDoubles()
t.teardown(stop)
// The suite's own resampler is native, and its runtime keeps a process alive.
t.teardown(() => dispose())
const registry = await registryWith(t, env)
const unreachable = await registryWith(t, { ...env, CARTESIA_BASE_URL: await deserted() })

t.test('the stt of plugin "cartesia" conforms', async (t) =>
  runSttConformance(t, {
    make: () => registry.create('stt', 'cartesia'),
    makeFailing: () => unreachable.create('stt', 'cartesia'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

t.test('the tts of plugin "cartesia" conforms', (t) =>
  runTtsConformance(t, {
    make: () => registry.create('tts', 'cartesia'),
    makeFailing: () => unreachable.create('tts', 'cartesia'),
  }),
)
