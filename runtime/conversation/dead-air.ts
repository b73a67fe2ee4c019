/** Nothing is heard this long after the caller's turn: a filler is got ready, and then spoken. */
const PREPARE_AFTER_MS = 1_500
const FILL_AFTER_MS = 3_000
/** The next filler, after the last was heard. */
const REPEAT_AFTER_MS = 3_500

/**
 * Watches that no caller waits for long without hearing something. Pure: time is passed in, in monotonic milliseconds.
 */
export class DeadAir {
  #sinceMs: number | undefined
  #prepared = false
  /** Fillers spoken in this wait. */
  filled = 0

  /** The caller waits for the agent, from `atMs` on if they didn't already. */
  waits(atMs: number): void {
    this.#sinceMs ??= atMs
  }

  /** The caller hears the agent, speaks, or needs no answer. */
  over(): void {
    this.#sinceMs = undefined
    this.#prepared = false
    this.filled = 0
  }

  /** A filler is on the line until about now. */
  filling(nowMs: number): void {
    if (this.#sinceMs !== undefined) this.#sinceMs = nowMs
  }

  /** Call it often. Each is answered once a wait, `fill` again and again. */
  check(nowMs: number): 'prepare' | 'fill' | undefined {
    if (this.#sinceMs === undefined) return undefined
    const waitedMs = nowMs - this.#sinceMs
    if (waitedMs >= (this.filled === 0 ? FILL_AFTER_MS : REPEAT_AFTER_MS)) {
      this.#sinceMs = nowMs
      this.filled++
      return 'fill'
    }
    if (this.#prepared || waitedMs < PREPARE_AFTER_MS) return undefined
    this.#prepared = true
    return 'prepare'
  }
}
