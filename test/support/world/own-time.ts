import type { Teardown } from '../instance/services.ts'

const TICK_MS = 50

/** Tells the milliseconds that passed for this process: while a busy machine leaves it no time, none passes. */
export function ownTime(t: Teardown): () => number {
  let ticks = 0
  const counting = setInterval(() => ticks++, TICK_MS)
  t.teardown(() => clearInterval(counting))
  return () => ticks * TICK_MS
}
