import type { Span } from './recognition.ts'

/** So long a pause separates what callers dictate in groups. */
const GROUP_PAUSE_MS = 300

/** The speech of the caller's running turn, as far as its words are known. Pure. */
export class TurnSpan {
  #span: Span | undefined
  /** Its words, with a comma where the caller paused and the recogniser set no mark. */
  #groups = ''
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
  words({ startMs, endMs }: Span, untilMs = endMs, text = ''): void {
    const paused = startMs - (this.#span?.endMs ?? startMs) >= GROUP_PAUSE_MS
    this.#groups += `${paused && /[\p{L}\p{N}]$/u.test(this.#groups) ? ',' : ''} ${text}`
    this.#untilMs = Math.max(endMs, untilMs)
    this.#span = { startMs: Math.min(this.#span?.startMs ?? startMs, startMs), endMs }
  }

  /** The turn is over; the next one begins with the next words. Undefined: none were heard. */
  take(): (Span & { groups: string }) | undefined {
    const taken = this.#span && { ...this.#span, groups: this.#groups.trim() }
    this.#span = undefined
    this.#groups = ''
    return taken
  }
}
