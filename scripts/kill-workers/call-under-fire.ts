import { setTimeout as sleep } from 'node:timers/promises'
import { dialAgent, finishedLog } from '../demo/call.ts'
import type { Caller } from '../demo/caller.ts'
import type { RestClient } from '../demo/rest.ts'
import { LONG, SPOKEN, TOOL, TYPED } from './agent.ts'
import type { Bookings } from './bookings.ts'

export const EXCHANGES = ['spoken', 'typed', 'long', 'tool'] as const
export type ExchangeKind = (typeof EXCHANGES)[number]

/** An exchange whose worker was killed: how long after the kill, or after the question if that came later, the agent answered. */
export interface AffectedExchange {
  kind: ExchangeKind
  seatFree: boolean
  waitedMs: number
}

const PATIENCE_MS = 60_000
const LOG_TIMEOUT_MS = 20_000
const POLL_MS = 20

interface LoggedEvent {
  seq: number
  at: string
  type: string
  text?: string
  interrupted?: boolean
}

interface Exchange {
  kind: ExchangeKind
  question: string
  /** What must have been heard of the answer, in whatever pieces. */
  expects: string
  seatFree: boolean
  askedAtMs: number
  killedAtMs: number | undefined
  /** The agent's first sound after the question and after the kill. */
  soundAtMs: number | undefined
}

/** A caller whose voice workers are killed, and who keeps book of what was asked and answered. */
export class CallUnderFire {
  readonly #caller: Caller
  readonly #rest: RestClient
  readonly #callLogId: string
  readonly #bookings: Bookings
  readonly #signal: AbortSignal
  readonly #exchanges: Exchange[] = []
  #running: Exchange | undefined
  #heard: string[] = []
  #state = 'listening'
  #spokenNext = 0

  private constructor(caller: Caller, rest: RestClient, callLogId: string, bookings: Bookings, signal: AbortSignal) {
    this.#caller = caller
    this.#rest = rest
    this.#callLogId = callLogId
    this.#bookings = bookings
    this.#signal = signal
    caller.on('message', (message) => {
      if (message.type === 'agent.state') this.#stateIs(message.state)
      if (message.type !== 'transcript' || message.role !== 'assistant') return
      if (message.final) this.#heard.push(message.text)
    })
  }

  static async dial(
    rest: RestClient,
    agentId: string,
    bookings: Bookings,
    signal: AbortSignal,
  ): Promise<CallUnderFire> {
    const { caller, callLogId } = await dialAgent(rest, agentId, signal)
    const call = new CallUnderFire(caller, rest, callLogId, bookings, signal)
    await call.#until(() => call.#heard.length > 0, 'The agent did not greet')
    await call.#until(() => call.#isSilent, 'The agent did not finish its greeting')
    return call
  }

  /** The session has ended though nobody hung up. */
  get over(): boolean {
    return this.#caller.endReason !== undefined
  }

  /** Asks once, and waits for the whole answer. Throws what went wrong. */
  async exchange(kind: ExchangeKind, seatFree: boolean): Promise<void> {
    const spoken = SPOKEN[this.#spokenNext % SPOKEN.length]!
    if (kind === 'spoken') this.#spokenNext++
    const { question, answer } = { spoken, typed: TYPED, long: LONG, tool: TOOL }[kind]
    const expects = kind === 'tool' ? 'Your booking has the number' : answer
    const running: Exchange = {
      kind,
      question,
      expects,
      seatFree,
      askedAtMs: 0,
      killedAtMs: undefined,
      soundAtMs: undefined,
    }
    this.#exchanges.push(running)
    this.#running = running
    this.#heard = []
    if (kind === 'spoken') {
      running.askedAtMs = await this.#caller.say(question, this.#signal)
    } else {
      running.askedAtMs = performance.now()
      this.#caller.type(question)
    }
    await this.#until(
      () => this.#answered(expects),
      () => `"${question}" was not answered; heard: ${this.#heard.join(' | ')}`,
    )
    await this.#until(() => this.#isSilent, 'The agent did not finish')
    // What comes twice comes now.
    await sleep(300)
    this.#running = undefined
  }

  /** The last events of the call, a line each: how it came to a fault. */
  async trail(): Promise<string> {
    // What is not in the journal yet will be.
    await sleep(1_500)
    const events = await this.#events(0)
    const from = events.findLastIndex(({ type }) => type === 'worker_lost')
    return events
      .slice(Math.max(0, from - 12))
      .map(
        ({ at, type, ...rest }) =>
          `    ${at.slice(14, 23)} ${type} ${JSON.stringify({ ...rest, seq: undefined, at_ms: undefined })}`,
      )
      .join('\n')
  }

