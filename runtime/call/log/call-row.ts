import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../../lib/async/backoff.ts'
import { boundary } from '../../lib/async/boundary.ts'
import type { Logger } from '../../process/log.ts'
import { countLostRows } from '../../process/metrics/lost-rows.ts'
import { addUsage, NO_USAGE } from '../types/add-usage.ts'
import type { Outcome } from '../types/outcome.ts'
import type { Usage } from '../types/usage.ts'
import type { CallEvent, EventOf } from './events.ts'
import type { CallJournal } from './journal.ts'

const MAX_WAITING = 1_000
const MAX_TRIES = 6
const FIRST_RETRY_MS = 100
const MOST_RETRY_MS = 5_000
/** How long usage and latencies are added up before they are written. */
const GATHER_MS = 500

/**
 * The call as `GET /calls/{id}` shows it: written from the events of the log, in order, without holding the call up. A database that is away for seconds is waited for;
 * what can't be written is logged.
 */
export class CallRow {
  readonly #callId: string
  readonly #journal: CallJournal
  readonly #log: Logger
  readonly #waiting: { what: string; write: () => Promise<void> }[] = []
  #turns = 0
  #usage: Usage = NO_USAGE
  #latenciesMs: number[] = []
  #gathering: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined

  constructor(callId: string, journal: CallJournal, log: Logger) {
    this.#callId = callId
    this.#journal = journal
    this.#log = log
  }

  /** Takes the next event of the call's log. */
  take(event: CallEvent): void {
    switch (event.type) {
      case 'ringing':
        this.#add('ringing', () => this.#journal.ringing(this.#callId))
        break
      case 'answered':
        this.#add('answered', () => this.#journal.answered(this.#callId, new Date(event.at)))
        break
      case 'turn':
        this.#turn('user', event, false)
        break
      case 'heard':
        if (event.final && event.text !== '') this.#turn('assistant', event, event.interrupted)
        break
      case 'latency':
        this.#latenciesMs.push(event.total_ms)
        this.#progress()
        break
      case 'usage':
        this.#count(event)
        break
      case 'consent':
        this.#add('consent', async () => this.#journal.observed?.(this.#callId, { consent: event.consent }))
        break
      case 'carrier': {
        const { type: _type, seq: _seq, at: _at, ...carrier } = event
        this.#add('carrier', async () => this.#journal.observed?.(this.#callId, { carrier }))
        break
      }
      case 'media': {
        const { codec, loss, jitter_ms, rtt_ms, mos } = event
        const known = Object.entries({ codec, loss, jitter_ms, rtt_ms, mos }).filter(([, value]) => value !== undefined)
        if (known.length === 0) return
        const quality = Object.fromEntries(known)
        this.#add('media', async () => this.#journal.observed?.(this.#callId, { quality }))
        break
      }
      case 'answered_by': {
        const { by: answeredBy, source } = event
        if (source !== 'agent') return
        this.#add('answered_by', async () => this.#journal.observed?.(this.#callId, { answeredBy }))
      }
    }
  }

  /** Writes the end, and resolves when all is written or given up. */
  async ended(outcome: Outcome, at: Date, durationMs: number): Promise<void> {
    this.#writeProgress()
    this.#add('ended', () => this.#journal.ended(this.#callId, outcome, at, durationMs))
    await this.#running
  }

  #turn(role: 'user' | 'assistant', event: EventOf<'turn'> | EventOf<'heard'>, interrupted: boolean): void {
    const turn = { role, text: event.text, startMs: event.start_ms, endMs: event.end_ms, interrupted }
    const seq = this.#turns++
    this.#add('turn', () => this.#journal.turn(this.#callId, seq, turn))
  }

  #count(event: EventOf<'usage'>): void {
    this.#usage = addUsage(this.#usage, event)
    this.#progress()
  }

  /** A turn brings several sums at once: they are written as one. */
  #progress(): void {
    this.#gathering ??= setTimeout(
      boundary('call', () => this.#writeProgress()),
      GATHER_MS,
    )
  }

  #writeProgress(): void {
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    const usage = this.#usage
    const latenciesMs = this.#latenciesMs
    if (usage === NO_USAGE && latenciesMs.length === 0) return
    this.#usage = NO_USAGE
    this.#latenciesMs = []
    this.#add('progress', () => this.#journal.progress(this.#callId, usage, latenciesMs))
  }

  #add(what: string, write: () => Promise<void>): void {
    // Of what is few, nothing is given up.
    if (this.#waiting.length >= MAX_WAITING && (what === 'turn' || what === 'progress')) {
      countLostRows(tableOf(what), 'overflow')
      this.#log.error({ callId: this.#callId, what }, 'The call log falls behind; an entry is lost')
      return
    }
    this.#waiting.push({ what, write })
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#write(next.what, next.write)
    }
    this.#running = undefined
  }

  async #write(what: string, write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write()
      } catch (err) {
        if (tries === MAX_TRIES) {
          countLostRows(tableOf(what), 'unreachable')
          this.#log.error({ err, callId: this.#callId, what }, 'Could not write an entry of the call log')
          return
        }
        await sleep(backoffMs(tries, { firstMs: FIRST_RETRY_MS, mostMs: MOST_RETRY_MS, random: Math.random }))
      }
    }
  }
}

const tableOf = (what: string): string => (what === 'turn' ? 'call_turns' : 'calls')
