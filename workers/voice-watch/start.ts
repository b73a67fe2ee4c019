import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { redisWriteFault } from '../../store/connections/redis-writes.ts'
import type { Store } from '../../store/database/database.ts'
import { announceJoined, announceLost, toldWorkers } from '../../store/events/told-workers.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { hasLeft, listWorkers } from '../../store/redis/slots.ts'
import { startPeriodicJob } from '../rounds.ts'

const INTERVAL_MS = 5_000
/** A Redis that lost its memory knows every worker again within a beat of theirs: that is no loss. */
const GRACE_MS = 12_000
const WRITE_CHECK_MS = 2_000

interface VoiceWatch {
  /** Waits for the running round. */
  stop(): Promise<void>
}

interface VoiceWatchOptions {
  store: Store
  redis: RedisClient
  config: { readonly operators?: readonly string[] | undefined }
  clock: Clock
  log: Logger
  intervalMs?: number
  /** How long a worker has to be missing. */
  graceMs?: number
}

/** Tells operators which voice workers come, and which are gone without a word. */
export function startVoiceWatch({
  store,
  redis,
  config,
  clock,
  log,
  intervalMs = INTERVAL_MS,
  graceMs = GRACE_MS,
}: VoiceWatchOptions): VoiceWatch {
  const operators = config.operators ?? []
  let missing = new Map<string, number>()

  const round = async () => {
    // A worker whose entry can't be renewed is not gone.
    if ((await redisWriteFault(redis, WRITE_CHECK_MS)) !== undefined) {
      missing = new Map()
      return
    }
    const [alive, told] = await Promise.all([listWorkers(redis), toldWorkers(store)])
    const known = new Set(told.map(({ workerId }) => workerId))
    const present = new Set(alive.map(({ workerId }) => workerId))
    const news = alive.filter(({ workerId }) => !known.has(workerId))
    if (news.length > 0) await announceJoined(store, operators, news)
    const still = new Map<string, number>()
    for (const { workerId } of told) {
      if (present.has(workerId)) continue
      const sinceMs = missing.get(workerId) ?? clock.monotonicMs()
      if (await hasLeft(redis, workerId)) await announceLost(store, operators, workerId, true)
      else if (clock.monotonicMs() - sinceMs >= graceMs) await announceLost(store, operators, workerId, false)
      else still.set(workerId, sinceMs)
    }
    missing = still
  }
  return startPeriodicJob(round, {
    intervalMs,
    atOnce: true,
    onError: (err) => log.warn({ err }, 'Could not announce voice workers to operators'),
  })
}
