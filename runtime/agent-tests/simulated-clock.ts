import type { Clock } from '../lib/clock.ts'

interface Due {
  readonly atMs: number
  readonly act: () => void
}

/** A clock that stands still but when it is moved, and what is due at its times. */
export class SimulatedClock implements Clock {
  readonly #startedAtMs: number
  #nowMs = 0
  #due: Due[] = []

  /** @param startedAtMs what clocks on the wall show at the beginning, in ms since 1970 */
  constructor(startedAtMs: number) {
    this.#startedAtMs = startedAtMs
  }

  nowMs(): number {
    return this.#startedAtMs + this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  /** Acts then; what is due at the same time keeps its order. Returns a way to call it off. */
  after(delayMs: number, act: () => void): () => void {
    const due: Due = { atMs: this.#nowMs + Math.max(0, delayMs), act }
    const at = this.#due.findIndex(({ atMs }) => atMs > due.atMs)
    this.#due.splice(at < 0 ? this.#due.length : at, 0, due)
    return () => {
      this.#due = this.#due.filter((one) => one !== due)
    }
  }

  /** Moves to what is due next, at most to `untilMs`, and does it. False: nothing was due by then. */
  step(untilMs: number): boolean {
    const next = this.#due[0]
    if (next === undefined || next.atMs > untilMs) {
      this.#nowMs = Math.max(this.#nowMs, untilMs)
      return false
    }
    this.#due.shift()
    this.#nowMs = Math.max(this.#nowMs, next.atMs)
    next.act()
    return true
  }
}
