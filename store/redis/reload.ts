import { inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { RedisClient } from './client.ts'
import { type Subscription, subscribe } from './subscribe.ts'

/** Where api nodes and job workers hear that an operator wants their settings read anew. */
const RELOAD_CHANNEL = 'patchbay:reload'

/** Has every api node and job worker reload; their logs have what came of it. Returns how many there are. */
export function requestReload(redis: RedisClient): Promise<number> {
  return redis.publish(RELOAD_CHANNEL, '')
}

/** Calls `reload` whenever an operator asks; why one fails is in the log already. */
export function listenForReloads(
  redis: RedisClient,
  log: Logger,
  reload: (reason: string) => Promise<unknown>,
): Promise<Subscription> {
  return subscribe(redis, RELOAD_CHANNEL, { what: 'Listening for reloads', log }, () =>
    inBackground('redis', reload('an operator').then(noted, noted)),
  )
}

const noted = (): void => {}
