import { randomUUID } from 'node:crypto'
import type { RedisClient } from './client.ts'
import { loadScript } from './scripts/run.ts'

/** How many attempts of a key failed, and how many run at all nodes, in Redis. */

const takeScript = loadScript('take-attempt-2.lua')

/** An attempt of a node that died counts as under way for so long. */
const LEASE_MS = 60_000

/** Both keys of an attempt carry its own as their hash tag, so that one script reaches both. */
const underWayKey = (key: string): string => `patchbay:{${key}}:under-way`
const failuresKey = (key: string): string => `patchbay:{${key}}`

type Place = { readonly kind: 'taken'; release(): Promise<void> } | { readonly kind: 'wait' | 'locked' }

/** `wait`: the attempts under way could, if all failed, reach the limit; `locked`: it is reached. */
export async function takeAttempt(redis: RedisClient, key: string, most: number): Promise<Place> {
  const id = randomUUID()
  const found = await takeScript.run(redis, [failuresKey(key), underWayKey(key)], [id, LEASE_MS, most])
  if (found === 2) return { kind: 'locked' }
  if (found === 1) return { kind: 'wait' }
  return {
    kind: 'taken',
    async release() {
      await redis.zRem(underWayKey(key), id)
    },
  }
}

/** Returns how many there are now; they are forgotten `windowS` after the first. */
export async function countFailure(redis: RedisClient, key: string, windowS: number): Promise<number> {
  const [n] = await redis.multi().incr(failuresKey(key)).expire(failuresKey(key), windowS, 'NX').exec()
  return Number(n)
}

/** Takes one back. A window that has ended meanwhile begins anew, and ends, too. */
export async function takeBackFailure(redis: RedisClient, key: string, windowS: number): Promise<void> {
  await redis.multi().decr(failuresKey(key)).expire(failuresKey(key), windowS, 'NX').exec()
}

export async function forgetFailures(redis: RedisClient, key: string): Promise<void> {
  await redis.del(failuresKey(key))
}

/** Until its failures are forgotten, at least 1. */
export async function secondsLocked(redis: RedisClient, key: string): Promise<number> {
  return Math.max(await redis.ttl(failuresKey(key)), 1)
}
