import type { Boundary, ReportFault } from '../lib/async/faults.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from './log.ts'

/** Of a kind so much is written; who can make a handler fail could fill the log otherwise. The counter has them all. */
const INTERVAL_MS = 1_000

/** Writes what boundaries caught to the log, one of a kind a second; the next one says how many were left out. */
export function faultLog(log: Logger, clock: Pick<Clock, 'monotonicMs'>): ReportFault {
  const written = new Map<Boundary, { atMs: number; leftOut: number }>()
  return (kind, err) => {
    const nowMs = clock.monotonicMs()
    const last = written.get(kind)
    if (last !== undefined && nowMs - last.atMs < INTERVAL_MS) {
      last.leftOut++
      return
    }
    written.set(kind, { atMs: nowMs, leftOut: 0 })
    const leftOut = last?.leftOut ?? 0
    log.error({ err, kind, ...(leftOut > 0 && { leftOut }) }, 'A handler failed; its message or connection was ended')
  }
}
