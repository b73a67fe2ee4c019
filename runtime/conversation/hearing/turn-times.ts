/** A pause this long without words divides sounds: what was heard before it is not the start of the turn. */
const NO_WORDS_PAUSE_MS = 2_000

/** When the caller's running turn began and ended, by its sound. Pure: monotonic milliseconds are passed in. */
export class TurnTimes {
  #startMs: number | undefined
  #endMs = 0
  #speaking = false
  #words = false

  speechStarted(atMs: number): void {
    this.#speaking = true
    // A sound that no words came of was not the start of anything.
    if (!this.#words && this.#startMs !== undefined && atMs - this.#endMs > NO_WORDS_PAUSE_MS) this.#startMs = undefined
    this.#startMs ??= atMs
  }

  speechEnded(atMs: number): void {
    this.#speaking = false
    this.#endMs = atMs
  }

  words(): void {
    this.#words = true
  }

  /** The running turn, as far as it goes. */
  at(nowMs: number): { startMs: number; endMs: number } {
    const endMs = this.#speaking ? nowMs : this.#endMs || nowMs
    return { startMs: Math.min(this.#startMs ?? endMs, endMs), endMs }
  }

  /** The turn is over; the next one begins with the next sound. */
  take(nowMs: number): { startMs: number; endMs: number } {
    const times = this.at(nowMs)
    this.#startMs = this.#speaking ? nowMs : undefined
    this.#words = false
    return times
  }
}
