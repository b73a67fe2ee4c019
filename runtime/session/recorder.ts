import { setTimeout as sleep } from 'node:timers/promises'
import type { Turn, Usage } from '../link/messages.ts'
import type { Logger } from '../log.ts'
import type { Answerer, Consent } from '../telephony/answerer.ts'
import type { CallJournal } from './journal.ts'
import type { Outcome } from './session.ts'

const MAX_WAITING = 1_000
const MAX_TRIES = 6
const FIRST_RETRY_MS = 100

const NOTHING: Usage = { llmInputTokens: 0, llmOutputTokens: 0, sttSeconds: 0, ttsCharacters: 0 }

/**
 * Writes one call into the journal, in order, without holding the call up. Usage and latencies that arrive while a write
 * runs are added up into one. A database that is away for seconds is waited for; what can't be written is logged.
 */
export class Recorder {
  readonly #callId: string
  readonly #journal: CallJournal
  readonly #log: Logger
  readonly #waiting: { what: string; write: () => Promise<void> }[] = []
  #usage: Usage = NOTHING
  #latenciesMs: number[] = []
  #progressWaits = false
  #running: Promise<void> | undefined

  constructor(callId: string, journal: CallJournal, log: Logger) {
    this.#callId = callId
    this.#journal = journal
    this.#log = log
  }

  ringing(): void {
    this.#add('ringing', () => this.#journal.ringing(this.#callId))
  }

  answered(at: Date): void {
    this.#add('answered', () => this.#journal.answered(this.#callId, at))
  }

  turn(seq: number, turn: Turn): void {
    this.#add('turn', () => this.#journal.turn(this.#callId, seq, turn))
  }

  observed(what: { answeredBy?: Answerer; consent?: Consent }): void {
    this.#add('observed', async () => this.#journal.observed?.(this.#callId, what))
  }

  usage(usage: Usage): void {
    this.#usage = {
      llmInputTokens: this.#usage.llmInputTokens + usage.llmInputTokens,
      llmOutputTokens: this.#usage.llmOutputTokens + usage.llmOutputTokens,
      sttSeconds: this.#usage.sttSeconds + usage.sttSeconds,
      ttsCharacters: this.#usage.ttsCharacters + usage.ttsCharacters,
    }
    this.#progress()
  }

  latency(totalMs: number): void {
    this.#latenciesMs.push(totalMs)
    this.#progress()
  }

  /** Writes the end, and resolves when all is written or given up. */
  async ended(outcome: Outcome, at: Date, durationMs: number): Promise<void> {
    this.#add('ended', () => this.#journal.ended(this.#callId, outcome, at, durationMs))
    await this.#running
  }

  #progress(): void {
    if (this.#progressWaits) return
    this.#progressWaits = true
    let sums: { usage: Usage; latenciesMs: number[] } | undefined
    this.#add('progress', async () => {
      if (sums === undefined) {
        sums = { usage: this.#usage, latenciesMs: this.#latenciesMs }
        this.#usage = NOTHING
        this.#latenciesMs = []
        this.#progressWaits = false
      }
      await this.#journal.progress(this.#callId, sums.usage, sums.latenciesMs)
    })
  }

  #add(what: string, write: () => Promise<void>): void {
    if (this.#waiting.length >= MAX_WAITING && what === 'turn') {
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
          this.#log.error({ err, callId: this.#callId, what }, 'An entry of the call log could not be written')
          return
        }
        await sleep(FIRST_RETRY_MS * 2 ** (tries - 1))
      }
    }
  }
}
