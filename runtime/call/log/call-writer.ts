import { backoffMs } from '../../lib/async/backoff.ts'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Logger } from '../../process/log.ts'
import { countLostRows } from '../../process/metrics/lost-rows.ts'
import type { ServingAgent } from '../types/usage.ts'
import { changesStatus, turnOf } from './call-change.ts'
import { type CallEntry, entriesOf, entryOf } from './call-entry.ts'
import { type CallEvent, isPassing } from './events.ts'

/** Events are written together this often: what a node that dies has not written yet. */
const FLUSH_MS = 1_000
/** Events that wait for their first attempt; beyond, the oldest are lost, and it is said so. */
const MAX_WAITING = 50_000
/** Of entries that wait for a database that is away; beyond, the oldest are lost. */
const MAX_FAILED_CHARS = 64 << 20
const MAX_FAILED_ENTRIES = 50_000
/** A transaction. */
const MAX_ENTRIES = 1_000
const MAX_BATCH_CHARS = 8 << 20
/** After a failed attempt. */
const FIRST_RETRY_MS = 1_000
const MOST_RETRY_MS = 10_000
/** Attempts in a row after which an error that is no outage is taken for the fault of an entry. */
const MAX_FAILURES = 8
/** A call that is over waits so long for a database that is away; it is written later all the same. */
const WAIT_FOR_END_MS = 10_000

interface CallWriterOptions {
  /**
   * Writes the entries; resolves with those that are left, and why. What the database refuses is not left. An entry may be given again
   * after a failure that wrote it. `isLastTry`: any failure but the connection's is blamed on an entry.
   */
  write(entries: readonly CallEntry[], isLastTry: boolean): Promise<{ left: readonly CallEntry[]; error?: unknown }>
  log: Logger
  flushMs?: number
  random?: () => number
}

interface Waiting {
  workspaceId: string
  events: CallEvent[]
  firstTurn: number
  serving?: ServingAgent | undefined
}

/** What the log says with an event. */
interface EventContext {
  /** Turns so far, the event's own among them. */
  turns: number
  serving?: ServingAgent | undefined
}

/**
 * The one writer of this node's calls: their events, their rows and what is published of them go into the database together, about
 * once a second, and at once when a call changes its status. Holds no call up.
 */
export class CallWriter {
  readonly #options: CallWriterOptions
  readonly #flushMs: number
  #waiting = new Map<string, Waiting>()
  #count = 0
  /** Being written, or left by an attempt that failed: as they were, so that none is written twice. */
  #entries: CallEntry[] = []
  #failures = 0
  #lost = 0
  #timer: NodeJS.Timeout | undefined
  #isUrgent = false
  #flushing: Promise<void> | undefined
  /** Calls whose end waits to be written. */
  readonly #ends = new Map<string, PromiseWithResolvers<void>>()

  constructor(options: CallWriterOptions) {
    this.#options = options
    this.#flushMs = options.flushMs ?? FLUSH_MS
  }

  /** Takes an event of a call; those of a call in order. Partial words are not kept. */
  add(workspaceId: string, callId: string, event: CallEvent, { turns, serving }: EventContext = { turns: 0 }): void {
    if (isPassing(event)) return
    const firstTurn = turnOf(event) === undefined ? turns : turns - 1
    const before = this.#waiting.get(callId)
    // What one agent used is written apart from what the next one does.
    if (before !== undefined && before.serving?.handedTo !== serving?.handedTo) this.#close(callId, before)
    const waiting: Waiting = this.#waiting.get(callId) ?? { workspaceId, events: [], firstTurn }
    if (serving !== undefined) waiting.serving = serving
    this.#waiting.set(callId, waiting)
    waiting.events.push(event)
    this.#count++
    if (this.#count > MAX_WAITING) this.#loseOldest()
    if (isUrgent(event) && !this.#isUrgent) {
      this.#isUrgent = true
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
    this.#schedule()
  }

  /** Nothing is added to these events any more. */
  #close(callId: string, { workspaceId, events, ...context }: Waiting): void {
    this.#waiting.delete(callId)
    this.#count -= events.length
    this.#entries.push(...entriesOf(workspaceId, callId, events, context))
  }

  /** Resolves when nothing of the call waits to be written, or the database is away for long. */
  async written(callId: string): Promise<void> {
    const settled = this.settled(callId)
    if (settled === undefined) return
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, WAIT_FOR_END_MS)
    await Promise.race([settled, late.promise])
    clearTimeout(timer)
  }

