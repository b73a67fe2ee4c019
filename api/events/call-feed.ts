import type { CallEvent } from '../../runtime/call/log/events.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { type LiveEvent, liveChannel } from '../../store/redis/live-feed.ts'

type Listener = (event: CallEvent) => void

/** What happens in calls as it happens, on whichever node, partial words included. */
export class CallFeed {
  readonly #subscriber: RedisClient
  /** By workspace, then by call. */
  readonly #listeners = new Map<string, Map<string, Set<Listener>>>()

  private constructor(subscriber: RedisClient) {
    this.#subscriber = subscriber
  }

  static async open(redis: RedisClient, log: Logger): Promise<CallFeed> {
    const subscriber = redis.duplicate() as RedisClient
    subscriber.on(
      'error',
      boundary('redis', (err: Error) => log.warn({ err }, 'Listening for live events was interrupted; reconnecting')),
    )
    await subscriber.connect()
    return new CallFeed(subscriber)
  }

  /** Tells the listener of every event from the time this resolves. Returns what ends it. */
  async listen(workspaceId: string, callId: string, listener: Listener): Promise<() => void> {
    const calls = this.#listeners.get(workspaceId) ?? new Map<string, Set<Listener>>()
    const isFirst = calls.size === 0
    const listeners = calls.get(callId) ?? new Set()
    this.#listeners.set(workspaceId, calls)
    calls.set(callId, listeners.add(listener))
    if (isFirst) await this.#subscriber.subscribe(liveChannel(workspaceId), this.#heard)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) calls.delete(callId)
      if (calls.size > 0 || this.#listeners.get(workspaceId) !== calls) return
      this.#listeners.delete(workspaceId)
      this.#subscriber.unsubscribe(liveChannel(workspaceId)).catch(() => undefined)
    }
  }

  stop(): void {
    this.#subscriber.destroy()
  }

  readonly #heard = boundary('redis', (message: string, channel: string): void => {
    const calls = this.#listeners.get(channel.slice(liveChannel('').length))
    if (calls === undefined) return
    for (const { call_id, ...event } of JSON.parse(message) as LiveEvent[]) {
      for (const listener of calls.get(call_id) ?? []) listener(event as CallEvent)
    }
  })
}
