/** When one of our numbers rests, because networks block calls from it. Pure. */

/** Attempts of a number that are looked at, newest first. */
export const REST_LOOKBACK = 10
/** It rests where so many callees were not reached because of blocks. */
const REST_BLOCKS = 3
/** From the last block on. Afterwards one call tries: if it is blocked, the number rests again. */
const REST_MS = 3_600_000

/**
 * Until when the number rests, in milliseconds since 1970; undefined: it may call.
 * @param blockedMs for each callee of a blocked call among its last REST_LOOKBACK attempts: when the latest of these ended
 */
export function restsUntil(blockedMs: readonly number[], nowMs: number): number | undefined {
  if (blockedMs.length < REST_BLOCKS) return undefined
  const untilMs = Math.max(...blockedMs) + REST_MS
  return untilMs > nowMs ? untilMs : undefined
}
