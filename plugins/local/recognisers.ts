import localInference from '@livekit/local-inference'
import type { Words } from '../../packages/plugin/mod.ts'
import { type Cut, UtteranceCutter } from '../../runtime/plugin-sdk/speech/utterance-cutter.ts'
import type { Denoiser } from './denoiser.ts'
import { HEARING_RATE_HZ } from './model.ts'
import type { OfflineRecognizer, OnlineRecognizer, OnlineStream } from './sherpa.ts'
import type { FromThread } from './thread-messages.ts'

type Say = (message: FromThread) => void

/** Recognises all callers of a model. */
export interface LocalRecogniser {
  open(session: number): void
  push(session: number, samples: Int16Array): void
  /** There is no more audio of this caller. */
  end(session: number): void
  cancel(session: number): void
}

/** Silence after the last audio, so that the last word comes out. */
const TAIL = new Float32Array(HEARING_RATE_HZ / 2)

interface Streamed {
  stream: OnlineStream
  denoiser: Denoiser | undefined
  takenS: number
  told: string
  isEnding: boolean
}

/** Words as they are spoken, by a model that hears in pieces. */
export class StreamingRecogniser implements LocalRecogniser {
  readonly #recogniser: OnlineRecognizer
  readonly #quiet: () => Denoiser | undefined
  readonly #say: Say
  readonly #sessions = new Map<number, Streamed>()
  #isScheduled = false

  constructor(recogniser: OnlineRecognizer, quiet: () => Denoiser | undefined, say: Say) {
    this.#recogniser = recogniser
    this.#quiet = quiet
    this.#say = say
  }

  open(session: number): void {
    const stream = this.#recogniser.createStream()
    this.#sessions.set(session, { stream, denoiser: this.#quiet(), takenS: 0, told: '', isEnding: false })
  }

  push(session: number, samples: Int16Array): void {
    const one = this.#sessions.get(session)
    if (one === undefined) return
    const sound = toFloat(samples)
    this.#take(one, one.denoiser?.push(sound) ?? sound)
  }

  end(session: number): void {
    const one = this.#sessions.get(session)
    if (one === undefined) return
    if (one.denoiser !== undefined) this.#take(one, one.denoiser.flush())
    this.#take(one, TAIL)
    one.stream.inputFinished()
    one.isEnding = true
  }

  cancel(session: number): void {
    this.#sessions.delete(session)
  }

  #take(one: Streamed, samples: Float32Array): void {
    if (samples.length > 0) one.stream.acceptWaveform({ samples, sampleRate: HEARING_RATE_HZ })
    one.takenS += samples.length / HEARING_RATE_HZ
    if (this.#isScheduled) return
    this.#isScheduled = true
    // What came for other callers meanwhile is decoded with it, in one go.
    setImmediate(() => {
      this.#isScheduled = false
      this.#decode()
    })
  }

  #decode(): void {
    for (;;) {
      const ready = [...this.#sessions.values()].filter(({ stream }) => this.#recogniser.isReady(stream))
      if (ready.length === 0) break
      this.#recogniser.decodeStreams(ready.map(({ stream }) => stream))
      for (const [session, one] of this.#sessions) if (ready.includes(one)) this.#tell(session, one)
    }
    for (const [session, one] of this.#sessions) {
      if (!one.isEnding) continue
      this.#finish(session, one)
      this.#sessions.delete(session)
      this.#say({ type: 'done', session })
    }
  }

  #tell(session: number, one: Streamed): void {
    const words = this.#words(one)
    if (words.text !== one.told && words.text !== '') {
      one.told = words.text
      this.#say({ type: 'heard', session, event: { type: 'interim', ...words } })
    }
    if (this.#recogniser.isEndpoint(one.stream)) this.#finish(session, one)
  }

  #finish(session: number, one: Streamed): void {
    const words = this.#words(one)
    if (words.text !== '') this.#say({ type: 'heard', session, event: { type: 'final', ...words } })
    this.#recogniser.reset(one.stream)
    one.told = ''
  }

  #words({ stream, takenS }: Streamed): Words {
    const { text, timestamps, ys_probs, start_time } = this.#recogniser.getResult(stream)
    const endS = Math.min(takenS, start_time + (timestamps.at(-1) ?? 0) + LAST_WORD_S)
    return {
      text: readable(text),
      startS: Math.min(endS, start_time + (timestamps[0] ?? 0)),
      endS,
      ...confidence(ys_probs),
    }
  }
}

/** How long the last piece of a word sounds. */
const LAST_WORD_S = 0.2

const { VAD_WINDOW_SAMPLES } = localInference
const WINDOW_MS = (VAD_WINDOW_SAMPLES / HEARING_RATE_HZ) * 1000
/** Utterances that wait for the one being recognised; more and the model is too slow for this machine. */
const MAX_WAITING = 32

interface Cutting {
  vad: ReturnType<typeof localInference.createVad>
  cutter: UtteranceCutter
  denoiser: Denoiser | undefined
  rest: Float32Array
  /** Everything of a caller happens one after the other. */
  work: Promise<void>
  isGone: boolean
}

