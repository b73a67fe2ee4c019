import { randomUUID } from 'node:crypto'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { RedisClient } from './client.ts'
import { subscribe } from './subscribe.ts'

/** Word among the nodes that something was changed in the database. */
interface Changes {
  /** Calls back after each change, on whichever node it was made; the returned function ends it. */
  watch(changed: () => Promise<void>): () => void
  /** Notifies every node; resolves once all local watchers have run, so that the change is usable on this node. */
  tell(): Promise<void>
  stop(): void
}

/** Rejects when the first connection fails. */
export async function openChanges(
  redis: RedisClient,
  channel: string,
  options: { what: string; log: Logger },
): Promise<Changes> {
  const own = randomUUID()
  const watchers = new Set<() => Promise<void>>()
  const toldAll = (): Promise<unknown> => Promise.all([...watchers].map((changed) => changed()))
  const subscription = await subscribe(redis, channel, options, (from) => {
    if (from !== own) inBackground('redis', toldAll())
  })
  return {
    watch(changed) {
      watchers.add(changed)
      return () => watchers.delete(changed)
    },
    async tell() {
      await Promise.all([redis.publish(channel, own), toldAll()])
    },
    stop: () => subscription.stop(),
  }
}
