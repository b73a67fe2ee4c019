import type { TrunkAttempt } from '../../runtime/plugin-sdk/telephony/trunk.ts'
import type { RedisClient } from './client.ts'

/** What trunks said to REGISTER and OPTIONS: the last fifty answers, and how many there were in each hour of a week. */

const KEPT = 50
const HOUR_MS = 3_600_000
const KEPT_HOURS = 7 * 24
const KEEP_MS = (KEPT_HOURS + 1) * HOUR_MS

/** Of one hour. */
export interface AttemptHour {
  startMs: number
  ok: number
  failed: number
}

const lastKey = (trunkId: string): string => `patchbay:trunk:${trunkId}:attempts`
const hoursKey = (trunkId: string): string => `patchbay:trunk:${trunkId}:attempt-hours`
const hourOf = (atMs: number): number => Math.floor(atMs / HOUR_MS)

export async function noteAttempt(redis: RedisClient, trunkId: string, attempt: TrunkAttempt): Promise<void> {
  const hour = hourOf(attempt.atMs)
  const [, , , count] = await redis
    .multi()
    .lPush(lastKey(trunkId), JSON.stringify(attempt))
    .lTrim(lastKey(trunkId), 0, KEPT - 1)
    .pExpire(lastKey(trunkId), KEEP_MS)
    .hIncrBy(hoursKey(trunkId), `${hour} ${attempt.ok ? 'ok' : 'failed'}`, 1)
    .pExpire(hoursKey(trunkId), KEEP_MS)
    .exec()
  // The first of an hour clears away what is older than is shown.
  if (Number(count) !== 1) return
  const old = (await redis.hKeys(hoursKey(trunkId))).filter((field) => Number.parseInt(field, 10) <= hour - KEPT_HOURS)
  if (old.length > 0) await redis.hDel(hoursKey(trunkId), old)
}

/** Newest first. */
export async function lastAttempts(redis: RedisClient, trunkId: string, most = KEPT): Promise<TrunkAttempt[]> {
  const found = await redis.lRange(lastKey(trunkId), 0, most - 1)
  return found.map((text) => JSON.parse(text) as TrunkAttempt)
}

/** Every hour of the week that ends now, oldest first. */
export async function attemptHours(redis: RedisClient, trunkId: string, nowMs: number): Promise<AttemptHour[]> {
  const counts = await redis.hGetAll(hoursKey(trunkId))
  const last = hourOf(nowMs)
  return Array.from({ length: KEPT_HOURS }, (_, at) => {
    const hour = last - KEPT_HOURS + 1 + at
    const count = (what: 'ok' | 'failed'): number => Number(counts[`${hour} ${what}`] ?? 0)
    return { startMs: hour * HOUR_MS, ok: count('ok'), failed: count('failed') }
  })
}
