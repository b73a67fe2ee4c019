import type { OpenSession } from '../../call/link/messages.ts'
import type { Language } from '../languages/language.ts'
import { isOrder, type Order, type Report, type Signal } from './signal.ts'
import { type ConversationState, foldReport } from './state.ts'

/** What follows from a report, in order. `consumed`: later stages don't receive the report. */
export interface StageResult {
  readonly signals: readonly Signal[]
  readonly consumed?: boolean
}

/**
 * One stage of a conversation. It does no I/O: it receives reports with the state they lead to and the time, and returns orders to
 * the devices or reports to all stages. What only it needs to know it keeps to itself.
 */
export interface ConversationStage {
  readonly name: string
  on(report: Report, state: ConversationState, nowMs: number): StageResult | undefined
}

/** What the stages know of their conversation from the start. */
export interface StageContext {
  readonly open: OpenSession
  /** Milliseconds since the call was answered, of a monotonic time. */
  callMs(monotonicMs: number): number
  /** What the agent speaks now. */
  language(): Language
  /** Its tag. */
  tag(): string
  /** Milliseconds since 1970. */
  nowMs(): number
}

export const emit = (...signals: Signal[]): StageResult => ({ signals })
export const consume = (...signals: Signal[]): StageResult => ({ signals, consumed: true })

/**
 * Runs the stages of a conversation: a report passes them in order until one consumes it; the resulting orders are executed and
 * the resulting reports passed through, depth first, before the next report.
 */
export class Stages {
  readonly #stages: readonly ConversationStage[]
  readonly #now: () => number
  readonly #do: (order: Order) => void
  #state: ConversationState
  #waiting: Report[] = []
  #running = false
  /** The end was ordered: ticks stop, and only `tell` orders are executed. */
  #ended = false

  /** @param now monotonic milliseconds */
  constructor(
    stages: readonly ConversationStage[],
    state: ConversationState,
    now: () => number,
    act: (order: Order) => void,
  ) {
    this.#stages = stages
    this.#state = state
    this.#now = now
    this.#do = act
  }

  /** True when a stage consumed it. A report made during another one is queued: then false. */
  report(report: Report): boolean {
    if (this.#running) {
      this.#waiting.push(report)
      return false
    }
    this.#running = true
    try {
      const isConsumed = this.#pass(report)
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) this.#pass(next)
      return isConsumed
    } finally {
      this.#running = false
    }
  }

  #pass(report: Report): boolean {
    if (this.#ended && report.type === 'tick') return false
    const nowMs = this.#now()
    const state = foldReport(this.#state, report)
    this.#state = state
    const signals: Signal[] = []
    let isConsumed = false
    for (const stage of this.#stages) {
      const follows = stage.on(report, state, nowMs)
      if (follows === undefined) continue
      signals.push(...follows.signals)
      if (follows.consumed !== true) continue
      isConsumed = true
      break
    }
    for (const signal of signals) {
      if (!isOrder(signal)) this.#pass(signal)
      else if (!this.#ended || signal.type === 'tell') {
        this.#ended ||= signal.type === 'end'
        this.#do(signal)
      }
    }
    return isConsumed
  }
}
