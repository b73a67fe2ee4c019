import { backoffMs } from '../../lib/async/backoff.ts'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Logger } from '../../process/log.ts'
import { countLostRows } from '../../process/metrics/lost-rows.ts'
import { type CallEvent, isPassing } from './events.ts'
import { workspaceEventOf } from './workspace-event.ts'

/** Events are written together this often: what a node that dies has not written yet. */
const FLUSH_MS = 1_000
/** Events that wait for their first attempt; beyond, the oldest are lost, and it is said so. */
const MAX_WAITING = 50_000
/** Of rows that wait for a database that is away; beyond, the oldest are lost. */
const MAX_FAILED_CHARS = 64 << 20
const MAX_FAILED_ROWS = 50_000
/** A statement. */
const MAX_ROWS = 1_000
const MAX_BATCH_CHARS = 8 << 20
/** After a failed attempt. */
const FIRST_RETRY_MS = 1_000
const MOST_RETRY_MS = 10_000
/** Attempts in a row after which an error that is no outage is taken for the fault of a row. */
const MAX_FAILURES = 8

/** Events of one call that are written together; `events` is their JSON array. */
export interface JournalRow {
  workspaceId: string
  callId: string
  firstSeq: number
  lastSeq: number
  /** Of the first one, in ms since 1970. */
  at: number
  events: string
  /** Those of them that are published to the workspace. */
  told?: readonly CallEvent[]
}

export interface EventJournalOptions {
  /**
   * Writes the rows; resolves with those that are left, and why. What the database refuses is not left. A row may be given again after
   * a failure that wrote it. `isLastTry`: any failure but the connection's is blamed on a row.
   */
  write(rows: readonly JournalRow[], isLastTry: boolean): Promise<{ left: readonly JournalRow[]; error?: unknown }>
  log: Logger
  flushMs?: number
  random?: () => number
}

interface Waiting {
  workspaceId: string
  events: CallEvent[]
}

/** Writes the events of all calls of a node, about once a second in one statement. Holds no call up. */
export class EventJournal {
  readonly #options: EventJournalOptions
  readonly #flushMs: number
  #waiting = new Map<string, Waiting>()
  #count = 0
  /** Rows of an attempt that failed: as they were, so that none is written twice. */
  #failed: JournalRow[] = []
  #failures = 0
  #lost = 0
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined

  constructor(options: EventJournalOptions) {
    this.#options = options
    this.#flushMs = options.flushMs ?? FLUSH_MS
  }

  /** Takes an event of a call; those of a call in order. Partial words are not kept. */
  add(workspaceId: string, callId: string, event: CallEvent): void {
    if (isPassing(event)) return
    const waiting = this.#waiting.get(callId) ?? { workspaceId, events: [] }
    this.#waiting.set(callId, waiting)
    waiting.events.push(event)
    this.#count++
    if (this.#count > MAX_WAITING) this.#loseOldest()
    this.#timer ??= setTimeout(
      boundary('call', () => this.#tick()),
      this.#waitMs(),
    )
  }

  /** Resolves when what came so far is written, or could not be. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#flushing
    await this.#flush()
  }

  #tick(): void {
    this.#timer = undefined
    if (this.#flushing !== undefined) return
    this.#flushing = this.#flush().finally(() => {
      this.#flushing = undefined
      if (this.#count > 0 || this.#failed.length > 0)
        this.#timer ??= setTimeout(
          boundary('call', () => this.#tick()),
          this.#waitMs(),
        )
    })
    inBackground('call', this.#flushing)
  }

  #waitMs(): number {
    if (this.#failures === 0) return this.#flushMs
    const { random = Math.random } = this.#options
    return backoffMs(this.#failures, { firstMs: FIRST_RETRY_MS, mostMs: MOST_RETRY_MS, random })
  }

  /** Writes what came so far. What can't be written now is lost. */
  async stop(): Promise<void> {
    await this.flush()
    clearTimeout(this.#timer)
    this.#lose(this.#failed, 'unreachable')
    this.#failed = []
    this.#sayLost()
  }

  async #flush(): Promise<void> {
    const rows = this.#failed
    this.#failed = []
    for (const [callId, { workspaceId, events }] of this.#waiting) rows.push(rowOf(workspaceId, callId, events))
    this.#waiting = new Map()
    this.#count = 0
    while (rows.length > 0) {
      const batch = rows.splice(0, batchSize(rows))
      const { left, error } = await this.#write(batch)
      if (left.length > 0) {
        this.#failures++
        this.#keep([...left, ...rows])
        this.#options.log.warn({ err: error, rows: this.#failed.length }, 'Could not write events of calls yet')
        return
      }
      this.#failures = 0
    }
    this.#sayLost()
  }

  async #write(batch: readonly JournalRow[]): Promise<{ left: readonly JournalRow[]; error?: unknown }> {
    try {
      return await this.#options.write(batch, this.#failures >= MAX_FAILURES)
    } catch (error) {
      return { left: batch, error }
    }
  }

  /** Rows for the next attempt: as many of the newest as there is room for. */
  #keep(rows: JournalRow[]): void {
    let first = rows.length
    for (let chars = 0; first > 0 && rows.length - first < MAX_FAILED_ROWS; first--) {
      chars += rows[first - 1]!.events.length
      if (chars > MAX_FAILED_CHARS) break
    }
    this.#lose(rows.slice(0, first), 'overflow')
    this.#failed = rows.slice(first)
  }

  #lose(rows: readonly JournalRow[], reason: 'overflow' | 'unreachable'): void {
    if (rows.length === 0) return
    for (const { firstSeq, lastSeq } of rows) this.#lost += lastSeq - firstSeq + 1
    countLostRows('call_events', reason, rows.length)
  }

  #sayLost(): void {
    if (this.#lost > 0)
      this.#options.log.error({ events: this.#lost }, 'Events of calls were dropped: the queue was full')
    this.#lost = 0
  }

  #loseOldest(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    const [callId, { events }] = first
    this.#waiting.delete(callId)
    this.#count -= events.length
    this.#lost += events.length
    countLostRows('call_events', 'overflow')
  }
}

/** How many of the rows, at least one, go into one statement. */
function batchSize(rows: readonly JournalRow[]): number {
  let size = 0
  for (let chars = 0; size < rows.length && size < MAX_ROWS; size++) {
    chars += rows[size]!.events.length
    if (size > 0 && chars > MAX_BATCH_CHARS) break
  }
  return size
}

function rowOf(workspaceId: string, callId: string, events: readonly CallEvent[]): JournalRow {
  const first = events[0]!
  const last = events.at(-1)!
  const row = { workspaceId, callId, firstSeq: first.seq, lastSeq: last.seq, at: first.at }
  return {
    ...row,
    events: JSON.stringify(events),
    told: events.filter((event) => workspaceEventOf(event) !== undefined),
  }
}
