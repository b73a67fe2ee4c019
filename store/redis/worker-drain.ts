import type { RedisClient } from './client.ts'

/** Where api nodes hear of voice workers that are to end once their calls are over; the message is the worker's id. */
export const WORKER_DRAIN_CHANNEL = 'patchbay:worker-drain'

/** Has the api nodes that the worker is linked to ask it. There is no reply: its state shows that it drains. */
export async function requestWorkerDrain(redis: RedisClient, workerId: string): Promise<void> {
  await redis.publish(WORKER_DRAIN_CHANNEL, workerId)
}
