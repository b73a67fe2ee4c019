export interface TurnLatency {
  /** End of the caller's speech in the audio to the first non-silent sample sent back. */
  totalMs: number
  endpointingMs: number
  llmMs: number
  ttsMs: number
}

export interface Usage {
  /** All of the prompts, with what was read from caches and written to them. */
  llmInputTokens: number
  /** All of the answers, with what the models thought. */
  llmOutputTokens: number
  /** Parts of the two; undefined where no provider said anything of them. */
  llmCachedReadTokens?: number
  llmCacheWriteTokens?: number
  llmReasoningTokens?: number
  /** Sound: parts of the input, of the output, and of what was read from caches. */
  llmAudioInputTokens?: number
  llmAudioOutputTokens?: number
  llmCachedAudioTokens?: number
  /** Of the tokens, so many are guessed by the length of the text: of answers that were cut off or thrown away. */
  llmEstimatedTokens?: number
  sttSeconds: number
  ttsCharacters: number
}

/** Which models a conversation uses. */
export interface StageChoices {
  llm: { provider: string; model: string }
  stt: { provider: string; model: string }
  tts: { provider: string; voice: string }
  /** A tag, or `multi`: the caller's. */
  language?: string
}

/** Who serves at a moment of a call. */
export interface ServingAgent extends StageChoices {
  /** The agent that the call was handed to; absent: it has its first one. */
  handedTo?: string
}
