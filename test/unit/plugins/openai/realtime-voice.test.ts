import type { tts } from '@livekit/agents'
import t from 'tap'
import { collect, errorsOf, inTime, ONE_ATTEMPT, secondsOf, withInstance } from '../../../conformance/support.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { startOpenAIDouble } from '../../../support/providers/doubles/models/openai.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { makeSpeechWorld } from '../../../support/providers/doubles/speech/speech.ts'
import { DOUBLE_KEY } from '../../../support/providers/doubles/start.ts'

const LIMIT_MS = 60_000

const speech = await makeSpeechWorld()
/** What the model says instead of the sentence. */
let misread: string | undefined
const double = await startOpenAIDouble({ key: DOUBLE_KEY, speech, conversation: { speech, misread: () => misread } })
t.teardown(() => double.stop())
t.teardown(() => speech.stop())
endNativeRuntime()

const env = { OPENAI_API_KEY: DOUBLE_KEY, OPENAI_BASE_URL: `${double.url}/v1` }
const voice = async (options: Record<string, unknown> = {}) =>
  registryWith(t, env, { openai: { ttsModel: 'gpt-realtime-2.1-mini', ...options } })

async function speak(engine: tts.TTS, text: string): Promise<tts.SynthesizedAudio[]> {
  const stream = engine.stream({ connOptions: ONE_ATTEMPT })
  stream.pushText(text)
  stream.endInput()
  const items = await collect<tts.SynthesizedAudio | symbol>(stream, LIMIT_MS)
  stream.close()
  return items.filter((item) => typeof item !== 'symbol')
}
const secondsIn = (audio: readonly tts.SynthesizedAudio[]): number => secondsOf(audio.map(({ frame }) => frame))

t.test('the sentences of a call are read over one connection', async (t) => {
  const registry = await voice()
  await withInstance(
    () => registry.create('tts', 'openai'),
    async (engine) => {
      const before = double.requests.length
      t.ok(secondsIn(await speak(engine, 'We are open from nine to five. The shop is at the pier.')) > 2)
      t.ok(secondsIn(await speak(engine, 'Is there anything else I can do for you today?')) > 1)
      t.same(double.requests.slice(before), ['UPGRADE /v1/realtime'])
    },
  )
})

t.test('a model that answers a sentence in place of reading it is a fault, not retried', async (t) => {
  const registry = await voice()
  await withInstance(
    () => registry.create('tts', 'openai'),
    async (engine) => {
      const errors = errorsOf(engine)
      misread = 'I am afraid that I can not help you with that.'
      await speak(engine, 'Would you like me to book the table for seven o’clock?')
      misread = undefined
      t.match(errors, [{ error: { message: /gpt-realtime-2.1-mini said other words than it was given/ } }])
    },
  )
})

t.test('numbers that are spoken in words are no other words', async (t) => {
  const registry = await voice()
  await withInstance(
    () => registry.create('tts', 'openai'),
    async (engine) => {
      const errors = errorsOf(engine)
      misread = 'That is twelve thirty, on the second of May.'
      await speak(engine, 'That is 12:30, on 2 May.')
      misread = undefined
      t.same(errors, [])
    },
  )
})

t.test('after a sentence that was cut off the next is heard alone and whole', async (t) => {
  const registry = await voice()
  await withInstance(
    () => registry.create('tts', 'openai'),
    async (engine) => {
      const alone = secondsIn(await speak(engine, 'The shop is at the pier.'))
      const cut = engine.stream({ connOptions: ONE_ATTEMPT })
      cut.pushText(
        'This is a very long sentence that nobody will ever hear to its end because the caller cuts in at once. ',
      )
      cut.flush()
      await inTime(cut.next(), LIMIT_MS, 'the first frame')
      cut.close()
      const errors = errorsOf(engine)
      const again = secondsIn(await speak(engine, 'The shop is at the pier.'))
      t.same(errors, [])
      t.ok(Math.abs(again - alone) < 0.1, `${again} s as before ${alone} s`)
    },
  )
})

t.test('style, speed and the voices of the models of old are what the service takes', async (t) => {
  const registry = await voice({ ttsInstructions: 'Warm and calm.', ttsSpeed: 4 })
  for (const name of ['onyx', 'nova', 'fable', 'cedar']) {
    await withInstance(
      () => registry.create('tts', 'openai', { voice: name }),
      async (engine) => {
        const errors = errorsOf(engine)
        t.ok(secondsIn(await speak(engine, 'The shop is at the pier.')) > 0.5, name)
        t.same(errors, [])
      },
    )
  }
})
