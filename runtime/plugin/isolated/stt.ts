import { type APIConnectOptions, normalizeLanguage, stt } from '@livekit/agents'
import type { Options, SttEvent } from '../../../packages/plugin/mod.ts'
import { boundary } from '../../lib/async/boundary.ts'
import { Resampler } from '../../media/dsp/resample.ts'
import { type FaultOf, settle } from './fault.ts'
import type { PluginRunner } from './plugin-runner.ts'

const USAGE_EVERY_S = 5

export interface IsolatedUse {
  process: PluginRunner
  provider: string
  options: Options
  faultOf: FaultOf
}

/** Speech to text by a plugin in a process of its own. */
export class IsolatedSTT extends stt.STT {
  readonly label: string
  readonly #use: IsolatedUse
  readonly #sampleRateHz: number

  constructor(use: IsolatedUse, sampleRateHz: number) {
    super({ streaming: true, interimResults: true })
    this.label = `${use.provider}.STT`
    this.#use = use
    this.#sampleRateHz = sampleRateHz
  }

  override get model(): string {
    return this.#use.options.model ?? ''
  }

  override get provider(): string {
    return this.#use.provider
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    throw new Error('It recognises streams')
  }

  override stream(options?: { connOptions?: APIConnectOptions }): stt.SpeechStream {
    return new IsolatedSpeechStream(this, this.#use, this.#sampleRateHz, options?.connOptions)
  }
}

class IsolatedSpeechStream extends stt.SpeechStream {
  readonly label: string
  readonly #use: IsolatedUse
  readonly #sampleRateHz: number
  #speaking = false
  #unreportedS = 0

  constructor(owner: IsolatedSTT, use: IsolatedUse, sampleRateHz: number, connOptions: APIConnectOptions | undefined) {
    super(owner, undefined, connOptions)
    this.label = `${use.provider}.SpeechStream`
    this.#use = use
    this.#sampleRateHz = sampleRateHz
  }

  protected override async run(): Promise<void> {
    const { process, options, faultOf } = this.#use
    await settle(faultOf, this.abortSignal, async () => {
      await process.ready()
      const over = Promise.withResolvers<void>()
      const session = process.open({ kind: 'stt' }, options, {
        event: (event) => this.#heard(event as SttEvent),
        done: over.resolve,
        failed: over.reject,
      })
      const cancel = boundary('plugin', (): void => {
        session.cancel()
        over.resolve()
      })
      this.abortSignal.addEventListener('abort', cancel, { once: true })
      try {
        const input = this.#takeInput((samples) => session.audio(samples)).then(session.end)
        await Promise.all([over.promise, Promise.race([input, over.promise])])
      } finally {
        this.abortSignal.removeEventListener('abort', cancel)
        session.cancel()
        this.#end()
        this.#report()
      }
    })
  }

  async #takeInput(give: (samples: Int16Array) => void): Promise<void> {
    let resampler: { rateHz: number; push(samples: Int16Array): Int16Array } | undefined
    for await (const frame of this.input) {
      if (this.abortSignal.aborted) return
      if (typeof frame === 'symbol') continue
      this.#unreportedS += frame.samplesPerChannel / frame.sampleRate
      if (this.#unreportedS >= USAGE_EVERY_S) this.#report()
      if (frame.sampleRate === this.#sampleRateHz) give(frame.data)
      else {
        if (resampler?.rateHz !== frame.sampleRate) {
          const made = new Resampler(frame.sampleRate, this.#sampleRateHz)
          resampler = { rateHz: frame.sampleRate, push: (samples) => made.push(samples) }
        }
        give(resampler.push(frame.data))
      }
    }
  }

  #heard(event: SttEvent): void {
    const text = String(event.text ?? '').trim()
    if (text === '') return
    if (!this.#speaking) {
      this.#speaking = true
      this.#put({ type: stt.SpeechEventType.START_OF_SPEECH })
    }
    const startTime = this.startTimeOffset + (event.startS ?? 0)
    const type = event.type === 'final' ? stt.SpeechEventType.FINAL_TRANSCRIPT : stt.SpeechEventType.INTERIM_TRANSCRIPT
    this.#put({
      type,
      alternatives: [
        {
          text,
          language: normalizeLanguage(event.language ?? this.#use.options.language ?? ''),
          startTime,
          endTime: Math.max(startTime, this.startTimeOffset + (event.endS ?? 0)),
          confidence: Math.min(1, Math.max(0, event.confidence ?? 1)),
        },
      ],
    })
    if (event.type === 'final') this.#end()
  }

  #end(): void {
    if (!this.#speaking) return
    this.#speaking = false
    this.#put({ type: stt.SpeechEventType.END_OF_SPEECH })
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
