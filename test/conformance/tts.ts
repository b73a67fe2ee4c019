import { type metrics, tts } from '@livekit/agents'
import type { AudioFrame } from '@livekit/rtc-node'
import type { Test } from 'tap'
import {
  checkClassified,
  checkNamed,
  collect,
  DEFAULT_LIMIT_MS,
  errorsOf,
  inTime,
  ONE_ATTEMPT,
  releasesAll,
  type Suite,
  secondsOf,
  withInstance,
} from './support.ts'

export interface TtsSuite extends Suite<tts.TTS> {
  /** Two sentences the voice can speak. */
  sentences?: readonly [string, string]
}

const MAX_FRAME_S = 1
const AUDIBLE = 500

/** What every text-to-speech provider must do. */
export async function runTtsConformance(t: Test, suite: TtsSuite): Promise<void> {
  const { make, makeFailing, limitMs = DEFAULT_LIMIT_MS } = suite
  const { sentences = ['We are open from nine to five.', 'The shop is at the pier.'] } = suite

  const speak = async (engine: tts.TTS, pieces: readonly string[]): Promise<(tts.SynthesizedAudio | symbol)[]> => {
    const stream = engine.stream({ connOptions: ONE_ATTEMPT })
    try {
      for (const piece of pieces) stream.pushText(piece)
      stream.endInput()
      return await collect<tts.SynthesizedAudio | symbol>(stream, limitMs)
    } finally {
      stream.close()
    }
  }
  const audioOf = (items: readonly (tts.SynthesizedAudio | symbol)[]): tts.SynthesizedAudio[] =>
    items.filter((item) => typeof item !== 'symbol')

  const checkFrames = (t: Test, engine: tts.TTS, frames: readonly AudioFrame[], text: string): void => {
    t.ok(frames.length > 0, 'there is audio')
    for (const frame of frames) {
      const fits =
        frame.sampleRate === engine.sampleRate &&
        frame.channels === engine.numChannels &&
        frame.samplesPerChannel > 0 &&
        frame.data.length === frame.samplesPerChannel * frame.channels &&
        frame.samplesPerChannel <= MAX_FRAME_S * frame.sampleRate
      if (!fits) t.fail(`a frame of ${frame.samplesPerChannel} samples at ${frame.sampleRate} Hz does not fit`)
    }
    const seconds = secondsOf(frames)
    const words = text.split(/\s+/).length
    t.ok(seconds > words * 0.1 && seconds < words * 1.5, `${words} words last ${seconds.toFixed(2)} s`)
    t.ok(
      frames.some(({ data }) => data.some((sample) => Math.abs(sample) > AUDIBLE)),
      'it can be heard',
    )
  }

  await t.test('it says who it is, that it streams, and its format', async (t) => {
    await withInstance(make, async (engine) => {
      checkNamed(t, engine)
      t.equal(engine.capabilities.streaming, true)
      t.equal(engine.numChannels, 1)
      t.ok(engine.sampleRate >= 8_000 && engine.sampleRate <= 48_000, `${engine.sampleRate} Hz`)
    })
  })

  await t.test('a text pushed in pieces is spoken whole and ends with a final frame', async (t) => {
    await withInstance(make, async (engine) => {
      const errors = errorsOf(engine)
      const text = sentences.join(' ')
      const items = await speak(engine, text.match(/.{1,7}/gs) ?? [])
      const audio = audioOf(items)
      t.same(errors, [])
      checkFrames(
        t,
        engine,
        audio.map(({ frame }) => frame),
        text,
      )
      t.equal(audio.at(-1)?.final, true, 'the last frame is final')
      t.ok(audio.every(({ requestId, segmentId }) => requestId !== '' && segmentId !== ''))
      t.equal(items.at(-1), tts.SynthesizeStream.END_OF_STREAM, 'then comes the end of the stream')
    })
  })

  await t.test('the first sentence is heard before the text is complete', async (t) => {
    await withInstance(make, async (engine) => {
      const stream = engine.stream({ connOptions: ONE_ATTEMPT })
      stream.pushText(`${sentences[0]} ${sentences[1].slice(0, 4)}`)
      const first = await inTime(stream.next(), limitMs, 'the first frame')
      t.not(first.done, true)
      stream.pushText(sentences[1].slice(4))
      stream.endInput()
      t.ok(audioOf(await collect<tts.SynthesizedAudio | symbol>(stream, limitMs)).length > 0)
      stream.close()
    })
  })

  await t.test('one text at once is spoken too', async (t) => {
    await withInstance(make, async (engine) => {
      const chunks = await collect(engine.synthesize(sentences[0], ONE_ATTEMPT), limitMs)
      checkFrames(
        t,
        engine,
        chunks.map(({ frame }) => frame),
        sentences[0],
      )
    })
  })

  await t.test('metrics carry the characters and the length of the audio', async (t) => {
    await withInstance(make, async (engine) => {
      const reported = Promise.withResolvers<metrics.TTSMetrics>()
      engine.on('metrics_collected', reported.resolve)
      const audio = audioOf(await speak(engine, [sentences[0]]))
      const measured = await inTime(reported.promise, limitMs, 'metrics')
      t.equal(measured.charactersCount, sentences[0].length)
      const seconds = secondsOf(audio.map(({ frame }) => frame))
      t.ok(Math.abs(measured.audioDurationMs / 1000 - seconds) < 0.1, `${measured.audioDurationMs} ms of ${seconds} s`)
      t.ok(measured.ttfbMs >= 0, 'with the time to the first audio')
    })
  })

  await t.test('nothing and blanks are spoken as nothing', async (t) => {
    await withInstance(make, async (engine) => {
      const errors = errorsOf(engine)
      t.equal(audioOf(await speak(engine, [])).length, 0)
      t.equal(audioOf(await speak(engine, [' ', '\n'])).length, 0)
      t.same(errors, [])
    })
  })

  await t.test('closing in the middle of speech ends the stream and releases everything', async (t) => {
    await releasesAll(t, async () => {
      await withInstance(make, async (engine) => {
        const errors = errorsOf(engine)
        const stream = engine.stream({ connOptions: ONE_ATTEMPT })
        stream.pushText(Array.from({ length: 20 }, () => sentences.join(' ')).join(' '))
        stream.flush()
        const first = await inTime(stream.next(), limitMs, 'the first frame')
        t.not(first.done, true)
        stream.close()
        stream.close()
        await collect<tts.SynthesizedAudio | symbol>(stream, limitMs)
        t.same(errors, [], 'being closed is no error')
      })
    })
  })

  await t.test('texts spoken at once don’t mix', async (t) => {
    await withInstance(make, async (engine) => {
      const spoken = await Promise.all(sentences.map(async (text) => audioOf(await speak(engine, [text]))))
      const ids = spoken.map((audio) => new Set(audio.map(({ requestId }) => requestId)))
      t.ok(ids.every((set) => set.size > 0))
      t.ok(
        [...(ids[0] ?? [])].every((id) => !ids[1]?.has(id)),
        'each has its own request ids',
      )
    })
  })

  const options = 'skip' in makeFailing ? { skip: makeFailing.skip } : {}
  await t.test('a provider that fails is reported, classified, and ends the stream', options, async (t) => {
    if ('skip' in makeFailing) return
    await withInstance(makeFailing, async (engine) => {
      const errors = errorsOf(engine)
      t.equal(audioOf(await speak(engine, [sentences[0]])).length, 0)
      checkClassified(t, errors)
    })
  })
}
