import type { RedisClient } from '../redis/client.ts'
import type { Store } from './database.ts'

export interface Reachable {
  readonly database: 'ok' | 'unreachable'
  readonly redis: 'ok' | 'unreachable'
}

const CHECK_TIMEOUT_MS = 2_000

/** Asks both; one that doesn't answer within 2 s is unreachable. */
export async function reachable(store: Pick<Store, 'pool'>, redis: Pick<RedisClient, 'ping'>): Promise<Reachable> {
  const [database, cache] = await Promise.all([answers(store.pool.query('select 1')), answers(redis.ping())])
  return { database: database ? 'ok' : 'unreachable', redis: cache ? 'ok' : 'unreachable' }
}

async function answers(asked: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, CHECK_TIMEOUT_MS, false)
  })
  const answered = asked.then(
    () => true,
    () => false,
  )
  return Promise.race([answered, late]).finally(() => clearTimeout(timer))
}
