import type { metrics } from '@livekit/agents'
import type { EventOf } from '../call/log/events.ts'
import type { Usage } from '../call/types/usage.ts'
import type { Spent } from './replying/spending.ts'

const NOTHING: Usage = { llmInputTokens: 0, llmOutputTokens: 0, sttSeconds: 0, ttsCharacters: 0 }

/** Counts what a conversation uses, per stage, between two reports. */
export class UsageMeter {
  #usage: Usage = NOTHING
  #heardMs = 0

  /** A request to a language model is over, however it ended. */
  spent({ inputTokens, outputTokens, isEstimated, ...parts }: Spent): void {
    const { llmInputTokens, llmOutputTokens, llmEstimatedTokens = 0 } = this.#usage
    this.#usage = {
      ...this.#usage,
      llmInputTokens: llmInputTokens + inputTokens,
      llmOutputTokens: llmOutputTokens + outputTokens,
      ...(isEstimated ? { llmEstimatedTokens: llmEstimatedTokens + inputTokens + outputTokens } : {}),
    }
    this.#add('llmCachedReadTokens', parts.cachedReadTokens)
    this.#add('llmCacheWriteTokens', parts.cacheWriteTokens)
    this.#add('llmReasoningTokens', parts.reasoningTokens)
  }

  count(measured: metrics.AgentMetrics): void {
    if (measured.type !== 'tts_metrics') return
    this.#usage = { ...this.#usage, ttsCharacters: this.#usage.ttsCharacters + measured.charactersCount }
  }

  /**
   * What was used since the last report, or undefined when nothing was.
   * @param heardMs all audio given to speech to text so far: it is billed by the length of the audio
   */
  take(heardMs: number): Usage | undefined {
    const usage = { ...this.#usage, sttSeconds: Math.round(heardMs - this.#heardMs) / 1000 }
    this.#usage = NOTHING
    this.#heardMs = heardMs
    return Object.values(usage).some((value) => value > 0) ? usage : undefined
  }

  #add(part: 'llmCachedReadTokens' | 'llmCacheWriteTokens' | 'llmReasoningTokens', tokens: number | undefined): void {
    if (tokens !== undefined) this.#usage = { ...this.#usage, [part]: (this.#usage[part] ?? 0) + tokens }
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
      estimated_tokens: usage.llmEstimatedTokens,
    }
    const known = Object.fromEntries(Object.entries(parts).filter(([, tokens]) => tokens !== undefined))
    events.push({ type: 'usage', stage: 'llm', input_tokens: llmInputTokens, output_tokens: llmOutputTokens, ...known })
  }
  if (ttsCharacters > 0) events.push({ type: 'usage', stage: 'tts', characters: ttsCharacters })
  return events
}
