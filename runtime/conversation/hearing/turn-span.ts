import type { Span } from './recognition.ts'

/** The speech of the caller's running turn, as far as its words are known. Pure. */
export class TurnSpan {
  #span: Span | undefined
  /** Speech that began before then is of the turn. */
  #untilMs = 0
  /** Where the present or last stretch of speech began. */
  #stretchMs = 0

  speechStarted(startMs: number): void {
    this.#stretchMs = startMs
  }

  /** A quick recogniser has the words before the end of their speech is known, or that it went on after a pause. */
  speechEnded(endMs: number): void {
    if (this.#span !== undefined && this.#untilMs > this.#stretchMs) this.#span = { ...this.#span, endMs }
  }

  /** Final words are of that speech. @param untilMs where their sound ends, as the recogniser has it */
  words({ startMs, endMs }: Span, untilMs = endMs): void {
    this.#untilMs = Math.max(endMs, untilMs)
    this.#span = { startMs: Math.min(this.#span?.startMs ?? startMs, startMs), endMs }
  }

  /** The turn is over; the next one begins with the next words. Undefined: none were heard. */
  take(): Span | undefined {
    const span = this.#span
    this.#span = undefined
    return span
  }
}
