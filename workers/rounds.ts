import { boundary, inBackground } from '../runtime/lib/async/boundary.ts'

export interface Rounds {
  /** Goes round now; resolves with the end of the round that is under way. */
  now(): Promise<void>
  /** Begins no further round, and waits for the one under way. */
  stop(): Promise<void>
}

export interface RoundsOptions {
  intervalMs: number
  /** The first round is now, not an interval later. */
  atOnce?: boolean
  /** A failed run is logged, and the next one tries again. */
  onError: (err: unknown) => void
}

/** Runs the job periodically, one round at a time: while one takes longer than the interval, none begins. */
export function startPeriodicJob(
  round: () => Promise<void>,
  { intervalMs, atOnce = false, onError }: RoundsOptions,
): Rounds {
  let running: Promise<void> | undefined
  const now = (): Promise<void> => {
    running ??= round()
      .catch(onError)
      .finally(() => {
        running = undefined
      })
    return running
  }
  if (atOnce) inBackground('queue', now())
  const timer = setInterval(
    boundary('queue', () => inBackground('queue', now())),
    intervalMs,
  )
  return {
    now,
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
