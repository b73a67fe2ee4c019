import { boundary } from '../../../runtime/lib/async/boundary.ts'
/** How the protocol waits: a test moves time by hand. */
export interface Timers {
  /** Calls once after the delay, unless the returned function was called before. */
  after(delayMs: number, callback: () => void): () => void
}

export const systemTimers: Timers = {
  after(delayMs, callback) {
    const timer = setTimeout(boundary('sip', callback), delayMs)
    return () => clearTimeout(timer)
  },
}

/** RFC 3261, section 17.1.1.1: an estimate of the round trip, the longest gap of retransmissions, a message's life. */
const T1_MS = 500
export const T2_MS = 4_000
export const T4_MS = 5_000
/** Timers B, F, H, L and M: when a transaction gives up. */
export const GIVE_UP_MS = 64 * T1_MS

/** Repeats with doubling gaps from T1 on, up to `maxGapMs`; the returned function stops it. */
export function repeat(timers: Timers, maxGapMs: number, again: () => void): () => void {
  let gapMs = T1_MS
  let cancel = timers.after(gapMs, tick)
  function tick(): void {
    gapMs = Math.min(gapMs * 2, maxGapMs)
    cancel = timers.after(gapMs, tick)
    again()
  }
  return () => cancel()
}
