export interface TurnLatency {
  /** End of the caller's speech in the audio to the first non-silent sample sent back. */
  totalMs: number
  endpointingMs: number
  llmMs: number
  ttsMs: number
}

export interface Usage {
  llmInputTokens: number
  llmOutputTokens: number
  sttSeconds: number
  ttsCharacters: number
}

/** Which models a conversation uses. */
export interface StageChoices {
  llm: { provider: string; model: string }
  stt: { provider: string; model: string }
  tts: { provider: string; voice: string }
}
