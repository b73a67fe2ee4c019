import t from 'tap'
import { runSttConformance } from '../../../conformance/stt.ts'
import { runTtsConformance } from '../../../conformance/tts.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { deserted, registryWith, spokenFrames } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const TEXT = 'What time do you open on Saturday?'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
const registry = await registryWith(t, env)
const unreachable = await registryWith(t, { ...env, AZURE_SPEECH_BASE_URL: await deserted() })

t.test('the stt of plugin "azure" conforms', async (t) =>
  runSttConformance(t, {
    make: () => registry.create('stt', 'azure', { keyterms: ['Aurora'] }),
    makeFailing: () => unreachable.create('stt', 'azure'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

t.test('the stt of plugin "azure" conforms at the universal endpoint', async (t) => {
  const universal = await registryWith(t, env, { azure: { sttEndpoint: 2 } })
  await runSttConformance(t, {
    make: () => universal.create('stt', 'azure', { language: 'de-CH', keyterms: ['Aurora'] }),
    makeFailing: () => unreachable.create('stt', 'azure'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  })
  t.match(doubles.azure.requests.at(-1), 'UPGRADE /stt/speech/universal/v2')
})

t.test('the tts of plugin "azure" conforms', (t) =>
  runTtsConformance(t, {
    make: () => registry.create('tts', 'azure'),
    makeFailing: () => unreachable.create('tts', 'azure'),
  }),
)

t.test('a key without its region is told, and the voices of the region are listed', async (t) => {
  const half = await registryWith(t, { AZURE_SPEECH_KEY: 'k' })
  t.match(half.missingKey('azure'), /^Azure Speech can't be used: AZURE_SPEECH_REGION is not set; set it too/)
  t.equal(
    (await registryWith(t, { AZURE_SPEECH_KEY: 'k', AZURE_SPEECH_REGION: 'westeurope' })).missingKey('azure'),
    undefined,
  )
  t.match(await registry.voices('azure'), [{ voice: 'en-US-AvaMultilingualNeural', languages: ['en-US'] }, {}])
})
