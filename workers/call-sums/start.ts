import { setImmediate as breathe } from 'node:timers/promises'
import type { Logger } from '../../runtime/process/log.ts'
import { foldCalls } from '../../store/calls/call-sums-folding.ts'
import type { Store } from '../../store/database/database.ts'
import { startPeriodicJob } from '../rounds.ts'

const INTERVAL_MS = 60_000

interface CallSumsJob {
  /** Sums what there is to sum now, or waits for the look that is under way. */
  look(): Promise<void>
  stop(): Promise<void>
}

/** Keeps the sums of calls that reports read. Several nodes take turns; with none reports are as right, and slower. */
export function startCallSums(services: { store: Store; log: Logger; intervalMs?: number }): CallSumsJob {
  const { store, log, intervalMs = INTERVAL_MS } = services
  let stopped = false
  const rounds = startPeriodicJob(
    async () => {
      while (!stopped && (await foldCalls(store))) await breathe()
    },
    {
      intervalMs,
      atOnce: true,
      onError: (err) => log.warn({ err }, 'Calls could not be summed up; trying again in a minute'),
    },
  )
  return {
    look: rounds.now,
    async stop() {
      stopped = true
      await rounds.stop()
    },
  }
}
