import { addressNetwork } from '../../runtime/lib/address-network.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { RedisClient } from '../../store/redis/client.ts'

const WINDOW_S = 3600
const keyOf = (agentId: string, address: string) => `patchbay:public:${agentId}:${addressNetwork(address)}`

/** Counts a session that an address opens with a public agent. Throws `too_many_sessions` with Retry-After over `most` an hour. */
export async function throttleSessions(
  redis: RedisClient,
  { agentId, address, most }: { agentId: string; address: string; most: number },
): Promise<void> {
  const key = keyOf(agentId, address)
  const [count] = await redis.multi().incr(key).expire(key, WINDOW_S, 'NX').exec()
  if (Number(count) <= most) return
  const leftS = Math.max(await redis.ttl(key), 1)
  throw new PatchbayError('too_many_sessions', { headers: { 'retry-after': String(leftS) } })
}
