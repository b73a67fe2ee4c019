import type { CallEvent } from '../../runtime/call/log/events.ts'
import type { LiveFeed } from '../../runtime/call/log/live-feed.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { RedisClient } from './client.ts'

/** Events gathered for one message, and messages on their way at once; more are lost: what is live is not for later. */
const GATHER_MS = 25
const MAX_GATHERED = 10_000
const MAX_PUBLISHING = 200

/** One event on its way: `call_id` beside what the event is. */
export type LiveEvent = CallEvent & { readonly call_id: string }

/** Where the events of a workspace's calls are heard: each message is a JSON array of LiveEvent. */
export const liveChannel = (workspaceId: string): string => `patchbay:events:${workspaceId}`

interface RedisLiveFeed extends LiveFeed {
  /** Publishes nothing any more. */
  stop(): void
}

/** Publishes over Redis, by workspace, what happens in all calls of this node. A Redis that is away or slow costs events only. */
export function redisLiveFeed(redis: Pick<RedisClient, 'publish' | 'isReady'>, log: Logger): RedisLiveFeed {
  let gathered = new Map<string, LiveEvent[]>()
  let count = 0
  let publishing = 0
  let lost = 0
  let timer: NodeJS.Timeout | undefined

  const send = boundary('redis', () => {
    timer = undefined
    const events = gathered
    gathered = new Map()
    count = 0
    if (lost > 0) log.warn({ events: lost }, 'Live events were lost: Redis is slow or away')
    lost = 0
    for (const [workspaceId, some] of events) {
      if (!redis.isReady || publishing >= MAX_PUBLISHING) {
        lost += some.length
        continue
      }
      publishing++
      redis
        .publish(liveChannel(workspaceId), JSON.stringify(some))
        .catch(() => {
          lost += some.length
        })
        .finally(() => {
          publishing--
        })
    }
  })

  return {
    publish(workspaceId, callId, event) {
      if (count >= MAX_GATHERED) {
        lost++
        return
      }
      const some = gathered.get(workspaceId) ?? []
      gathered.set(workspaceId, some)
      some.push({ ...event, call_id: callId })
      count++
      timer ??= setTimeout(send, GATHER_MS)
    },
    stop() {
      clearTimeout(timer)
      gathered = new Map()
      count = 0
    },
  }
}
