import { performance } from 'node:perf_hooks'

/** The two clocks of the system. Pure logic takes one as an argument, so that a test can move time by hand. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. */
  nowMs(): number
  /** A clock that never goes back, in milliseconds from an arbitrary origin. Use it for durations. */
  monotonicMs(): number
}

/** The machine's own clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}
