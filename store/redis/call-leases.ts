import { type CallLeases, LEASE_MS } from '../../runtime/call/control/leases.ts'
import type { RedisClient } from './client.ts'
import { loadScript } from './scripts/run.ts'
import { redisNowMs } from './slots.ts'

const LEASES = 'patchbay:{calls}:leases'

const renewScript = loadScript('renew-leases-1.lua')
const unleasedScript = loadScript('unleased-calls-1.lua')

/** Those of the calls that no api node holds. */
export async function unleasedCalls(redis: RedisClient, callIds: readonly string[]): Promise<string[]> {
  if (callIds.length === 0) return []
  return (await unleasedScript.run(redis, [LEASES], callIds)) as string[]
}

/** What is left of the leases of these calls, in ms; a call that has none is left out. */
export async function leasesOf(redis: RedisClient, callIds: readonly string[]): Promise<Map<string, number>> {
  if (callIds.length === 0) return new Map()
  const [ends, nowMs] = await Promise.all([redis.zmScore(LEASES, [...callIds]), redisNowMs(redis)])
  return new Map(
    callIds.flatMap((id, at): [string, number][] => {
      const end = ends[at]
      return typeof end === 'number' ? [[id, Math.round(end - nowMs)]] : []
    }),
  )
}

export function redisCallLeases(redis: RedisClient): CallLeases {
  return {
    async renew(callIds) {
      await renewScript.run(redis, [LEASES], [LEASE_MS, ...callIds])
    },
    async drop(callId) {
      await redis.zRem(LEASES, callId)
    },
  }
}
