import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'

/**
 * Spaces out what a carrier is asked for: so many calls a second, first come first served. Some may come at once after a
 * pause, as a token bucket allows.
 */
export class CallPace {
  readonly #gapMs: number
  readonly #burst: number
  readonly #clock: Clock
  /** When the bucket would be full again without further use. */
  #fullAtMs = Number.NEGATIVE_INFINITY

  /** @param burst calls that may begin at once */
  constructor(callsPerSecond: number, clock: Clock, burst = 1) {
    this.#gapMs = 1000 / callsPerSecond
    this.#burst = burst
    this.#clock = clock
  }

  /** Resolves when the next call may be asked for. Throws the signal's reason; the turn is used up all the same. */
  async turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const waitMs = this.take()
    if (waitMs > 0) await sleep(waitMs, undefined, { signal })
  }

  /** Takes the next turn: how long until it comes. */
  take(): number {
    const nowMs = this.#clock.monotonicMs()
    this.#fullAtMs = Math.max(this.#fullAtMs, nowMs) + this.#gapMs
    return Math.max(0, this.#fullAtMs - nowMs - this.#burst * this.#gapMs)
  }
}
