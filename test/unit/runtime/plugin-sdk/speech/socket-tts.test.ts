import { EventEmitter, once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { tts } from '@livekit/agents'
import t from 'tap'
import { WebSocketServer } from 'ws'
import { ProviderTTS } from '../../../../../runtime/plugin-sdk/speech/provider-tts.ts'
import type { SpeechProtocol } from '../../../../../runtime/plugin-sdk/speech/socket-synthesize-stream.ts'
import { collect, errorsOf, inTime, ONE_ATTEMPT, secondsOf, withInstance } from '../../../../conformance/support.ts'
import { registryWith } from '../../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../../support/providers/doubles/start.ts'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)
const registry = await registryWith(t, env)
const { cartesia, deepgram, elevenlabs } = doubles

const SENTENCE = 'We are open from nine to five.'
const LONG = Array.from({ length: 12 }, () => SENTENCE).join(' ')
const handshakes = ({ requests }: typeof cartesia) => requests.filter((route) => route.startsWith('UPGRADE')).length

async function speak(engine: tts.TTS, text: string, connOptions = ONE_ATTEMPT) {
  const stream = engine.stream({ connOptions })
  stream.pushText(text)
  stream.endInput()
  const items = await collect<tts.SynthesizedAudio | symbol>(stream)
  stream.close()
  return items.filter((item) => typeof item !== 'symbol').map(({ frame }) => frame)
}

for (const [name, double] of [
  ['cartesia', cartesia],
  ['deepgram', deepgram],
] as const) {
  t.test(`answers of one ${name} voice share a connection`, async (t) => {
    await withInstance(
      () => registry.create('tts', name),
      async (engine) => {
        const before = handshakes(double)
        for (let i = 0; i < 3; i++) t.ok(secondsOf(await speak(engine, SENTENCE)) > 1)
        t.equal(handshakes(double) - before, 1)
      },
    )
  })

  t.test(`a ${name} connection cut before anything was heard is tried again with the whole text`, async (t) => {
    await withInstance(
      () => registry.create('tts', name),
      async (engine) => {
        const whole = secondsOf(await speak(engine, `${SENTENCE} ${SENTENCE}`))
        // The idle connection ends, so that the next one has the fault.
        await engine.close()
        const again = await registry.create('tts', name)
        const errors = errorsOf(again)
        double.faults.set({ kind: 'disconnect', after: 0 }, 1)
        const frames = await speak(again, `${SENTENCE} ${SENTENCE}`, { ...ONE_ATTEMPT, maxRetry: 1 })
        t.same(errors, [])
        t.ok(Math.abs(secondsOf(frames) - whole) < 0.1, `${secondsOf(frames)} s of ${whole} s`)
        await again.close()
      },
    )
  })
}

t.test('an answer that is cut off is cancelled, and its rest is not heard in the next one', async (t) => {
  await withInstance(
    () => registry.create('tts', 'cartesia'),
    async (engine) => {
      const wanted = secondsOf(await speak(engine, SENTENCE))
      const before = handshakes(cartesia)
      const stream = engine.stream({ connOptions: ONE_ATTEMPT })
      stream.pushText(LONG)
      stream.flush()
      await inTime(stream.next(), 60_000, 'the first frame')
      stream.close()
      await sleep(50)
      const next = secondsOf(await speak(engine, SENTENCE))
      t.ok(Math.abs(next - wanted) < 0.1, `${next} s of ${wanted} s`)
      t.equal(handshakes(cartesia), before, 'over the same connection')
    },
  )
})

t.test(
  'a voice that can’t be cancelled loses its connection to an answer that is cut off, and the next one has another',
  async (t) => {
    const dialogue = await registryWith(t, env, { elevenlabs: { ttsModel: 'eleven_v3_conversational' } })
    await withInstance(
      () => dialogue.create('tts', 'elevenlabs'),
      async (engine) => {
        const wanted = secondsOf(await speak(engine, SENTENCE))
        const before = handshakes(elevenlabs)
        const stream = engine.stream({ connOptions: ONE_ATTEMPT })
        stream.pushText(LONG)
        stream.flush()
        await inTime(stream.next(), 60_000, 'the first frame')
        t.equal(handshakes(elevenlabs), before, 'answers that end share it')
        stream.close()
        // A connection that was kept would be free by then.
        await sleep(50)
        const next = secondsOf(await speak(engine, SENTENCE))
        t.ok(Math.abs(next - wanted) < 0.1, `${next} s of ${wanted} s`)
        t.equal(handshakes(elevenlabs), before + 1)
      },
    )
  },
)

t.test('texts parted by a flush are spoken one after the other, each counted', async (t) => {
  await withInstance(
    () => registry.create('tts', 'deepgram'),
    async (engine) => {
      const counted: number[] = []
      engine.on('metrics_collected', ({ charactersCount }) => counted.push(charactersCount))
      const stream = engine.stream({ connOptions: ONE_ATTEMPT })
      stream.pushText(SENTENCE)
      stream.flush()
      stream.pushText('The shop is at the pier.')
      stream.endInput()
      const items = await collect<tts.SynthesizedAudio | symbol>(stream)
      const segments = new Set(items.flatMap((item) => (typeof item === 'symbol' ? [] : [item.segmentId])))
      t.equal(segments.size, 2)
      t.same(counted, [SENTENCE.length, 'The shop is at the pier.'.length])
      t.equal(items.at(-1), tts.SynthesizeStream.END_OF_STREAM)
    },
  )
})

t.test('an utterance that waits for more text is kept alive until there is no more', async (t) => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  t.teardown(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  const said: string[] = []
  const heard = new EventEmitter()
  server.on('connection', (socket) =>
    socket.on('message', (data) => {
      said.push(String(data))
      heard.emit(String(data))
      if (String(data) === 'no more') socket.send('done')
    }),
  )
  await once(server, 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const protocol = () => ({
    sampleRateHz: 24_000,
    say: (_id: string, sentence: string) => sentence,
    finish: () => 'no more',
    keepAlive: { everyMs: 5, message: () => 'still here' },
    read: (...[, , , speaking]: Parameters<SpeechProtocol['read']>) => {
      speaking.audio(new Uint8Array(4_800))
      speaking.done()
    },
  })
  const identity = { title: 'Double', keyVariable: 'DOUBLE_KEY' }
  const names = { provider: 'double', identity, model: 'm', language: 'en', timesWords: false, sampleRateHz: 24_000 }
  const engine = new ProviderTTS({ ...names, address: { url, headers: {} }, protocol })
  t.teardown(() => engine.close())
  const stream = engine.stream({ connOptions: ONE_ATTEMPT })
  stream.pushText(`${SENTENCE} ${SENTENCE} `)
  await inTime(once(heard, 'still here'), 60_000, 'a sign of life')
  stream.endInput()
  await collect<tts.SynthesizedAudio | symbol>(stream)
  t.equal(said.at(-1), 'no more', 'none afterwards')
})