  /** Resolves when nothing of the call waits to be written, however long that takes; undefined: nothing does. */
  settled(callId: string): Promise<void> | undefined {
    if (!this.#isPending(callId)) return undefined
    const end = this.#ends.get(callId) ?? Promise.withResolvers<void>()
    this.#ends.set(callId, end)
    return end.promise
  }

  /** Resolves when what came so far is written, or could not be. */
  async flush(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#run()
  }

  #schedule(): void {
    if (this.#flushing !== undefined) return
    this.#timer ??= setTimeout(
      boundary('call', () => this.#tick()),
      this.#waitMs(),
    )
  }

  #tick(): void {
    this.#timer = undefined
    inBackground('call', this.#run())
  }

  /** One at a time. */
  #run(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined
      if (this.#count > 0 || this.#entries.length > 0) this.#schedule()
    })
    return this.#flushing
  }

  #waitMs(): number {
    if (this.#failures === 0) return this.#isUrgent ? 0 : this.#flushMs
    const { random = Math.random } = this.#options
    return backoffMs(this.#failures, { firstMs: FIRST_RETRY_MS, mostMs: MOST_RETRY_MS, random })
  }

  /** Writes what came so far. What can't be written now is lost. */
  async stop(): Promise<void> {
    await this.flush()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#lose(this.#entries, 'unreachable')
    this.#entries = []
    this.#settleEnds()
    this.#sayLost()
  }

  async #flush(): Promise<void> {
    this.#isUrgent = false
    for (const [callId, waiting] of [...this.#waiting]) this.#close(callId, waiting)
    while (this.#entries.length > 0) {
      const batch = this.#entries.slice(0, batchSize(this.#entries))
      const { left, error } = await this.#write(batch)
      const rest = this.#entries.slice(batch.length)
      this.#entries = [...left, ...rest]
      this.#settleEnds()
      if (left.length > 0) {
        this.#failures++
        this.#bound()
        this.#options.log.warn({ err: error, rows: this.#entries.length }, 'Could not write events of calls yet')
        return
      }
      this.#failures = 0
    }
    this.#sayLost()
  }

  async #write(batch: readonly CallEntry[]): Promise<{ left: readonly CallEntry[]; error?: unknown }> {
    try {
      return await this.#options.write(batch, this.#failures >= MAX_FAILURES)
    } catch (error) {
      return { left: batch, error }
    }
  }

  #isPending(callId: string): boolean {
    return this.#waiting.has(callId) || this.#entries.some((entry) => entry.callId === callId)
  }

  #settleEnds(): void {
    if (this.#ends.size === 0) return
    const pending = new Set([...this.#waiting.keys(), ...this.#entries.map(({ callId }) => callId)])
    for (const [callId, end] of this.#ends) {
      if (pending.has(callId)) continue
      this.#ends.delete(callId)
      end.resolve()
    }
  }

  /** Of the entries for the next attempt the newest stay, as many as there is room for, and of the others the ends. */
  #bound(): void {
    let first = this.#entries.length
    for (let chars = 0; first > 0 && this.#entries.length - first < MAX_FAILED_ENTRIES; first--) {
      chars += charsOf(this.#entries[first - 1]!)
      if (chars > MAX_FAILED_CHARS) break
    }
    const old = this.#entries.slice(0, first)
    const ends = old.filter(isBareEnd)
    const lost = old.filter((entry) => !isBareEnd(entry))
    this.#lose(lost, 'overflow')
    this.#entries = [...ends, ...lost.flatMap(endOf), ...this.#entries.slice(first)]
  }

  #lose(entries: readonly CallEntry[], reason: 'overflow' | 'unreachable'): void {
    if (entries.length === 0) return
    for (const { firstSeq, lastSeq } of entries) this.#lost += lastSeq - firstSeq + 1
    countLostRows('call_events', reason, entries.length)
  }

  #sayLost(): void {
    if (this.#lost > 0)
      this.#options.log.error({ events: this.#lost }, 'Events of calls were dropped: the queue was full')
    this.#lost = 0
  }

  #loseOldest(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    const [callId, { events, ...waiting }] = first
    const ends = events.filter(({ type }) => type === 'ended')
    this.#waiting.delete(callId)
    // Behind all others: an end is not lost as long as there is anything else.
    if (ends.length > 0) this.#waiting.set(callId, { ...waiting, events: ends })
    const lost = events.length - ends.length
    this.#count -= lost
    this.#lost += lost
    countLostRows('call_events', 'overflow')
  }
}

/** What others wait for: the status, and how the carrier is asked about the call. */
const isUrgent = (event: CallEvent): boolean =>
  changesStatus(event) || (event.type === 'carrier' && event.call_id !== undefined)

const charsOf = ({ events }: CallEntry): number => events?.length ?? 0

const isBareEnd = ({ firstSeq, lastSeq, change }: CallEntry): boolean =>
  firstSeq === lastSeq && change?.end !== undefined

/** The end alone: without it the call holds its places. */
function endOf({ workspaceId, callId, events, change, serving }: CallEntry): CallEntry[] {
  if (events === undefined || change?.end === undefined) return []
  const last = (JSON.parse(events) as CallEvent[]).at(-1)!
  return [entryOf(workspaceId, callId, [last], serving === undefined ? {} : { serving })]
}

/** How many of the entries, at least one, go into one transaction. */
function batchSize(entries: readonly CallEntry[]): number {
  let size = 0
  for (let chars = 0; size < entries.length && size < MAX_ENTRIES; size++) {
    chars += charsOf(entries[size]!)
    if (size > 0 && chars > MAX_BATCH_CHARS) break
  }
  return size
}
