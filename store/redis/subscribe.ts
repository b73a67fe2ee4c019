import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { RedisClient } from './client.ts'

export interface Subscription {
  stop(): void
}

/**
 * Hears a channel over a connection of its own, which comes back by itself. What is said while it is away is lost; the log then
 * says `<what> was interrupted`. Rejects when the first connection fails.
 */
export async function subscribe(
  redis: RedisClient,
  channel: string,
  { what, log }: { what: string; log: Logger },
  heard: (message: string) => void,
): Promise<Subscription> {
  const subscriber = redis.duplicate()
  subscriber.on(
    'error',
    boundary('redis', (err) => log.warn({ err }, `${what} was interrupted; reconnecting`)),
  )
  await subscriber.connect()
  await subscriber.subscribe(channel, boundary('redis', heard))
  return { stop: () => subscriber.destroy() }
}
