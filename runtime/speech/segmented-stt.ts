import { type APIConnectOptions, DEFAULT_API_CONNECT_OPTIONS, stt } from '@livekit/agents'
import localInference from '@livekit/local-inference'
import { AudioFrame } from '@livekit/rtc-node'
import { Resampler } from '../media/resample.ts'
import type { ProviderIdentity } from '../plugin/provider-error.ts'
import { apiErrorOf } from './api-error.ts'

const RATE_HZ = 16_000
const { VAD_WINDOW_SAMPLES } = localInference
const WINDOW_MS = (VAD_WINDOW_SAMPLES / RATE_HZ) * 1000
const VOICE = 0.5
const SILENCE = 0.35
/** Kept in front of the first loud window: a word's first consonant is quiet. */
const LEAD_WINDOWS = Math.ceil(300 / WINDOW_MS)
const START_WINDOWS = 2
const END_WINDOWS = Math.ceil(400 / WINDOW_MS)
/** An utterance that never ends is recognised in parts of this length. */
const MAX_WINDOWS = Math.ceil(25_000 / WINDOW_MS)
const USAGE_EVERY_S = 5

export interface SegmentedSttOptions {
  provider: ProviderIdentity
  /** Recognises one utterance: 16 kHz mono. */
  recognise: (utterance: AudioFrame, signal: AbortSignal) => Promise<stt.SpeechEvent>
  connOptions?: APIConnectOptions | undefined
}

/**
 * Makes a stream of a recogniser that takes whole utterances: a local voice-activity model cuts the audio, and each
 * utterance is recognised once it is over. For STT classes to return from `stream`.
 */
export class SegmentedSpeechStream extends stt.SpeechStream {
  readonly label: string
  readonly #options: SegmentedSttOptions
  readonly #timeoutMs: number
  #unreportedS = 0
  /** Recognitions under way, in the order spoken. */
  #results: Promise<void> = Promise.resolve()
  #failure: unknown

  constructor(owner: stt.STT, options: SegmentedSttOptions) {
    super(owner, undefined, options.connOptions)
    this.label = `${owner.label}.SpeechStream`
    this.#options = options
    this.#timeoutMs = options.connOptions?.timeoutMs ?? DEFAULT_API_CONNECT_OPTIONS.timeoutMs
  }

  protected override async run(): Promise<void> {
    try {
      await this.#cut()
      await this.#results
      if (this.#failure !== undefined && !this.abortSignal.aborted)
        throw apiErrorOf(this.#options.provider, this.#failure)
    } finally {
      this.#report()
    }
  }

  async #cut(): Promise<void> {
    const vad = localInference.createVad()
    const lead: Int16Array[] = []
    let utterance: Int16Array[] = []
    let loud = 0
    let quiet = 0
    let startWindow = 0
    let window = 0
    const finish = () => {
      this.#put({ type: stt.SpeechEventType.END_OF_SPEECH })
      this.#recognise(utterance, (startWindow * WINDOW_MS) / 1000)
      utterance = []
      loud = 0
    }
    for await (const samples of this.#windows()) {
      if (this.#failure !== undefined) return
      const probability = await vad.predict(samples)
      window++
      if (utterance.length === 0) {
        lead.push(samples)
        if (lead.length > LEAD_WINDOWS) lead.shift()
        loud = probability >= VOICE ? loud + 1 : 0
        if (loud < START_WINDOWS) continue
        utterance = lead.splice(0)
        startWindow = window - utterance.length
        quiet = 0
        this.#put({ type: stt.SpeechEventType.START_OF_SPEECH })
        continue
      }
      utterance.push(samples)
      quiet = probability < SILENCE ? quiet + 1 : 0
      if (quiet >= END_WINDOWS || utterance.length >= MAX_WINDOWS) finish()
    }
    if (utterance.length > 0 && !this.abortSignal.aborted) finish()
  }

  /** The audio at 16 kHz in windows of the voice-activity model. */
  async *#windows(): AsyncGenerator<Int16Array<ArrayBuffer>> {
    let resampler: Resampler | undefined
    let rateHz = RATE_HZ
    let window = new Int16Array(VAD_WINDOW_SAMPLES)
    let filled = 0
    for await (const item of this.input) {
      if (this.abortSignal.aborted) return
      if (typeof item === 'symbol') continue
      this.#unreportedS += item.samplesPerChannel / item.sampleRate
      if (this.#unreportedS >= USAGE_EVERY_S) this.#report()
      if (item.sampleRate !== rateHz) {
        rateHz = item.sampleRate
        resampler = rateHz === RATE_HZ ? undefined : new Resampler(rateHz, RATE_HZ)
      }
      const samples = resampler === undefined ? item.data : resampler.push(item.data)
      for (let offset = 0; offset < samples.length; ) {
        const part = samples.subarray(offset, offset + window.length - filled)
        window.set(part, filled)
        filled += part.length
        offset += part.length
        if (filled < window.length) break
        yield window
        window = new Int16Array(VAD_WINDOW_SAMPLES)
        filled = 0
      }
    }
  }

  #recognise(utterance: readonly Int16Array[], startS: number): void {
    const samples = new Int16Array(utterance.length * VAD_WINDOW_SAMPLES)
    utterance.forEach((window, i) => void samples.set(window, i * VAD_WINDOW_SAMPLES))
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    const signal = AbortSignal.any([this.abortSignal, timeout])
    const heard = this.#options.recognise(new AudioFrame(samples, RATE_HZ, 1, samples.length), signal)
    heard.catch(() => {})
    this.#results = this.#results.then(async () => {
      try {
        const alternative = (await heard).alternatives?.[0]
        if (alternative === undefined || alternative.text.trim() === '') return
        const startTime = this.startTimeOffset + startS
        const words = { ...alternative, startTime, endTime: startTime + samples.length / RATE_HZ }
        this.#put({ type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [words] })
      } catch (error) {
        this.#failure ??= timeout.aborted ? { code: 'ETIMEDOUT' } : error
      }
    })
  }

  #report(): void {
    if (this.#unreportedS === 0) return
    const recognitionUsage = { audioDuration: this.#unreportedS }
    this.#unreportedS = 0
    this.#put({ type: stt.SpeechEventType.RECOGNITION_USAGE, requestId: '', recognitionUsage })
  }

  #put(event: stt.SpeechEvent): void {
    if (!this.queue.closed && !this.abortSignal.aborted) this.queue.put(event)
  }
}
