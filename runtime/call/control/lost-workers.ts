import type { Owed } from '../link/messages.ts'
import type { EventOf } from '../log/events.ts'

/** Maximum workers lost in a row, without a caller's turn between them. */
const MOST_IN_A_ROW = 3
/** Maximum workers lost without an answer that the caller heard to its end between them. */
const MOST_WITHOUT_ANSWER = 20
/** Pauses before another worker is tried after the second loss in a row, and after each later one: workers of one machine die together. */
const PAUSES_MS = [1_500, 3_000]
/** A worker that ran the conversation this long was not lost to the replayed state. */
const INNOCENT_MS = 60_000

/**
 * The workers that a call lost, so that a poison call does not kill one worker after the other, and with them the calls of other
 * callers. Times are monotonic milliseconds.
 */
export interface LostWorkers {
  readonly inARow: number
  readonly withoutAnswer: number
  /** At the last loss: how often the caller had spoken, and the agent to the end. */
  readonly turns: number
  readonly answers: number
  readonly lostAtMs: number
  /** Since when a worker runs the conversation. */
  readonly acceptedAtMs?: number | undefined
}

export const NO_LOST_WORKERS: LostWorkers = { inARow: 0, withoutAnswer: 0, turns: -1, answers: 0, lostAtMs: 0 }

/**
 * One more, whether or not it had accepted the call.
 *
 * @param turns how often the caller has spoken
 * @param answers how often the agent has, to the end
 */
export function workerLost(before: LostWorkers, turns: number, answers: number, nowMs: number): LostWorkers {
  const ranMs = before.acceptedAtMs === undefined ? 0 : nowMs - before.acceptedAtMs
  return {
    inARow: turns === before.turns && ranMs < INNOCENT_MS ? before.inARow + 1 : 1,
    withoutAnswer: answers > before.answers ? 1 : before.withoutAnswer + 1,
    turns,
    answers,
    lostAtMs: nowMs,
  }
}

/** What follows from the last loss: the call is offered to another worker; offered without the suspected input; or ended. */
export function afterLoss({ inARow, withoutAnswer }: LostWorkers): 'go_on' | 'leave_out' | 'give_up' {
  if (inARow >= 2 * MOST_IN_A_ROW || withoutAnswer >= MOST_WITHOUT_ANSWER) return 'give_up'
  return inARow === MOST_IN_A_ROW ? 'leave_out' : 'go_on'
}

/** How long the call waits before it is offered again. */
export function pauseAfterLossMs({ inARow, lostAtMs }: LostWorkers, nowMs: number): number {
  const pauseMs = inARow < 2 ? 0 : PAUSES_MS[Math.min(inARow - 2, PAUSES_MS.length - 1)]!
  return Math.max(0, lostAtMs + pauseMs - nowMs)
}

/** Words for the log: how many were lost. */
export function countOfLost({ inARow, withoutAnswer }: LostWorkers): string {
  return inARow >= MOST_IN_A_ROW
    ? `${inARow} voice workers were lost in a row`
    : `${withoutAnswer} voice workers were lost without an answer between them`
}

/** The use that a worker took with it, by what it said that its requests under way will have cost. Providers count them, and nobody is told. */
export function lostUsage(owed: Owed | undefined): EventOf<'usage'>[] {
  const { input_tokens = 0, output_tokens = 0, characters = 0 } = owed ?? {}
  const tokens = input_tokens + output_tokens
  const events: EventOf<'usage'>[] = []
  if (tokens > 0) events.push({ type: 'usage', stage: 'llm', input_tokens, output_tokens, estimated_tokens: tokens })
  if (characters > 0) events.push({ type: 'usage', stage: 'tts', characters })
  return events
}
