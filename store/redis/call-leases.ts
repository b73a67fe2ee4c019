import { type CallLeases, LEASE_MS } from '../../runtime/call/control/leases.ts'
import type { RedisClient } from './client.ts'
import { loadScript } from './scripts/run.ts'

const LEASES = 'patchbay:{calls}:leases'

const renewScript = loadScript('renew-leases-1.lua')
const unleasedScript = loadScript('unleased-calls-1.lua')

/** Those of the calls that no api node holds. */
export async function unleasedCalls(redis: RedisClient, callIds: readonly string[]): Promise<string[]> {
  if (callIds.length === 0) return []
  return (await unleasedScript.run(redis, [LEASES], callIds)) as string[]
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
