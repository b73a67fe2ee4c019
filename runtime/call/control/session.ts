import type { CallState } from '../log/fold.ts'
import type { LegEndReason } from '../types/leg.ts'
import type { EndReason, Outcome, SessionEndReason } from '../types/outcome.ts'
import { afterLoss, countOfLost, type LostWorkers, NO_LOST_WORKERS, workerLost } from './lost-workers.ts'

/**
 * The life of one call: queued → ringing → in_progress → ended. Pure: it maps events to effects, and
 * runtime/call/control/live-call.ts runs the effects. Events after the end change nothing.
 */

export interface SessionState {
  readonly phase: 'queued' | 'ringing' | 'in_progress' | 'ended'
  /** Which worker runs the conversation: none yet, one that was offered the session, one that accepted. */
  readonly worker: 'none' | 'offered' | 'joined'
  readonly answeredAtMs: number | undefined
  /** Until when a worker is looked for. */
  readonly seekUntilMs: number
  readonly lost: LostWorkers
  /** The caller talks with another human. */
  readonly transferred?: boolean
  /** No worker was free in time: the call ends with an announcement. */
  readonly abandoned?: boolean
  /** The worker was offered the conversation of the agent that the call was handed to. */
  readonly handingOff?: boolean
}

/** How long a worker is looked for: for a call that rings, and for one that lost its worker in the middle. */
export interface Waits {
  queueMs: number
  recoveryMs: number
  /** A caller without a slot in time hears an announcement. */
  announces?: boolean
}

export type SessionEvent =
  /** The leg is up. */
  | { type: 'connected' }
  | { type: 'seated' }
  | { type: 'accepted' }
  /** A worker had no room after all. */
  | { type: 'declined' }
  /** The agent can't be run by any worker. */
  | { type: 'refused'; message: string }
  /** It is gone, or gave the session back: then nothing is said of how far the call had come. */
  | { type: 'worker_lost'; cameTo?: CameTo }
  | { type: 'no_capacity' }
  | { type: 'agent_ended'; reason: Exclude<SessionEndReason, 'worker_drained'>; error?: string }
  | { type: 'leg_ended'; reason: LegEndReason }
  /** The caller talks with another human: no agent is needed any more. */
  | { type: 'transferred' }
  /** Another agent has the call: its conversation begins in the same slot. */
  | { type: 'handed_off' }
  | { type: 'hung_up' }

/** How far a call had come when its worker was lost. */
interface CameTo {
  /** How often the caller has spoken. */
  turns: number
  /** How often the agent has, to the end. */
  answers: number
  /** The next worker can do without what this one was lost at. */
  mayLeaveOut: boolean
}

export type SessionEffect =
  /** Look for a worker until `seekUntilMs`. */
  | { type: 'seek' }
  /** Offer the session to the worker whose seat was taken. */
  | { type: 'offer' }
  /** Offer the worker of the conversation that of the next agent in its place. */
  | { type: 'offer_next' }
  /** The next agent's conversation runs. */
  | { type: 'join_next' }
  /** Have a worker without a seat say the announcement. */
  | { type: 'announce' }
  | { type: 'record_ringing' }
  /** The agent is there for the first time: tell the leg, write it down. */
  | { type: 'answer' }
  /** The next worker does without what the last ones were lost at. */
  | { type: 'leave_out'; because: string }
  /** A sound until another worker is there. */
  | { type: 'hold' }
  /** Another worker took over. */
  | { type: 'resume' }
  /** Release everything, close the leg, write the outcome. */
  | { type: 'finish'; cause: EndCause }

/** Why a call ends. */
export interface EndCause {
  reason: EndReason
  error?: string
}

interface Step {
  state: SessionState
  effects: SessionEffect[]
}

export const QUEUED: SessionState = {
  phase: 'queued',
  worker: 'none',
  answeredAtMs: undefined,
  seekUntilMs: 0,
  lost: NO_LOST_WORKERS,
}

/** What follows from the event. `nowMs` is monotonic. */
export function step(state: SessionState, event: SessionEvent, nowMs: number, waits: Waits): Step {
  const same: Step = { state, effects: [] }
  if (state.phase === 'ended') return same
  switch (event.type) {
    case 'connected':
      if (state.phase !== 'queued') return same
      return {
        state: { ...state, phase: 'ringing', seekUntilMs: nowMs + waits.queueMs },
        effects: [{ type: 'record_ringing' }, { type: 'seek' }],
      }
    case 'seated':
      if (state.transferred === true) return same
      return { state: { ...state, worker: 'offered' }, effects: [{ type: 'offer' }] }
    case 'accepted':
      return accepted(state, nowMs)
    case 'handed_off':
      return handedOff(state, nowMs, waits)
    case 'declined':
      if (state.abandoned) return announce(state)
      if (nowMs >= state.seekUntilMs) return noneFree(state, waits)
      return declined(state)
    case 'refused':
      return finish(state, { reason: 'error', error: event.message })
    case 'transferred':
      return { state: { ...state, worker: 'none', transferred: true }, effects: [] }
    case 'worker_lost':
      if (state.transferred === true) return same
      if (state.abandoned) return finish(state, { reason: 'worker_lost' })
      return lost(state, event.cameTo, nowMs, waits.recoveryMs)
    case 'no_capacity':
      return noneFree(state, waits)
    case 'agent_ended':
      return finish(state, event)
    case 'leg_ended':
      return finish(state, state.transferred && event.reason !== 'shutdown' ? { reason: 'transferred' } : event)
    case 'hung_up':
      return finish(state, { reason: 'api_hangup' })
  }
}

