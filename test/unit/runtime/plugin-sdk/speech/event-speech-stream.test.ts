import { initializeLogger, stt } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import t from 'tap'
import type { SttEvent } from '../../../../../packages/plugin/mod.ts'
import { ProviderSTT } from '../../../../../runtime/plugin-sdk/speech/provider-stt.ts'

initializeLogger({ pretty: false, level: 'silent' })

const RATE_HZ = 8_000
const names = { provider: 'acme', identity: { title: 'Acme' }, model: 'small', language: 'en', sampleRateHz: RATE_HZ }

/** A frame of 20 ms of one value. */
function frameOf(value: number, rateHz = RATE_HZ): AudioFrame {
  const samples = new Int16Array(rateHz / 50).fill(value)
  return new AudioFrame(samples, rateHz, 1, samples.length)
}

t.test('a recogniser that fails loses no audio that comes after its failure', async (t) => {
  const heard: number[][] = []
  const again = Promise.withResolvers<void>()
  async function* recognise(audio: AsyncIterable<Int16Array>): AsyncGenerator<SttEvent> {
    const values: number[] = []
    heard.push(values)
    if (heard.length === 1) {
      const frames = audio[Symbol.asyncIterator]()
      values.push((await frames.next()).value[0])
      // One that sends has asked for the next frame when its connection breaks off.
      frames.next()
      throw new Error('broke off')
    }
    again.resolve()
    for await (const samples of audio) values.push(samples[0]!)
    yield { type: 'final', text: values.join(' ') }
  }
  const stream = new ProviderSTT({ ...names, recognise }).stream({
    connOptions: { maxRetry: 1, retryIntervalMs: 1, timeoutMs: 1_000 },
  })
  stream.pushFrame(frameOf(1))
  await again.promise
  for (const value of [2, 3, 4]) stream.pushFrame(frameOf(value))
  stream.endInput()
  const texts: string[] = []
  for await (const event of stream) {
    if (event.type === stt.SpeechEventType.FINAL_TRANSCRIPT) texts.push(event.alternatives![0].text)
  }
  t.same(heard, [[1], [2, 3, 4]])
  t.same(texts, ['2 3 4'])
})

t.test('audio of any rate is taken at the rate of the recogniser, and counted', async (t) => {
  let samplesTaken = 0
  async function* recognise(audio: AsyncIterable<Int16Array>): AsyncGenerator<SttEvent> {
    for await (const samples of audio) samplesTaken += samples.length
    yield { type: 'interim', text: ' ' }
    yield { type: 'final', text: 'hello', confidence: 7 }
  }
  const stream = new ProviderSTT({ ...names, recognise }).stream()
  for (let n = 0; n < 50; n++) stream.pushFrame(frameOf(0, n < 25 ? 8_000 : 24_000))
  stream.endInput()
  const events: stt.SpeechEvent[] = []
  for await (const event of stream) events.push(event)
  t.ok(Math.abs(samplesTaken - RATE_HZ) < 100, `${samplesTaken} samples of a second`)
  const { START_OF_SPEECH, FINAL_TRANSCRIPT, END_OF_SPEECH, RECOGNITION_USAGE } = stt.SpeechEventType
  t.same(
    events.map(({ type }) => type),
    [START_OF_SPEECH, FINAL_TRANSCRIPT, END_OF_SPEECH, RECOGNITION_USAGE],
    'white space is no word',
  )
  t.equal(events[1]?.alternatives?.[0].confidence, 1)
  t.equal(Math.round(events[3]!.recognitionUsage!.audioDuration * 1e3), 1_000)
})
