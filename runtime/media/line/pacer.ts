import { boundary } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { FRAME_MS } from '../frame.ts'

/** A ticker that is late makes up for at most this many frames at once, then starts its schedule anew. */
const MAX_CATCH_UP_FRAMES = 3
/** Timers have whole milliseconds and fire up to one early. */
const EARLY_MS = 1

/** Called once a tick with how many frames are due: 1, or up to 3 when the process was late. */
type TickListener = (frames: number, nowMs: number) => void

interface Ticker {
  setTimeout(callback: () => void, delayMs: number): unknown
  clearTimeout(handle: unknown): void
}

export const nodeTicker: Ticker = {
  setTimeout: (callback, delayMs) => setTimeout(boundary('call', callback), delayMs),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
}

/**
 * The 20 ms beat of all sessions of a process: one timer, absolute deadlines, so that errors do not add up. Runs
 * only while there are listeners. A listener that throws is the concern of `onError`; the others still get their tick.
 */
export class Pacer {
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #ticker: Ticker
  readonly #listeners = new Set<TickListener>()
  #timer: unknown
  #deadlineMs = 0
  #ticking = false

  constructor(clock: Clock, onError: (error: unknown) => void, ticker: Ticker = nodeTicker) {
    this.#clock = clock
    this.#onError = onError
    this.#ticker = ticker
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** Joins the beat; the returned function leaves it. */
  add(listener: TickListener): () => void {
    this.#listeners.add(listener)
    // A listener added during a tick shares the timer set after it.
    if (this.#timer === undefined && !this.#ticking) {
      this.#deadlineMs = this.#clock.monotonicMs() + FRAME_MS
      this.#schedule()
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0 || this.#timer === undefined) return
      this.#ticker.clearTimeout(this.#timer)
      this.#timer = undefined
    }
  }

  #schedule(): void {
    const delayMs = Math.max(0, this.#deadlineMs - this.#clock.monotonicMs())
    this.#timer = this.#ticker.setTimeout(() => this.#tick(), delayMs)
  }

  #tick(): void {
    this.#timer = undefined
    const nowMs = this.#clock.monotonicMs()
    const due = Math.floor((nowMs + EARLY_MS - this.#deadlineMs) / FRAME_MS) + 1
    if (due <= 0) {
      this.#schedule()
      return
    }
    const frames = Math.min(due, MAX_CATCH_UP_FRAMES)
    this.#deadlineMs = due > MAX_CATCH_UP_FRAMES ? nowMs + FRAME_MS : this.#deadlineMs + due * FRAME_MS
    this.#ticking = true
    for (const listener of this.#listeners) {
      try {
        listener(frames, nowMs)
      } catch (error) {
        this.#onError(error)
      }
    }
    this.#ticking = false
    if (this.#listeners.size > 0) this.#schedule()
  }
}
