import type { EventOf } from '../call/log/events.ts'

/**
 * How long the caller waits for an answer, from the audio: from the last sound of the caller's speech as received to the
 * first sound of the reply as sent. The stages follow each other and add up to the total. Work done ahead, before the
 * turn was over, costs nothing. All times monotonic milliseconds.
 */
export class LatencyMeter {
  #speechEndMs: number | undefined
  #committedMs = 0
  #firstTextMs: number | undefined
  #wordsMs: number | undefined

  /** The last words of the caller were recognised. */
  words(nowMs: number): void {
    this.#wordsMs = nowMs
  }

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
  audible(nowMs: number): Omit<EventOf<'latency'>, 'type'> | undefined {
    const endMs = this.#speechEndMs
    if (endMs === undefined) return undefined
    const wordsMs = Math.min(Math.max(this.#wordsMs ?? endMs, endMs), this.#committedMs)
    const textMs = Math.min(Math.max(this.#firstTextMs ?? this.#committedMs, this.#committedMs), nowMs)
    this.#speechEndMs = undefined
    this.#firstTextMs = undefined
    this.#wordsMs = undefined
    return {
      stt_ms: Math.max(0, wordsMs - endMs),
      endpointing_ms: Math.max(0, this.#committedMs - Math.max(wordsMs, endMs)),
      llm_ms: textMs - this.#committedMs,
      tts_ms: nowMs - textMs,
      total_ms: Math.max(0, nowMs - endMs),
    }
  }
}
