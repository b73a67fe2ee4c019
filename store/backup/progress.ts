/** Tells how far a long copy is, and about how long it still takes. */
export interface BackupProgress {
  /** @param part 0 to 1 of all of it */
  at(part: number, what: string): void
}

const INTERVAL_MS = 5_000
/** Before, the estimate says nothing. */
const LEAST_PART = 0.01

export function openProgress(say: (line: string) => void, nowMs: () => number): BackupProgress {
  const startedMs = nowMs()
  let saidMs = startedMs
  return {
    at(part, what) {
      const now = nowMs()
      if (now - saidMs < INTERVAL_MS) return
      saidMs = now
      const done = Math.min(1, Math.max(0, part))
      const left = done < LEAST_PART ? '' : `, about ${duration(((now - startedMs) * (1 - done)) / done)} left`
      say(`${Math.floor(done * 100)} % (${what})${left}`)
    },
  }
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`
}
