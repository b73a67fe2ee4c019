import { type APIConnectOptions, stt } from '@livekit/agents'
import type { Stt } from '../../../packages/plugin/mod.ts'
import type { ProviderIdentity } from '../provider-error.ts'
import { apiErrorOf } from './api-error.ts'
import { RecognitionStream } from './recognition-stream.ts'

interface EventSttOptions extends Stt {
  provider: ProviderIdentity
  language: string
  connOptions?: APIConnectOptions | undefined
}

/** A running recognition by a recogniser of the plugin contract: audio in, events out. */
export class EventSpeechStream extends RecognitionStream {
  readonly #options: EventSttOptions
  /** One reader for all attempts: a frame that one of them asked for is the next one's. */
  readonly #audio: AsyncGenerator<Int16Array>
  #next: Promise<IteratorResult<Int16Array>> | undefined

  constructor(owner: stt.STT, options: EventSttOptions) {
    super(owner, options)
    this.#options = options
    this.#audio = this.samples(options.sampleRateHz)
  }

  protected override async run(): Promise<void> {
    const attempt = new AbortController()
    try {
      for await (const event of this.#options.recognise(this.#audioOf(attempt.signal), this.abortSignal)) {
        if (this.abortSignal.aborted) return
        const isFinal = event.type === 'final'
        const { FINAL_TRANSCRIPT, INTERIM_TRANSCRIPT } = stt.SpeechEventType
        this.words(isFinal ? FINAL_TRANSCRIPT : INTERIM_TRANSCRIPT, { ...event, text: String(event.text ?? '') })
        if (isFinal) this.speechEnded()
      }
    } catch (error) {
      if (this.abortSignal.aborted) return
      throw apiErrorOf(this.#options.provider, error)
    } finally {
      attempt.abort()
      this.speechEnded()
      this.reportUsage()
    }
  }

  async *#audioOf(attempt: AbortSignal): AsyncGenerator<Int16Array> {
    for (;;) {
      this.#next ??= this.#audio.next()
      const { done, value } = await this.#next
      if (attempt.aborted) return
      this.#next = undefined
      if (done) return
      yield value
    }
  }
}
