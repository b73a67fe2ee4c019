const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Waits between the attempts of a delivery: ten attempts in about 75 hours. */
const WAITS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]
const JITTER = 0.2

/** The delay after this many failed attempts; undefined: give up. `random` is 0 to 1. */
export function nextAttemptMs(attempts: number, random: number): number | undefined {
  const waitMs = WAITS_MS[attempts - 1]
  return waitMs === undefined ? undefined : Math.round(waitMs * (1 + JITTER * (random - 0.5)))
}
