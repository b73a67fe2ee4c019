import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Store } from '../../store/database/database.ts'
import {
  eventsAfter,
  type FeedPosition,
  lastPlace,
  placeText,
  type StoredEvent,
} from '../../store/events/workspace-events.ts'
import { eventMessage } from '../../workers/webhooks/event-data.ts'
import { eventData } from './data.ts'
import type { EventQueue } from './server-sent.ts'
import { isAskedFor } from './types.ts'

const POLL_MS = 200
const READ_AT_ONCE = 500
const REST_MS = 1_000

interface Reader {
  workspaceId: string
  types: readonly string[]
  queue: EventQueue
  /** It has seen everything up to here. */
  place: FeedPosition
}

/** The events of workspaces as they come, for all live streams of a node: one query at a time for all readers. */
export class WorkspaceFeed {
  readonly #store: Store
  readonly #publicUrl: () => string
  readonly #log: Logger
  readonly #readers = new Set<Reader>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(store: Store, publicUrl: () => string, log: Logger) {
    this.#store = store
    this.#publicUrl = publicUrl
    this.#log = log
  }

  count(workspaceId: string): number {
    return [...this.#readers].filter((reader) => reader.workspaceId === workspaceId).length
  }

  /**
   * Puts events of these types into the queue, after this place or from now on. Returns what ends it.
   */
  async open(
    workspaceId: string,
    types: readonly string[],
    after: FeedPosition | undefined,
    queue: EventQueue,
  ): Promise<() => void> {
    const place = after ?? (await lastPlace(this.#store))
    const reader: Reader = { workspaceId, types, queue, place }
    if (this.#stopped) queue.close()
    else if (after !== undefined) await this.#readFor([reader])
    if (!this.#stopped) this.#readers.add(reader)
    this.#timer ??= setTimeout(
      boundary('redis', () => inBackground('redis', this.#turn())),
      0,
    )
    return () => {
      this.#readers.delete(reader)
    }
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    for (const { queue } of this.#readers) queue.close()
    this.#readers.clear()
  }

  async #turn(): Promise<void> {
    let waitMs = POLL_MS
    try {
      if (await this.#read()) waitMs = 0
    } catch (err) {
      this.#log.warn({ err }, 'Live events could not be read')
      waitMs = REST_MS
    }
    this.#timer =
      this.#readers.size === 0 || this.#stopped
        ? undefined
        : setTimeout(
            boundary('redis', () => inBackground('redis', this.#turn())),
            waitMs,
          )
  }

  /** True when there is more. */
  async #read(): Promise<boolean> {
    // One that reads slowly waits where it stands: nothing of it is lost.
    return this.#readFor([...this.#readers].filter(({ queue }) => queue.waiting < READ_AT_ONCE))
  }

  async #readFor(readers: readonly Reader[]): Promise<boolean> {
    const after = readers.map(({ workspaceId, place }) => ({ workspaceId, place }))
    const found = await eventsAfter(this.#store, after, READ_AT_ONCE)
    const wanted = new Map<string, StoredEvent>()
    for (const [i, events] of found.entries()) {
      for (const event of events) if (isAskedFor(event.type, readers[i]?.types ?? [])) wanted.set(event.id, event)
    }
    const list = [...wanted.values()]
    const data = await eventData(this.#store, this.#publicUrl(), list)
    const messages = new Map(list.map((event, i) => [event.id, eventMessage(event, data[i] ?? {})]))
    for (const [i, reader] of readers.entries()) {
      for (const event of found[i] ?? []) {
        reader.place = { transaction: event.transaction, seq: event.seq }
        if (!isAskedFor(event.type, reader.types)) continue
        reader.queue.push({ id: placeText(event), event: event.type, data: messages.get(event.id) })
      }
    }
    return found.some((events) => events.length === READ_AT_ONCE)
  }
}
