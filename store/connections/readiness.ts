import type { Clock } from '../../runtime/lib/clock.ts'
import { sharedResult } from '../../runtime/lib/shared-result.ts'
import type { Store } from '../database/database.ts'
import type { RedisClient } from '../redis/client.ts'
import { PROBE_EVERY_MS, PROBE_TIMEOUT_MS } from './policy.ts'
import { redisWriteFault } from './redis-writes.ts'

/** What works of the two stores, and why the rest does not. */
export interface StoreReadiness {
  readonly database: 'ok' | 'unreachable'
  readonly redis: 'ok' | 'unreachable'
  /** A sentence for each that does not work. */
  readonly reasons: readonly string[]
}

/** Asks whether the stores take writes, however often it is called at most once a second. */
export function storeReadiness(
  store: Pick<Store, 'fault'>,
  redis: Pick<RedisClient, 'multi'>,
  clock: Pick<Clock, 'monotonicMs'>,
): () => Promise<StoreReadiness> {
  return sharedResult(
    async () => {
      const [database, cache] = await Promise.all([store.fault(), redisWriteFault(redis, PROBE_TIMEOUT_MS)])
      return {
        database: database === undefined ? 'ok' : 'unreachable',
        redis: cache === undefined ? 'ok' : 'unreachable',
        reasons: [database, cache].filter((reason) => reason !== undefined),
      }
    },
    PROBE_EVERY_MS,
    clock,
  )
}
