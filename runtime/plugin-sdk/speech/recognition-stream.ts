import { type APIConnectOptions, normalizeLanguage, stt } from '@livekit/agents'
import { Resampler } from '../../media/dsp/resample.ts'
import type { SignalledEvent, SpeechSignal } from './signal.ts'

/** Words that were heard. Times in seconds from the first audio of the stream or connection. */
export interface HeardWords {
  text: string
  startS?: number | undefined
  endS?: number | undefined
  /** 0 to 1. */
  confidence?: number | undefined
  language?: string | undefined
}

interface RecognitionOptions {
  /** Of words that name none. */
  language?: string | undefined
  connOptions?: APIConnectOptions | undefined
}

const USAGE_EVERY_S = 5

/** What every recogniser's stream does: it takes frames of any rate, counts them, and says what was heard in LiveKit's events. */
export abstract class RecognitionStream extends stt.SpeechStream {
  readonly label: string
  readonly #language: string
  #speaking = false
  #unreportedS = 0

  constructor(owner: stt.STT, { language = '', connOptions }: RecognitionOptions) {
    super(owner, undefined, connOptions)
    this.label = `${owner.label}.SpeechStream`
    this.#language = language
  }

  /** The audio at this rate, as it comes or in chunks of this many samples, of which the last may be shorter. */
  protected async *samples(rateHz: number, chunkSamples?: number): AsyncGenerator<Int16Array> {
    let resampler: Resampler | undefined
    let givenHz = rateHz
    let chunk = new Int16Array(chunkSamples ?? 0)
    let filled = 0
    for await (const item of this.input) {
      if (this.abortSignal.aborted) return
      if (typeof item === 'symbol') continue
      this.countAudio(item.samplesPerChannel / item.sampleRate)
      if (item.sampleRate !== givenHz) {
        givenHz = item.sampleRate
        resampler = givenHz === rateHz ? undefined : new Resampler(givenHz, rateHz)
      }
      const samples = resampler === undefined ? item.data : resampler.push(item.data)
      if (chunkSamples === undefined) {
        yield samples
        continue
      }
      for (let at = 0; at < samples.length; ) {
        const part = samples.subarray(at, at + chunkSamples - filled)
        chunk.set(part, filled)
        filled += part.length
        at += part.length
        if (filled < chunkSamples) break
        yield chunk
        chunk = new Int16Array(chunkSamples)
        filled = 0
      }
    }
    if (filled > 0) yield chunk.slice(0, filled)
  }

  /** Counts audio that was taken, and reports it now and then. */
  protected countAudio(durationS: number): void {
    this.#unreportedS += durationS
    if (this.#unreportedS >= USAGE_EVERY_S) this.reportUsage()
  }

  protected reportUsage(): void {
    if (this.#unreportedS === 0) return
    const recognitionUsage = { audioDuration: this.#unreportedS }
    this.#unreportedS = 0
    this.emitEvent({ type: stt.SpeechEventType.RECOGNITION_USAGE, requestId: '', recognitionUsage })
  }

  protected speechStarted(): void {
    if (this.#speaking) return
    this.#speaking = true
    this.emitEvent({ type: stt.SpeechEventType.START_OF_SPEECH })
  }

  protected speechEnded(signal?: SpeechSignal): void {
    if (!this.#speaking) return
    this.#speaking = false
    this.emitEvent({ type: stt.SpeechEventType.END_OF_SPEECH, ...(signal && { signal }) })
  }

  /** Says what was heard. Text of white space alone is left out. */
  protected words(type: stt.SpeechEventType, { text, ...words }: HeardWords, signal?: SpeechSignal): void {
    const heard = text.trim()
    if (heard === '') return
    this.speechStarted()
    const startTime = this.startTimeOffset + (words.startS ?? 0)
    const data: stt.SpeechData = {
      text: heard,
      language: normalizeLanguage(words.language ?? this.#language),
      startTime,
      endTime: Math.max(startTime, this.startTimeOffset + (words.endS ?? 0)),
      confidence: Math.min(1, Math.max(0, words.confidence ?? 1)),
    }
    this.emitEvent({ type, alternatives: [data], ...(signal && { signal }) })
  }

  protected emitEvent(event: SignalledEvent): void {
    if (!this.queue.closed && !this.abortSignal.aborted) this.queue.put(event)
  }
}
