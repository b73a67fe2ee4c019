import { AsyncIterableQueue, type llm } from '@livekit/agents'
import type { RealtimeUsage } from '../../../packages/plugin/realtime.ts'
import { ProviderError, type ProviderFailure } from '../../plugin-sdk/provider-error.ts'
import { SampleReader } from '../../plugin-sdk/speech/pcm.ts'
import { AnswerAudio } from './answer.ts'

/** What an answer brings, in order. */
export type AnswerPart =
  | { type: 'text'; text: string; itemId: string; audio: AnswerAudio | undefined }
  | { type: 'tool_call'; callId: string; name: string; arguments: string }
  | { type: 'usage'; usage: RealtimeUsage }
  /** The provider says it after the answer. */
  | { type: 'usage_later' }

/** One answer that was asked for. */
export class RealtimeAnswer {
  readonly parts = new AsyncIterableQueue<AnswerPart>()
  readonly mayCallTools: boolean
  /** The conversation that it answers. */
  readonly items: readonly llm.ChatItem[]
  readonly #samples = new SampleReader()
  audio: AnswerAudio | undefined
  failure: ProviderFailure | undefined
  /** Calls that it may not make. */
  forbidden: { callId: string; name: string }[] = []
  forbiddenCalls = 0

  constructor(items: readonly llm.ChatItem[], mayCallTools: boolean) {
    this.items = items
    this.mayCallTools = mayCallTools
  }

  sound(bytes: Uint8Array, rateHz: number): AnswerAudio {
    this.audio ??= new AnswerAudio(rateHz)
    this.audio.push(this.#samples.push(bytes))
    return this.audio
  }

  end(failure?: ProviderFailure): void {
    if (this.parts.closed) return
    this.failure = failure
    this.audio?.fail(failure === undefined ? undefined : new ProviderError(failure))
    this.parts.close()
  }
}