/** Whole utterances, cut by a voice activity detector, by a model that must have heard all. */
export class OfflineRecogniser implements LocalRecogniser {
  readonly #recogniser: OfflineRecognizer
  readonly #quiet: () => Denoiser | undefined
  readonly #say: Say
  readonly #pauseMs: number
  readonly #sessions = new Map<number, Cutting>()
  /** One utterance at a time, across all sessions. */
  #recognising: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(recogniser: OfflineRecognizer, quiet: () => Denoiser | undefined, say: Say, pauseMs: number) {
    this.#recogniser = recogniser
    this.#quiet = quiet
    this.#say = say
    this.#pauseMs = pauseMs
  }

  open(session: number): void {
    this.#sessions.set(session, {
      vad: localInference.createVad(),
      cutter: new UtteranceCutter({ windowMs: WINDOW_MS, pauseMs: this.#pauseMs }),
      denoiser: this.#quiet(),
      rest: new Float32Array(0),
      work: Promise.resolve(),
      isGone: false,
    })
  }

  push(session: number, samples: Int16Array): void {
    const one = this.#sessions.get(session)
    if (one === undefined) return
    const sound = toFloat(samples)
    this.#then(session, one, () => this.#cut(session, one, one.denoiser?.push(sound) ?? sound))
  }

  end(session: number): void {
    const one = this.#sessions.get(session)
    if (one === undefined) return
    this.#then(session, one, async () => {
      if (one.denoiser !== undefined) await this.#cut(session, one, one.denoiser.flush())
      this.#take(session, one, one.cutter.end())
      await this.#recognising
      this.#sessions.delete(session)
      this.#say({ type: 'done', session })
    })
  }

  cancel(session: number): void {
    const one = this.#sessions.get(session)
    if (one !== undefined) one.isGone = true
    this.#sessions.delete(session)
  }

  #then(session: number, one: Cutting, act: () => Promise<void>): void {
    one.work = one.work
      .then(() => (one.isGone ? undefined : act()))
      .catch((error: unknown) => this.#fail(session, one, error instanceof Error ? error.message : String(error)))
  }

  #fail(session: number, one: Cutting, reason: string, isBusy = false): void {
    if (one.isGone) return
    this.cancel(session)
    this.#say({ type: 'failed', session, reason, isBusy })
  }

  async #cut(session: number, one: Cutting, sound: Float32Array): Promise<void> {
    const samples = new Float32Array(one.rest.length + sound.length)
    samples.set(one.rest)
    samples.set(sound, one.rest.length)
    let at = 0
    for (; at + VAD_WINDOW_SAMPLES <= samples.length; at += VAD_WINDOW_SAMPLES) {
      const window = Int16Array.from(samples.subarray(at, at + VAD_WINDOW_SAMPLES), (sample) => sample * 32_767)
      this.#take(session, one, one.cutter.push(window, await one.vad.predict(window)))
    }
    one.rest = samples.slice(at)
  }

  #take(session: number, one: Cutting, cut: Cut | undefined): void {
    if (cut?.type !== 'end') return
    if (this.#waiting >= MAX_WAITING) {
      this.#fail(session, one, 'callers speak faster than this machine recognises', true)
      return
    }
    this.#waiting++
    const { utterance, startS } = cut
    this.#recognising = this.#recognising.then(async () => {
      try {
        if (!one.isGone) await this.#recognise(session, one, utterance, startS)
      } catch (error) {
        this.#fail(session, one, error instanceof Error ? error.message : String(error))
      } finally {
        this.#waiting--
      }
    })
  }

  async #recognise(session: number, one: Cutting, utterance: readonly Int16Array[], startS: number): Promise<void> {
    const samples = new Float32Array(utterance.length * VAD_WINDOW_SAMPLES)
    for (const [n, window] of utterance.entries()) samples.set(toFloat(window), n * VAD_WINDOW_SAMPLES)
    const stream = this.#recogniser.createStream()
    stream.acceptWaveform({ samples, sampleRate: HEARING_RATE_HZ })
    const { text, lang, ys_log_probs } = await this.#recogniser.decodeAsync(stream)
    const words = {
      text: readable(text),
      startS,
      endS: startS + samples.length / HEARING_RATE_HZ,
      ...(lang === undefined || lang === '' ? {} : { language: lang }),
      ...confidence(ys_log_probs),
    }
    if (!one.isGone && words.text !== '') this.#say({ type: 'heard', session, event: { type: 'final', ...words } })
  }
}

function toFloat(samples: Int16Array): Float32Array {
  return Float32Array.from(samples, (sample) => sample / 32_768)
}

/** Some models know capital letters alone. */
function readable(text: string): string {
  const trimmed = text.trim()
  return trimmed === trimmed.toUpperCase() ? trimmed.toLowerCase() : trimmed
}

function confidence(logs: readonly number[] | undefined): { confidence?: number } {
  if (logs === undefined || logs.length === 0) return {}
  return { confidence: Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length) }
}
