import { LEASE_MS } from '../../runtime/call/control/leases.ts'
import type { QuotaClaim, QuotaPlaces } from '../../runtime/call/control/quotas.ts'
import type { RedisClient } from './client.ts'
import { loadScript } from './scripts/run.ts'

const takeScript = loadScript('take-quota-2.lua')
const renewScript = loadScript('renew-quota-2.lua')

/** Both keys of a call carry its workspace as their hash tag, so that one script reaches both. */
const keysOf = (claim: QuotaClaim): string[] => {
  const prefix = `patchbay:{quota:${claim.workspaceId}}`
  return claim.kind === 'web'
    ? [`${prefix}:web`, `${prefix}:web-sessions`]
    : [`${prefix}:workspace`, `${prefix}:number:${claim.number}`]
}

/** How many calls each workspace and number has at once, in Redis. */
export function redisQuotaPlaces(redis: RedisClient): QuotaPlaces {
  return {
    async take(claim, { workspace, number }) {
      const full = await takeScript.run(redis, keysOf(claim), [claim.callId, LEASE_MS, workspace ?? -1, number ?? -1])
      return full === 1 ? 'workspace_full' : full === 2 ? 'number_full' : 'taken'
    },
    async renew(claim) {
      await renewScript.run(redis, keysOf(claim), [claim.callId, LEASE_MS])
    },
    async release(claim) {
      await Promise.all(keysOf(claim).map((key) => redis.zRem(key, claim.callId)))
    },
  }
}
