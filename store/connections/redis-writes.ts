import { randomUUID } from 'node:crypto'
import type { RedisClient } from '../redis/client.ts'
import { RedisSilentError, redisOutage } from './outage.ts'

const KEY = `patchbay:write-check:${randomUUID()}`
const KEY_TTL_MS = 60_000

/**
 * Writes a key to Redis, as a server that answers pings may refuse all writes: full, read-only, without its disk or its replicas.
 * Returns why it does not work; undefined: it does.
 */
export async function redisWriteFault(
  redis: Pick<RedisClient, 'multi'>,
  timeoutMs: number,
): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RedisSilentError(timeoutMs)), timeoutMs)
  })
  try {
    // A transaction is not asked again where the server refuses it: what it says is wanted now.
    const written = redis
      .multi()
      .set(KEY, '1', { expiration: { type: 'PX', value: KEY_TTL_MS } })
      .exec()
    await Promise.race([written, late])
    return undefined
  } catch (error) {
    return redisOutage(error) ?? `Redis refused a write (${(error as Error).message})`
  } finally {
    clearTimeout(timer)
  }
}
