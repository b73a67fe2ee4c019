import { type metrics, stt } from '@livekit/agents'
import { AudioFrame, AudioResampler } from '@livekit/rtc-node'
import type { Test } from 'tap'
import {
  checkClassified,
  checkNamed,
  collect,
  DEFAULT_LIMIT_MS,
  errorsOf,
  ONE_ATTEMPT,
  releasesAll,
  type Suite,
  secondsOf,
  silence,
  withInstance,
} from './support.ts'

export interface SttSuite extends Suite<stt.STT> {
  /** Speech the provider recognises, mono, with no more than a second of silence around it, and its words. */
  speech: { frames: readonly AudioFrame[]; text: string }
}

/** Silence behind the words, by which the provider knows that they are over. */
const TRAILING_SILENCE_MS = 1_500

const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []

/** What every speech-to-text provider must do. */
export async function runSttConformance(t: Test, suite: SttSuite): Promise<void> {
  const { make, makeFailing, speech, limitMs = DEFAULT_LIMIT_MS } = suite
  const sampleRateHz = speech.frames[0]?.sampleRate ?? 0
  const utterance = [...speech.frames, ...silence(TRAILING_SILENCE_MS, sampleRateHz)]

  const hear = async (engine: stt.STT, frames: readonly AudioFrame[]): Promise<stt.SpeechEvent[]> => {
    const stream = engine.stream({ connOptions: ONE_ATTEMPT })
    try {
      for (const frame of frames) stream.pushFrame(frame)
      stream.endInput()
      return await collect(stream, limitMs)
    } finally {
      stream.close()
    }
  }
  const finals = (events: readonly stt.SpeechEvent[]): stt.SpeechData[] =>
    events.flatMap(({ type, alternatives }) =>
      type === stt.SpeechEventType.FINAL_TRANSCRIPT && alternatives ? [alternatives[0]] : [],
    )
  const heard = (events: readonly stt.SpeechEvent[]): string[] =>
    words(
      finals(events)
        .map(({ text }) => text)
        .join(' '),
    )

  await t.test('it says who it is and that it streams', async (t) => {
    await withInstance(make, async (engine) => {
      checkNamed(t, engine)
      t.equal(engine.capabilities.streaming, true)
    })
  })

  await t.test('speech becomes its words, in order and within the audio', async (t) => {
    await withInstance(make, async (engine) => {
      const errors = errorsOf(engine)
      const events = await hear(engine, utterance)
      t.same(errors, [])
      t.same(heard(events), words(speech.text))
      const seconds = secondsOf(utterance)
      let lastEnd = 0
      for (const { startTime, endTime, confidence, text, language } of finals(events)) {
        t.ok(startTime >= 0 && startTime <= endTime && endTime <= seconds + 0.5, `"${text}": ${startTime}–${endTime} s`)
        t.ok(endTime >= lastEnd, 'finals come in order')
        t.ok(confidence >= 0 && confidence <= 1, `confidence is ${confidence}`)
        t.type(language, 'string')
        lastEnd = endTime
      }
      const types = events.map(({ type }) => type)
      const starts = types.indexOf(stt.SpeechEventType.START_OF_SPEECH)
      const final = types.indexOf(stt.SpeechEventType.FINAL_TRANSCRIPT)
      t.ok(starts === -1 || starts < final, 'speech starts before it is transcribed')
      const ends = types.filter((type) => type === stt.SpeechEventType.END_OF_SPEECH).length
      const begins = types.filter((type) => type === stt.SpeechEventType.START_OF_SPEECH).length
      t.equal(ends, begins, 'each start has its end')
    })
  })

  await t.test('audio of another sample rate is heard the same', async (t) => {
    const otherHz = sampleRateHz === 48_000 ? 24_000 : 48_000
    const resampler = new AudioResampler(sampleRateHz, otherHz)
    const frames = [...utterance.flatMap((frame) => resampler.push(frame)), ...resampler.flush()]
    resampler.close()
    await withInstance(make, async (engine) => void t.same(heard(await hear(engine, frames)), words(speech.text)))
  })

  await t.test('usage is the length of the audio', async (t) => {
    await withInstance(make, async (engine) => {
      const measured: metrics.STTMetrics[] = []
      engine.on('metrics_collected', (one) => void measured.push(one))
      const events = await hear(engine, utterance)
      const seconds = events.reduce((sum, { recognitionUsage }) => sum + (recognitionUsage?.audioDuration ?? 0), 0)
      const pushed = secondsOf(utterance)
      t.ok(Math.abs(seconds - pushed) <= 0.5, `${seconds} s reported of ${pushed} s`)
      const inMetrics = measured.reduce((sum, { audioDurationMs }) => sum + audioDurationMs / 1000, 0)
      t.ok(Math.abs(inMetrics - seconds) <= 0.1, 'metrics say the same')
    })
  })

  await t.test('silence, an empty frame and no audio at all become no words', async (t) => {
    await withInstance(make, async (engine) => {
      const errors = errorsOf(engine)
      const empty = new AudioFrame(new Int16Array(0), sampleRateHz, 1, 0)
      t.same(heard(await hear(engine, [...silence(2_000, sampleRateHz), empty])), [])
      t.same(heard(await hear(engine, [])), [])
      t.same(errors, [])
    })
  })

  await t.test('closing in the middle of speech ends the stream and releases everything', async (t) => {
    await releasesAll(t, async () => {
      await withInstance(make, async (engine) => {
        const errors = errorsOf(engine)
        const stream = engine.stream({ connOptions: ONE_ATTEMPT })
        for (const frame of utterance.slice(0, utterance.length / 2)) stream.pushFrame(frame)
        stream.close()
        stream.close()
        await collect(stream, limitMs)
        t.same(errors, [], 'being closed is no error')
      })
    })
  })

  await t.test('streams at once don’t mix', async (t) => {
    await withInstance(make, async (engine) => {
      const [spoken, silent] = await Promise.all([hear(engine, utterance), hear(engine, silence(1_000, sampleRateHz))])
      t.same(heard(spoken), words(speech.text))
      t.same(heard(silent), [])
    })
  })

  const options = 'skip' in makeFailing ? { skip: makeFailing.skip } : {}
  await t.test('a provider that fails is reported, classified, and ends the stream', options, async (t) => {
    if ('skip' in makeFailing) return
    await withInstance(makeFailing, async (engine) => {
      const errors = errorsOf(engine)
      t.same(heard(await hear(engine, utterance)), [])
      checkClassified(t, errors)
    })
  })
}
