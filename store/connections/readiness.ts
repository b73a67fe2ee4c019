import type { Clock } from '../../runtime/lib/clock.ts'
import { sharedResult } from '../../runtime/lib/shared-result.ts'
import type { Store } from '../database/database.ts'
import type { RedisClient } from '../redis/client.ts'
import { PROBE_EVERY_MS, PROBE_TIMEOUT_MS } from './redial.ts'
import { redisWriteFault } from './redis-writes.ts'

/** Why the stores can't be used; a part that takes writes has no fault. */
interface StoreFaults {
  readonly database: string | undefined
  readonly redis: string | undefined
}

export type AskStores = () => Promise<StoreFaults>

/** Asks whether the stores take writes, however often it is called at most once a second. */
export function storeFaults(
  store: Pick<Store, 'fault'>,
  redis: Pick<RedisClient, 'multi'>,
  clock: Pick<Clock, 'monotonicMs'>,
): AskStores {
  return sharedResult(
    async () => {
      const [database, cache] = await Promise.all([store.fault(), redisWriteFault(redis, PROBE_TIMEOUT_MS)])
      return { database, redis: cache }
    },
    PROBE_EVERY_MS,
    clock,
  )
}

/** The faults as `/ready` shows them. */
export function readinessParts({ database, redis }: StoreFaults) {
  return {
    database: database === undefined ? ('ok' as const) : ('unreachable' as const),
    redis: redis === undefined ? ('ok' as const) : ('unreachable' as const),
    reasons: [database, redis].filter((reason) => reason !== undefined),
  }
}
