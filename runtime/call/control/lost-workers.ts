/** Maximum workers lost in a row, without a caller's turn between them. */
const MOST_IN_A_ROW = 3
/** Maximum workers lost over the whole call. */
const MOST_OF_A_CALL = 20
/** A worker that ran the conversation this long was not lost to the replayed state. */
const INNOCENT_MS = 60_000

/** What follows from the loss of a worker: the call is offered to another; offered without the suspected input; or ended. */
export type AfterLoss = 'go_on' | 'leave_out' | 'give_up'

/**
 * Counts the workers a call lost, so that a poison call does not kill one worker after the other, and with them the calls of other
 * callers. Pure: times are monotonic milliseconds, passed in.
 */
export class LostWorkers {
  #inARow = 0
  #ofTheCall = 0
  #turns = -1
  #acceptedAtMs: number | undefined

  accepted(nowMs: number): void {
    this.#acceptedAtMs = nowMs
  }

  /** @param turns how often the caller has spoken */
  lost(turns: number, nowMs: number): AfterLoss {
    const ranMs = this.#acceptedAtMs === undefined ? 0 : nowMs - this.#acceptedAtMs
    this.#acceptedAtMs = undefined
    this.#inARow = turns === this.#turns && ranMs < INNOCENT_MS ? this.#inARow + 1 : 1
    this.#turns = turns
    this.#ofTheCall++
    if (this.#inARow >= 2 * MOST_IN_A_ROW || this.#ofTheCall >= MOST_OF_A_CALL) return 'give_up'
    return this.#inARow === MOST_IN_A_ROW ? 'leave_out' : 'go_on'
  }

  get inARow(): number {
    return this.#inARow
  }
}
