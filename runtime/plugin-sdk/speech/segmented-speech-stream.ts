import { type APIConnectOptions, DEFAULT_API_CONNECT_OPTIONS, stt } from '@livekit/agents'
import localInference from '@livekit/local-inference'
import { AudioFrame } from '@livekit/rtc-node'
import { signalWithin } from '../../lib/async/signal-within.ts'
import type { ProviderIdentity } from '../provider-error.ts'
import { apiErrorOf } from './api-error.ts'
import { RecognitionStream } from './recognition-stream.ts'
import { type Cut, UtteranceCutter } from './utterance-cutter.ts'

const RATE_HZ = 16_000
const { VAD_WINDOW_SAMPLES } = localInference
const WINDOW_MS = (VAD_WINDOW_SAMPLES / RATE_HZ) * 1000

interface SegmentedSttOptions {
  provider: ProviderIdentity
  /** Recognises one utterance: 16 kHz mono. */
  recognise: (utterance: AudioFrame, signal: AbortSignal) => Promise<stt.SpeechEvent>
  connOptions?: APIConnectOptions | undefined
}

/**
 * Makes a stream of a recogniser that takes whole utterances: a local voice-activity model cuts the audio, and each
 * utterance is recognised once it is over. For STT classes to return from `stream`.
 */
export class SegmentedSpeechStream extends RecognitionStream {
  readonly #options: SegmentedSttOptions
  readonly #timeoutMs: number
  /** Recognitions under way, in the order spoken. */
  #results: Promise<void> = Promise.resolve()
  #failure: unknown

  constructor(owner: stt.STT, options: SegmentedSttOptions) {
    super(owner, options)
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
      this.speechEnded()
      this.reportUsage()
    }
  }

  async #cut(): Promise<void> {
    const vad = localInference.createVad()
    const cutter = new UtteranceCutter({ windowMs: WINDOW_MS })
    const take = (cut: Cut | undefined): void => {
      if (cut === undefined) return
      if (cut.type === 'start') {
        this.speechStarted()
        return
      }
      this.speechEnded()
      this.#recognise(cut.utterance, cut.startS)
    }
    for await (const samples of this.samples(RATE_HZ, VAD_WINDOW_SAMPLES)) {
      if (samples.length < VAD_WINDOW_SAMPLES) break
      if (this.#failure !== undefined) return
      take(cutter.push(samples, await vad.predict(samples)))
    }
    if (!this.abortSignal.aborted) take(cutter.end())
  }

  #recognise(utterance: readonly Int16Array[], startS: number): void {
    const samples = new Int16Array(utterance.length * VAD_WINDOW_SAMPLES)
    for (const [i, window] of utterance.entries()) samples.set(window, i * VAD_WINDOW_SAMPLES)
    const signal = signalWithin(this.#timeoutMs, this.abortSignal)
    const heard = this.#options.recognise(new AudioFrame(samples, RATE_HZ, 1, samples.length), signal)
    heard.catch(() => {})
    this.#results = this.#results.then(async () => {
      try {
        const alternative = (await heard).alternatives?.[0]
        if (alternative === undefined) return
        // An utterance without words is reported too: nobody need wait for them.
        const startTime = this.startTimeOffset + startS
        const words = { ...alternative, startTime, endTime: startTime + samples.length / RATE_HZ }
        this.emitEvent({ type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [words] })
      } catch (error) {
        this.#failure ??= signal.aborted && !this.abortSignal.aborted ? { code: 'ETIMEDOUT' } : error
      }
    })
  }
}
