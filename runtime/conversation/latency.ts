import type { TurnLatency } from '../link/messages.ts'

/**
 * How long the caller waits for an answer, from the audio: from the last sound of the caller's speech as received to the
 * first sound of the reply as sent. The stages follow each other and add up to the total. Work done ahead, before the
 * turn was over, costs nothing. All times monotonic milliseconds.
 */
export class LatencyMeter {
  #speechEndMs: number | undefined
  #committedMs = 0
  #firstTextMs: number | undefined

  /** The caller's turn is over; `speechEndMs` is when the last sound of it arrived. */
  turnCommitted(speechEndMs: number, nowMs: number): void {
    this.#speechEndMs = speechEndMs
    this.#committedMs = nowMs
  }

  /** The language model gave its first words, perhaps before the turn was over. */
  firstText(nowMs: number): void {
    this.#firstTextMs = nowMs
  }

  /** The first sound of the reply left: the measurement of the turn it answers, once. */
  audible(nowMs: number): TurnLatency | undefined {
    if (this.#speechEndMs === undefined) return undefined
    const textMs = Math.min(Math.max(this.#firstTextMs ?? this.#committedMs, this.#committedMs), nowMs)
    const measured = {
      totalMs: Math.max(0, nowMs - this.#speechEndMs),
      endpointingMs: Math.max(0, this.#committedMs - this.#speechEndMs),
      llmMs: textMs - this.#committedMs,
      ttsMs: nowMs - textMs,
    }
    this.#speechEndMs = undefined
    this.#firstTextMs = undefined
    return measured
  }
}
