import type { metrics } from '@livekit/agents'
import type { EventOf } from '../call/log/events.ts'
import type { Usage } from '../call/types/usage.ts'

/** Counts what a conversation uses, per stage, between two reports. */
export class UsageMeter {
  #llmInputTokens = 0
  #llmOutputTokens = 0
  #ttsCharacters = 0
  #heardMs = 0

  count(measured: metrics.AgentMetrics): void {
    if (measured.type === 'llm_metrics') {
      this.#llmInputTokens += measured.promptTokens
      this.#llmOutputTokens += measured.completionTokens
    } else if (measured.type === 'tts_metrics') {
      this.#ttsCharacters += measured.charactersCount
    }
  }

  /**
   * What was used since the last report, or undefined when nothing was.
   * @param heardMs all audio given to speech to text so far: it is billed by the length of the audio
   */
  take(heardMs: number): Usage | undefined {
    const usage = {
      llmInputTokens: this.#llmInputTokens,
      llmOutputTokens: this.#llmOutputTokens,
      sttSeconds: Math.round(heardMs - this.#heardMs) / 1000,
      ttsCharacters: this.#ttsCharacters,
    }
    this.#llmInputTokens = 0
    this.#llmOutputTokens = 0
    this.#ttsCharacters = 0
    this.#heardMs = heardMs
    return Object.values(usage).some((value) => value > 0) ? usage : undefined
  }
}

/** What was used, as events: one for each stage that was. */
export function usageEvents({ sttSeconds, llmInputTokens, llmOutputTokens, ttsCharacters }: Usage): EventOf<'usage'>[] {
  const events: EventOf<'usage'>[] = []
  if (sttSeconds > 0) events.push({ type: 'usage', stage: 'stt', seconds: sttSeconds })
  if (llmInputTokens + llmOutputTokens > 0) {
    events.push({ type: 'usage', stage: 'llm', input_tokens: llmInputTokens, output_tokens: llmOutputTokens })
  }
  if (ttsCharacters > 0) events.push({ type: 'usage', stage: 'tts', characters: ttsCharacters })
  return events
}
