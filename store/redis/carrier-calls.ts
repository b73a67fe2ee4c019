import type { RedisClient } from './client.ts'

/** A carrier repeats what it said for hours at most. */
const KEPT_S = 86_400

/** Takes a call that a carrier announced, by the carrier's own id. False: a node took it within the last day. */
export async function claimCarrierCall(redis: RedisClient, provider: string, carrierId: string): Promise<boolean> {
  const key = `patchbay:carrier-call:${provider}:${carrierId}`
  return (await redis.set(key, '1', { condition: 'NX', expiration: { type: 'EX', value: KEPT_S } })) !== null
}
