import type { RedisClient } from './client.ts'

/** Where api nodes hear of calls to be ended; the message is the call's id. */
export const HANGUP_CHANNEL = 'patchbay:hangup'

/** Asks every api node to end the call, whether it is being dialled or talks. Nobody answers. */
export async function requestHangup(redis: RedisClient, callId: string): Promise<void> {
  await redis.publish(HANGUP_CHANNEL, callId)
}
