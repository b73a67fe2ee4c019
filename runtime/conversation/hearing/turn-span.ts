import type { Span } from './recognition.ts'

/** The speech of the caller's running turn, as far as its words are known. Pure. */
export class TurnSpan {
  #span: Span | undefined
  /** Where the present or last stretch of speech began. */
  #stretchMs = 0

  speechStarted(startMs: number): void {
    this.#stretchMs = startMs
  }

  /** A quick recogniser has the words before the end of their speech is known. */
  speechEnded(endMs: number): void {
    if (this.#span !== undefined && this.#span.endMs > this.#stretchMs) this.#span = { ...this.#span, endMs }
  }

  /** Final words are of that speech. */
  words({ startMs, endMs }: Span): void {
    this.#span = { startMs: Math.min(this.#span?.startMs ?? startMs, startMs), endMs }
  }

  /** The turn is over; the next one begins with the next words. Undefined: none were heard. */
  take(): Span | undefined {
    const span = this.#span
    this.#span = undefined
    return span
  }
}
