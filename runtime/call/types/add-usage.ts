import type { Usage } from './usage.ts'

export const NO_USAGE: Usage = { llmInputTokens: 0, llmOutputTokens: 0, sttSeconds: 0, ttsCharacters: 0 }

/** What an event of the call's log tells of its use. */
interface UsageTold {
  seconds?: number | undefined
  input_tokens?: number | undefined
  output_tokens?: number | undefined
  cached_read_tokens?: number | undefined
  cache_write_tokens?: number | undefined
  reasoning_tokens?: number | undefined
  audio_input_tokens?: number | undefined
  audio_output_tokens?: number | undefined
  cached_audio_tokens?: number | undefined
  estimated_tokens?: number | undefined
  characters?: number | undefined
}

/** The sums with what an event tells. A part that no event names stays unknown. */
export function addUsage(usage: Usage, told: UsageTold): Usage {
  const parts = {
    llmCachedReadTokens: plus(usage.llmCachedReadTokens, told.cached_read_tokens),
    llmCacheWriteTokens: plus(usage.llmCacheWriteTokens, told.cache_write_tokens),
    llmReasoningTokens: plus(usage.llmReasoningTokens, told.reasoning_tokens),
    llmAudioInputTokens: plus(usage.llmAudioInputTokens, told.audio_input_tokens),
    llmAudioOutputTokens: plus(usage.llmAudioOutputTokens, told.audio_output_tokens),
    llmCachedAudioTokens: plus(usage.llmCachedAudioTokens, told.cached_audio_tokens),
    llmEstimatedTokens: plus(usage.llmEstimatedTokens, told.estimated_tokens),
  }
  return {
    llmInputTokens: usage.llmInputTokens + (told.input_tokens ?? 0),
    llmOutputTokens: usage.llmOutputTokens + (told.output_tokens ?? 0),
    sttSeconds: usage.sttSeconds + (told.seconds ?? 0),
    ttsCharacters: usage.ttsCharacters + (told.characters ?? 0),
    ...Object.fromEntries(Object.entries(parts).filter(([, tokens]) => tokens !== undefined)),
  }
}

function plus(sum: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? sum : (sum ?? 0) + more
}
