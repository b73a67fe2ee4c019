import { inBackground } from '../runtime/lib/async/boundary.ts'
import { startPeriodicJob } from './rounds.ts'

/** How much this process takes, and the busy workspaces, which have their part here already. */
export interface Wanted {
  limit: number
  mostOfOne: number
  busy: readonly string[]
}

interface ClaimedWorkOptions<Due> {
  /** In this process. */
  atOnce: number
  /** So that slow work of one workspace does not hold up the others'. */
  mostOfOne: number
  intervalMs: number
  /** Looks as soon as some is done, too: for work that takes less than the interval. */
  isShort?: boolean
  /** Takes what is due, for this process alone for as long as its lease. */
  claim(wanted: Wanted): Promise<Due[]>
  /** `signal`: the process stops, and what is not done by now is done elsewhere. */
  run(due: Due, signal: AbortSignal): Promise<void>
  /** `due`: the work that failed; undefined: the claim did. */
  onError(err: unknown, due: Due | undefined): void
}

interface ClaimedWork {
  /** Begins no other; what runs is cut off after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

/** Claims due work of all workspaces and does it, so much at once. */
export function startClaimedWork<Due extends { workspaceId: string }>({
  atOnce,
  mostOfOne,
  intervalMs,
  isShort = false,
  claim,
  run,
  onError,
}: ClaimedWorkOptions<Due>): ClaimedWork {
  const cut = new AbortController()
  const running = new Map<Promise<void>, string>()
  let isStopped = false

  const busy = (): string[] => {
    const all = [...running.values()]
    return [...new Set(all)].filter((id) => all.filter((one) => one === id).length >= mostOfOne)
  }
  const look = async (): Promise<void> => {
    const limit = atOnce - running.size
    const found = limit <= 0 ? [] : await claim({ limit, mostOfOne, busy: busy() })
    for (const due of found) {
      const job: Promise<void> = run(due, cut.signal)
        .catch((err) => onError(err, due))
        .finally(() => {
          running.delete(job)
          if (isShort && !isStopped) inBackground('queue', looks.now())
        })
      running.set(job, due.workspaceId)
    }
  }
  const looks = startPeriodicJob(look, { intervalMs, onError: (err) => onError(err, undefined) })
  return {
    async stop(graceMs) {
      isStopped = true
      await looks.stop()
      const cutting = setTimeout(() => cut.abort(), graceMs)
      await Promise.all(running.keys())
      clearTimeout(cutting)
    },
  }
}
