import type { OpenSession } from '../../call/link/messages.ts'
import type { Language } from '../languages/language.ts'
import { isOrder, type Order, type Report, type Signal } from './signal.ts'

/** What follows from a report, in order. `consumed`: later stages don't receive the report. */
export interface StageResult {
  readonly signals: readonly Signal[]
  readonly consumed?: boolean
}

/**
 * One stage of a conversation. It keeps its state private and does no I/O: it receives reports with
 * the time, and returns orders to the devices or reports to all stages.
 */
export interface ConversationStage {
  readonly name: string
  on(report: Report, nowMs: number): StageResult | undefined
}

/** What the stages know of their conversation from the start. */
export interface StageContext {
  readonly open: OpenSession
  /** Milliseconds since the call was answered, of a monotonic time. */
  callMs(monotonicMs: number): number
  /** What the agent speaks now. */
  language(): Language
  /** Silence that ends the caller's turn, by how sure the end-of-turn model is; default: the agent's curve. */
  readonly endpointingDelayMs?: ((probability: number) => number) | undefined
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
  #waiting: Report[] = []
  #running = false
  /** The end was ordered: ticks stop, and only `tell` orders are executed. */
  #ended = false

  /** @param now monotonic milliseconds */
  constructor(stages: readonly ConversationStage[], now: () => number, act: (order: Order) => void) {
    this.#stages = stages
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
    const signals: Signal[] = []
    let isConsumed = false
    for (const stage of this.#stages) {
      const follows = stage.on(report, nowMs)
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
