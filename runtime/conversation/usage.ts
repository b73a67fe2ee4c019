import type { Owed } from '../call/link/messages.ts'
import type { EventOf } from '../call/log/events.ts'
import { addUsage, NO_USAGE } from '../call/types/add-usage.ts'
import type { Usage } from '../call/types/usage.ts'
import type { Spent } from './replying/spending.ts'

/** Counts what a conversation uses, per stage, between two reports. */
export class UsageMeter {
  #usage: Usage = NO_USAGE
  #heardMs = 0
  #owed: Owed = { input_tokens: 0, output_tokens: 0, characters: 0 }

  /** A request to a language model is over, however it ended. */
  spent({ inputTokens, outputTokens, isEstimated, ...parts }: Spent): void {
    this.#usage = addUsage(this.#usage, {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      cached_read_tokens: parts.cachedReadTokens,
      cache_write_tokens: parts.cacheWriteTokens,
      reasoning_tokens: parts.reasoningTokens,
      audio_input_tokens: parts.audioInputTokens,
      audio_output_tokens: parts.audioOutputTokens,
      cached_audio_tokens: parts.cachedAudioTokens,
      estimated_tokens: isEstimated ? inputTokens + outputTokens : undefined,
    })
  }

  /** Requests began, or are over: what they will have cost is more by so much, or less. */
  owe({ input_tokens = 0, output_tokens = 0, characters = 0 }: Partial<Owed>): void {
    this.#owed = {
      input_tokens: this.#owed.input_tokens + input_tokens,
      output_tokens: this.#owed.output_tokens + output_tokens,
      characters: this.#owed.characters + characters,
    }
  }

  /** What all requests under way will have cost; another object once it has changed. */
  get owed(): Owed {
    return this.#owed
  }

  /** A voice was given so many characters to say, whether they were heard or not. */
  spoken(characters: number): void {
    this.#usage = { ...this.#usage, ttsCharacters: this.#usage.ttsCharacters + characters }
  }

  /**
   * What was used since the last report, or undefined when nothing was.
   * @param heardMs all audio given to speech to text so far: it is billed by the length of the audio
   */
  take(heardMs: number): Usage | undefined {
    const usage = { ...this.#usage, sttSeconds: Math.round(heardMs - this.#heardMs) / 1000 }
    this.#usage = NO_USAGE
    this.#heardMs = heardMs
    return Object.values(usage).some((value) => value > 0) ? usage : undefined
  }
}

/** What was used, as events: one for each stage that was. */
export function usageEvents(usage: Usage): EventOf<'usage'>[] {
  const { sttSeconds, llmInputTokens, llmOutputTokens, ttsCharacters } = usage
  const events: EventOf<'usage'>[] = []
  if (sttSeconds > 0) events.push({ type: 'usage', stage: 'stt', seconds: sttSeconds })
  if (llmInputTokens + llmOutputTokens > 0) {
    const parts = {
      cached_read_tokens: usage.llmCachedReadTokens,
      cache_write_tokens: usage.llmCacheWriteTokens,
      reasoning_tokens: usage.llmReasoningTokens,
      audio_input_tokens: usage.llmAudioInputTokens,
      audio_output_tokens: usage.llmAudioOutputTokens,
      cached_audio_tokens: usage.llmCachedAudioTokens,
      estimated_tokens: usage.llmEstimatedTokens,
    }
    const known = Object.fromEntries(Object.entries(parts).filter(([, tokens]) => tokens !== undefined))
    events.push({ type: 'usage', stage: 'llm', input_tokens: llmInputTokens, output_tokens: llmOutputTokens, ...known })
  }
  if (ttsCharacters > 0) events.push({ type: 'usage', stage: 'tts', characters: ttsCharacters })
  return events
}