/** Where a worker is looked for, the one that is found is offered the next agent. */
function handedOff(state: SessionState, nowMs: number, { recoveryMs }: Waits): Step {
  if (state.phase !== 'in_progress' || state.transferred === true || state.worker === 'none')
    return { state, effects: [] }
  return {
    state: { ...state, worker: 'offered', handingOff: true, seekUntilMs: nowMs + recoveryMs },
    effects: [{ type: 'offer_next' }],
  }
}

/** A slot is lost with the offer: the caller waits as for any other worker. */
function declined({ handingOff, ...state }: SessionState): Step {
  const hold: SessionEffect[] = handingOff === true ? [{ type: 'hold' }] : []
  return { state: { ...state, worker: 'none' }, effects: [...hold, { type: 'seek' }] }
}

const noWorker = (state: SessionState): EndReason => (state.answeredAtMs === undefined ? 'no_capacity' : 'worker_lost')

function noneFree(state: SessionState, waits: Waits): Step {
  const announces = waits.announces === true && state.answeredAtMs === undefined && !state.abandoned
  return announces ? announce(state) : finish(state, { reason: noWorker(state) })
}

function announce(state: SessionState): Step {
  return { state: { ...state, abandoned: true, worker: 'offered' }, effects: [{ type: 'announce' }] }
}

function accepted(state: SessionState, nowMs: number): Step {
  if (state.worker !== 'offered') return { state, effects: [] }
  const { handingOff, ...kept } = state
  const joined: SessionState = { ...kept, worker: 'joined', lost: { ...state.lost, acceptedAtMs: nowMs } }
  if (handingOff === true) return { state: joined, effects: [{ type: 'join_next' }] }
  if (state.answeredAtMs !== undefined) return { state: joined, effects: [{ type: 'resume' }] }
  return {
    state: { ...joined, phase: 'in_progress', answeredAtMs: nowMs },
    effects: [{ type: 'answer' }],
  }
}

/**
 * Poison-call guard: workers lost in a row were probably lost to this call. It is offered again without what they were lost at,
 * and then to none.
 */
function lost(before: SessionState, cameTo: CameTo | undefined, nowMs: number, recoveryWaitMs: number): Step {
  const counted = cameTo && workerLost(before.lost, cameTo.turns, cameTo.answers, nowMs)
  const then = counted === undefined ? 'go_on' : afterLoss(counted)
  // A worker that dies while opening the session uses up the wait for the first one.
  const seekUntilMs = before.worker === 'joined' ? nowMs + recoveryWaitMs : before.seekUntilMs
  const { handingOff: _, ...kept } = before
  const state: SessionState = { ...kept, worker: 'none', seekUntilMs, lost: counted ?? before.lost }
  const effects: SessionEffect[] = []
  if (then !== 'go_on') {
    const because = countOfLost(state.lost)
    // A call that no worker has accepted yet has nothing to leave out.
    const leavesOut = then === 'leave_out' && state.answeredAtMs !== undefined && cameTo?.mayLeaveOut
    if (!leavesOut) return finish(state, { reason: 'error', error: `${because}; the call is given up` })
    effects.push({ type: 'leave_out', because })
  }
  if (state.phase === 'in_progress') effects.push({ type: 'hold' })
  return { state, effects: [...effects, { type: 'seek' }] }
}

function finish(state: SessionState, { reason, error }: EndCause): Step {
  // Whatever the end reason, the callee reached no agent.
  const cause = state.abandoned ? ABANDONED : { reason, ...(error === undefined ? {} : { error }) }
  return { state: { ...state, phase: 'ended', worker: 'none' }, effects: [{ type: 'finish', cause }] }
}

const ABANDONED: EndCause = { reason: 'abandoned', error: 'Somebody picked up, and no voice worker was free in time' }

const OWN_FAULTS: Partial<Record<EndReason, string>> = {
  no_capacity: 'No voice worker is free',
  worker_lost: 'The voice worker was lost and no other was free',
  error: 'The conversation failed',
  shutdown: 'The server was stopped',
}

/** `completed` once the agent was there, unless we failed; a caller who left before that canceled. */
export function outcomeOf(
  { reason: endReason, error }: EndCause,
  answered: boolean,
  { answeredBy, turns, transferred }: Pick<CallState, 'answeredBy' | 'turns' | 'transferred'>,
): Outcome {
  if (endReason === 'abandoned') {
    return { status: 'completed', endReason, disposition: 'abandoned', ...(error === undefined ? {} : { error }) }
  }
  const fault = OWN_FAULTS[endReason]
  if (fault !== undefined) return { status: 'failed', endReason, disposition: 'failed', error: error ?? fault }
  if (!answered) return { status: 'canceled', endReason, disposition: 'hung_up' }
  if (endReason === 'transferred' || transferred) return { status: 'completed', endReason, disposition: 'transferred' }
  if (answeredBy === 'fax') return { status: 'completed', endReason, disposition: 'fax' }
  if (answeredBy === 'machine' || answeredBy === 'mailbox_full' || endReason === 'voicemail') {
    return { status: 'completed', endReason, disposition: 'voicemail' }
  }
  if (answeredBy === 'screening') return { status: 'completed', endReason, disposition: 'screened' }
  const spoken = turns.some(({ role }) => role === 'user')
  return { status: 'completed', endReason, disposition: spoken ? 'completed' : 'hung_up' }
}
