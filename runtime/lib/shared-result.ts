import type { Clock } from './clock.ts'

/** Asks at most once within `ttlMs`, however many want to know: all of them share the answer. A failure is not kept. */
export function sharedResult<T>(
  make: () => Promise<T>,
  ttlMs: number,
  clock: Pick<Clock, 'monotonicMs'>,
): () => Promise<T> {
  let last: { atMs: number; result: Promise<T> } | undefined
  return () => {
    const nowMs = clock.monotonicMs()
    if (last !== undefined && nowMs - last.atMs < ttlMs) return last.result
    const asked = { atMs: nowMs, result: make() }
    last = asked
    asked.result.catch(() => {
      if (last === asked) last = undefined
    })
    return asked.result
  }
}
