import type { RedisClient } from './client.ts'

/** What became of a trunk, newest first: the last fifty, kept a month. */

const KEPT = 50
const KEEP_MS = 30 * 86_400_000

export interface StoredTrunkEvent {
  type: 'down' | 'up'
  status: number
  reason: string
  atMs: number
}

/** Notes it, unless it is what was last said: several nodes see the same. True: it is news. */
export async function noteTrunkEvent(redis: RedisClient, trunkId: string, event: StoredTrunkEvent): Promise<boolean> {
  const before = await redis.set(`patchbay:trunk:${trunkId}:state`, event.type, {
    GET: true,
    expiration: { type: 'PX', value: KEEP_MS },
  })
  // That a trunk answers is no news unless it did not.
  if (before === event.type || (before === null && event.type === 'up')) return false
  const key = `patchbay:trunk:${trunkId}:events`
  await redis
    .multi()
    .lPush(key, JSON.stringify(event))
    .lTrim(key, 0, KEPT - 1)
    .pExpire(key, KEEP_MS)
    .exec()
  return true
}

export async function trunkEvents(redis: RedisClient, trunkId: string): Promise<StoredTrunkEvent[]> {
  const found = await redis.lRange(`patchbay:trunk:${trunkId}:events`, 0, -1)
  return found.map((text) => JSON.parse(text) as StoredTrunkEvent)
}
