import type { RedisClient } from './client.ts'

/** Where api nodes hear of calls to be ended. */
export const HANGUP_CHANNEL = 'patchbay:hangup'

interface HangupOrder {
  callId: string
  /** Who ends it, for its log; absent: no user, as when a workspace is closed. */
  who?: { id: string; name: string }
}

/** Asks every api node to end the call, whether it is being dialled or connected. There is no reply. */
export async function requestHangup(redis: RedisClient, callId: string, who?: HangupOrder['who']): Promise<void> {
  const order: HangupOrder = { callId, ...(who === undefined ? {} : { who }) }
  await redis.publish(HANGUP_CHANNEL, JSON.stringify(order))
}

/** The order of a message; a node of an older version sends the call's id alone. */
export const hangupOrderOf = (message: string): HangupOrder =>
  message.startsWith('{') ? (JSON.parse(message) as HangupOrder) : { callId: message }
