import { stt } from '@livekit/agents'
import t from 'tap'
import { signalOf } from '../../../../runtime/plugin-sdk/speech/signal.ts'
import { runSttConformance } from '../../../conformance/stt.ts'
import { collect, errorsOf, ONE_ATTEMPT, silence, withInstance } from '../../../conformance/support.ts'
import { runTtsConformance } from '../../../conformance/tts.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { deserted, registryWith, spokenFrames } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const TEXT = 'What time do you open on Saturday?'

const { env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
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

t.test('flux tells early that a turn is probably over, and which language it heard', async (t) => {
  await withInstance(
    () =>
      registry.create('stt', 'deepgram', { model: 'flux-general-multi', language: 'multi', keyterms: ['Lovelace'] }),
    async (engine) => {
      const errors = errorsOf(engine)
      const stream = engine.stream({ connOptions: ONE_ATTEMPT })
      for (const frame of [...(await spokenFrames(TEXT)), ...silence(1_000, 16_000)]) stream.pushFrame(frame)
      stream.endInput()
      const events = await collect(stream)
      t.same(errors, [])
      const eager = events.find((event) => signalOf(event)?.type === 'eager_end_of_turn')
      t.equal(eager?.type, stt.SpeechEventType.PREFLIGHT_TRANSCRIPT)
      t.equal(eager?.alternatives?.[0].text, TEXT)
      const final = events.find(({ type }) => type === stt.SpeechEventType.FINAL_TRANSCRIPT)
      t.match(final?.alternatives?.[0], { text: TEXT, language: 'en' })
      t.same(final && signalOf(final), { type: 'end_of_turn' })
    },
  )
})

t.test('what Deepgram refuses of a connection is told in its words', async (t) => {
  await withInstance(
    () => registry.create('stt', 'deepgram', { model: 'nova-2-phonecall', language: 'de' }),
    async (engine) => {
      const errors = errorsOf(engine)
      const stream = engine.stream({ connOptions: ONE_ATTEMPT })
      stream.endInput()
      await collect(stream)
      t.match(errors[0]?.error.message, /Deepgram refused the request \(400\): .*No such model\/language\/tier/)
    },
  )
})
