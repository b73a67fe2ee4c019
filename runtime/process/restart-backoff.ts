const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 10_000
/**
 * A child that served this long works: what ended it is no fault of its start, and those who wait for it, the callers of a voice worker
 * among them, are not made to wait longer for its having died before.
 */
const SERVED_MS = 10_000

/** How long to wait before a child is started again: not at all where it served, longer each time it dies as soon as it is there. Pure. */
export class RestartBackoff {
  #failures = 0

  /** @param servedMs from when the child was ready to its end. Returns milliseconds. */
  next(servedMs: number): number {
    if (servedMs >= SERVED_MS) {
      this.#failures = 0
      return 0
    }
    return Math.min(MIN_BACKOFF_MS * 2 ** this.#failures++, MAX_BACKOFF_MS)
  }
}
