import type { Logger } from '../log.ts'
import { boundary, inBackground } from '../process/boundary.ts'
import { type CallEvent, isPassing } from './events.ts'
import { toldAs } from './told.ts'

/** Events are written together this often: what a node that dies has not written yet. */
const FLUSH_MS = 1_000
/** Events that wait for a database that is away; beyond, the oldest are lost, and it is said so. */
const MAX_WAITING = 50_000
/** Rows a statement. */
const MAX_ROWS = 1_000
/** After a failed attempt the next waits so much longer, up to the last. */
const BACKOFF_MS = [1_000, 2_000, 5_000, 10_000] as const

/** Events of one call that are written together; `events` is their JSON array. */
export interface JournalRow {
  workspaceId: string
  callId: string
  firstSeq: number
  lastSeq: number
  /** Of the first one, in ms since 1970. */
  at: number
  events: string
  /** Those of them that are told to the workspace. */
  told?: readonly CallEvent[]
}

export interface EventJournalOptions {
  /** Writes the rows, or throws. A row may be given again after a failure that wrote it. */
  write(rows: readonly JournalRow[]): Promise<void>
  log: Logger
  flushMs?: number
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
    return this.#failures === 0 ? this.#flushMs : (BACKOFF_MS[this.#failures - 1] ?? BACKOFF_MS.at(-1)!)
  }

  async #flush(): Promise<void> {
    const rows = this.#failed
    this.#failed = []
    for (const [callId, { workspaceId, events }] of this.#waiting) rows.push(rowOf(workspaceId, callId, events))
    this.#waiting = new Map()
    this.#count = 0
    while (rows.length > 0) {
      const batch = rows.splice(0, MAX_ROWS)
      try {
        await this.#options.write(batch)
        this.#failures = 0
      } catch (err) {
        this.#failures++
        this.#failed = [...batch, ...rows].slice(-MAX_WAITING)
        this.#options.log.warn({ err, rows: this.#failed.length }, 'Events of calls could not be written yet')
        return
      }
    }
    if (this.#lost > 0) this.#options.log.error({ events: this.#lost }, 'Events of calls were lost: too many waited')
    this.#lost = 0
  }

  #loseOldest(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    const [callId, { events }] = first
    this.#waiting.delete(callId)
    this.#count -= events.length
    this.#lost += events.length
  }
}

function rowOf(workspaceId: string, callId: string, events: readonly CallEvent[]): JournalRow {
  const first = events[0]!
  const last = events.at(-1)!
  const row = { workspaceId, callId, firstSeq: first.seq, lastSeq: last.seq, at: first.at }
  return { ...row, events: JSON.stringify(events), told: events.filter((event) => toldAs(event) !== undefined) }
}
