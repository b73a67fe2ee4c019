import t from 'tap'
import { runSttConformance } from '../../../conformance/stt.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { deserted, registryWith, spokenFrames } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const TEXT = 'What time do you open on Saturday?'

const { env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
const registry = await registryWith(t, env)
const unreachable = await registryWith(t, { ...env, ASSEMBLYAI_BASE_URL: await deserted() })

for (const model of ['universal-streaming-english', 'u3-rt-pro']) {
  t.test(`the stt of plugin "assemblyai" conforms with ${model}`, async (t) =>
    runSttConformance(t, {
      make: () => registry.create('stt', 'assemblyai', { model, keyterms: ['Aurora'] }),
      makeFailing: () => unreachable.create('stt', 'assemblyai', { model }),
      speech: { frames: await spokenFrames(TEXT), text: TEXT },
    }),
  )
}
