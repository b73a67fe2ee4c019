/** Maximum workers lost in a row, without a caller's turn between them. */
const MOST_IN_A_ROW = 3
/** Maximum workers lost without an answer that the caller heard to its end between them. */
const MOST_WITHOUT_ANSWER = 20
/** Pauses before another worker is tried after the second loss in a row, and after each later one: workers of one machine die together. */
const PAUSES_MS = [1_500, 3_000]
/** A worker that ran the conversation this long was not lost to the replayed state. */
const INNOCENT_MS = 60_000

/** What follows from the loss of a worker: the call is offered to another; offered without the suspected input; or ended. */
type AfterLoss = 'go_on' | 'leave_out' | 'give_up'

/**
 * Counts the workers a call lost, so that a poison call does not kill one worker after the other, and with them the calls of other
 * callers. Pure: times are monotonic milliseconds, passed in.
 */
export class LostWorkers {
  #inARow = 0
  #withoutAnswer = 0
  #turns = -1
  #answers = 0
  #acceptedAtMs: number | undefined
  #lostAtMs = 0

  accepted(nowMs: number): void {
    this.#acceptedAtMs = nowMs
  }

  /**
   * @param turns how often the caller has spoken
   * @param answers how often the agent has, to the end
   */
  lost(turns: number, answers: number, nowMs: number): AfterLoss {
    const ranMs = this.#acceptedAtMs === undefined ? 0 : nowMs - this.#acceptedAtMs
    this.#acceptedAtMs = undefined
    this.#inARow = turns === this.#turns && ranMs < INNOCENT_MS ? this.#inARow + 1 : 1
    this.#turns = turns
    this.#lostAtMs = nowMs
    this.#withoutAnswer = answers > this.#answers ? 1 : this.#withoutAnswer + 1
    this.#answers = answers
    if (this.#inARow >= 2 * MOST_IN_A_ROW || this.#withoutAnswer >= MOST_WITHOUT_ANSWER) return 'give_up'
    return this.#inARow === MOST_IN_A_ROW ? 'leave_out' : 'go_on'
  }

  /** How long the call waits before it is offered again. */
  pauseMs(nowMs: number): number {
    const pauseMs = this.#inARow < 2 ? 0 : PAUSES_MS[Math.min(this.#inARow - 2, PAUSES_MS.length - 1)]!
    return Math.max(0, this.#lostAtMs + pauseMs - nowMs)
  }

  /** Words for the log: how many were lost. */
  get count(): string {
    return this.#inARow >= MOST_IN_A_ROW
      ? `${this.#inARow} voice workers were lost in a row`
      : `${this.#withoutAnswer} voice workers were lost without an answer between them`
  }
}
