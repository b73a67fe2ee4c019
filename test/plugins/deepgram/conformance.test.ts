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
const unreachable = await registryWith(t, { ...env, DEEPGRAM_BASE_URL: await deserted() })

t.test('the stt of plugin "deepgram" conforms', async (t) =>
  runSttConformance(t, {
    make: () => registry.create('stt', 'deepgram'),
    makeFailing: () => unreachable.create('stt', 'deepgram'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

t.test('the tts of plugin "deepgram" conforms', (t) =>
  runTtsConformance(t, {
    make: () => registry.create('tts', 'deepgram'),
    makeFailing: () => unreachable.create('tts', 'deepgram'),
  }),
)

t.test('the flux stt of plugin "deepgram" conforms', async (t) =>
  runSttConformance(t, {
    make: () => registry.create('stt', 'deepgram', { model: 'flux-general-en' }),
    makeFailing: () => unreachable.create('stt', 'deepgram', { model: 'flux-general-en' }),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)