  get #isSilent(): boolean {
    return this.#state === 'listening' && !this.#caller.agentSpeaking
  }

  #stateIs(state: string): void {
    this.#state = state
    const running = this.#running
    if (state === 'speaking' && running !== undefined && running.askedAtMs > 0) running.soundAtMs ??= performance.now()
  }

  /** A worker was killed, perhaps the one of this call. */
  killed(): void {
    if (this.#running === undefined) return
    this.#running.killedAtMs = performance.now()
    this.#running.soundAtMs = undefined
  }

  /** Ends the call, and compares its log with that of a call whose worker lived. */
  async hangUp(): Promise<{ faults: string[]; affected: AffectedExchange[] }> {
    const faults: string[] = []
    if (this.over) faults.push(`a leg dropped: ${this.#caller.endReason}`)
    else await this.#caller.hangUp(this.#signal)
    const log = await finishedLog(this.#rest, this.#callLogId, AbortSignal.timeout(LOG_TIMEOUT_MS))
    if (log.status !== 'completed') faults.push(`the call is "${log.status}" (${log.end_reason})`)
    const events = await this.#events()
    if (events.some(({ seq }, index) => seq !== index)) faults.push('the log has gaps')
    if (events.filter(({ type }) => type === 'ended').length !== 1) faults.push('the log has not one end')
    const affected = this.#compare(events, faults)
    const keys = this.#bookings.keys.filter((key) => key.startsWith(this.#callLogId))
    const bookings = this.#exchanges.filter(({ kind }) => kind === 'tool').length
    if (keys.length !== bookings) faults.push(`${keys.length} bookings for ${bookings} wishes`)
    return { faults, affected }
  }

  /** Every question is a turn once, in order, and its whole answer was heard before the next. */
  #compare(events: readonly LoggedEvent[], faults: string[]): AffectedExchange[] {
    const turns = events.filter(({ type }) => type === 'turn')
    const asked = this.#exchanges.map(({ question }) => question)
    const logged = turns.map(({ text = '' }) => text)
    if (words(asked.join(' ')) !== words(logged.join(' '))) {
      const at = asked.findIndex((question, index) => words(question) !== words(logged[index] ?? ''))
      faults.push(`turn ${at} of the log is "${logged[at]}", asked was "${asked[at]}" (${this.#exchanges[at]?.kind})`)
      return []
    }
    return this.#exchanges.flatMap((exchange, index) => {
      const from = events.indexOf(turns[index]!)
      const to = index + 1 < turns.length ? events.indexOf(turns[index + 1]!) : events.length
      const heard = events.slice(from, to).filter(({ type }) => type === 'heard')
      if (
        !pieces(
          heard.map(({ text = '' }) => text),
          exchange.expects,
        )
      ) {
        faults.push(`the log has as answer to "${exchange.question}": ${heard.map(({ text }) => text).join(' | ')}`)
      }
      const before = index === 0 ? 0 : events.indexOf(turns[index - 1]!)
      const lost = events.slice(before, to).some(({ type, at }) => type === 'worker_lost' && near(at, exchange))
      const { kind, seatFree, killedAtMs, askedAtMs, soundAtMs } = exchange
      if (!lost || killedAtMs === undefined || soundAtMs === undefined) return []
      return [{ kind, seatFree, waitedMs: soundAtMs - Math.max(killedAtMs, askedAtMs) }]
    })
  }

  async #events(patienceMs = LOG_TIMEOUT_MS): Promise<LoggedEvent[]> {
    const deadlineMs = performance.now() + patienceMs
    for (;;) {
      const all: LoggedEvent[] = []
      for (let page = 1; ; page++) {
        const { items, total_pages } = await this.#rest.send<{ items: LoggedEvent[]; total_pages: number }>(
          'GET',
          `/calls/${this.#callLogId}/events?page=${page}&page_size=200`,
        )
        all.push(...items)
        if (page >= total_pages) break
      }
      if (all.some(({ type }) => type === 'ended') || performance.now() > deadlineMs) return all
      await sleep(500)
    }
  }

  #answered(expects: string): boolean {
    return pieces(this.#heard, expects)
  }

  async #until(condition: () => boolean, otherwise: string | (() => string)): Promise<void> {
    const deadlineMs = performance.now() + PATIENCE_MS
    const why = () => (typeof otherwise === 'string' ? otherwise : otherwise())
    while (!condition()) {
      this.#signal.throwIfAborted()
      if (this.over) throw new Error(`${why()}: the session ended (${this.#caller.endReason})`)
      if (performance.now() > deadlineMs) throw new Error(why())
      await sleep(POLL_MS)
    }
  }
}

/** Whether the texts, one after the other, contain the whole answer: at once, or what was cut off and the rest of it. */
function pieces(texts: readonly string[], expects: string): boolean {
  return words(texts.join(' ')).includes(words(expects)) || texts.some((text) => words(text).includes(words(expects)))
}

/** A worker is missed by its api node within seconds of the kill. */
function near(at: string, { killedAtMs }: Exchange): boolean {
  if (killedAtMs === undefined) return false
  return Math.abs(Date.parse(at) - (performance.timeOrigin + killedAtMs)) < 4_000
}

const words = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')
