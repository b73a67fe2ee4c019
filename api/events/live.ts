import type { Logger } from '../../runtime/process/log.ts'
import type { Store } from '../../store/database/database.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { CallFeed } from './call-feed.ts'
import type { EventQueue } from './server-sent.ts'
import { WorkspaceFeed } from './workspace-feed.ts'

/** The live streams of a node. */
export interface Live {
  readonly workspace: WorkspaceFeed
  readonly calls: CallFeed
  /** Streams of calls, by workspace. */
  readonly callStreams: ReadonlyMap<string, number>
  add(workspaceId: string, queue: EventQueue): void
  remove(workspaceId: string, queue: EventQueue): void
  /** Ends all streams. */
  stop(): void
}

export async function openLive(options: {
  store: Store
  redis: RedisClient
  publicUrl: () => string
  log: Logger
}): Promise<Live> {
  const { store, redis, publicUrl, log } = options
  const workspace = new WorkspaceFeed(store, publicUrl, log)
  const calls = await CallFeed.open(redis, log)
  const queues = new Set<EventQueue>()
  const callStreams = new Map<string, number>()
  return {
    workspace,
    calls,
    callStreams,
    add(workspaceId, queue) {
      queues.add(queue)
      callStreams.set(workspaceId, (callStreams.get(workspaceId) ?? 0) + 1)
    },
    remove(workspaceId, queue) {
      if (!queues.delete(queue)) return
      const left = (callStreams.get(workspaceId) ?? 1) - 1
      if (left === 0) callStreams.delete(workspaceId)
      else callStreams.set(workspaceId, left)
    },
    stop() {
      workspace.stop()
      for (const queue of queues) queue.close()
      calls.stop()
    },
  }
}
