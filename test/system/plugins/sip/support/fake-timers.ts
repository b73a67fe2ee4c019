import type { Timers } from '../../../../../plugins/sip/transaction/timers.ts'
import type { Clock } from '../../../../../runtime/lib/clock.ts'

/** Time that a test moves by hand. */
export class FakeTimers implements Timers, Clock {
  #nowMs = 1_000_000
  #waiting: { atMs: number; callback: () => void }[] = []

  nowMs(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  get pending(): number {
    return this.#waiting.length
  }

  after(delayMs: number, callback: () => void): () => void {
    const entry = { atMs: this.#nowMs + delayMs, callback }
    this.#waiting.push(entry)
    return () => {
      this.#waiting = this.#waiting.filter((one) => one !== entry)
    }
  }

  advance(ms: number): void {
    const endMs = this.#nowMs + ms
    for (;;) {
      const next = this.#waiting.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined) break
      this.#nowMs = next.atMs
      this.#waiting = this.#waiting.filter((one) => one !== next)
      next.callback()
    }
    this.#nowMs = endMs
  }
}
