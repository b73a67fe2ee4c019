import type { Clock } from '../../lib/clock.ts'
import { cleanJson } from '../../lib/text.ts'
import { type CallEvent, type CallEventBody, isPassing, mayComeLate } from './events.ts'
import { type CallState, fold, NOTHING_YET } from './fold.ts'

/** Of one text of an event, as its schema allows. */
const MAX_TEXT_CHARS = 100_000

/** Takes each event as it is written, in order, and the state after it. Must not throw and must not wait. */
export type CallLogSink = (event: CallEvent, state: CallState) => void

/**
 * The log of one call: the one place where its events are numbered. The writer of an event runs its effects
 * after `append` has returned, so that no effect is visible before its event. Text is sanitised on append.
 */
export class CallLog {
  readonly #clock: Pick<Clock, 'nowMs'>
  #sinks: readonly CallLogSink[]
  #state = NOTHING_YET
  #seq = 0

  constructor(clock: Pick<Clock, 'nowMs'>, sinks: readonly CallLogSink[]) {
    this.#clock = clock
    this.#sinks = sinks
  }

  /** From now on these take its events instead: the call has a leg. */
  follow(sinks: readonly CallLogSink[]): void {
    this.#sinks = sinks
  }

  /** What happened so far. */
  get state(): CallState {
    return this.#state
  }

  /** Writes the event at the end of the log. Undefined, and nothing written: the call has ended, and this may not come late. */
  append(body: CallEventBody): CallEvent | undefined {
    if (this.#state.ended !== undefined && !mayComeLate(body.type)) return undefined
    const event: CallEvent = { ...cleanJson(body, MAX_TEXT_CHARS), seq: this.#seq, at: this.#clock.nowMs() }
    // What is only shown has no place of its own: it stands before the next that is kept.
    if (!isPassing(body)) this.#seq++
    this.#state = fold(this.#state, event)
    for (const sink of this.#sinks) sink(event, this.#state)
    return event
  }
}
