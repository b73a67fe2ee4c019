import type { CallEndReason } from '../../call/types/outcome.ts'
import type { DialFailure } from './carrier.ts'

/** How a call that never became a conversation ends. `status` is its state for good, `disposition` what it came to. */
export interface DialOutcome {
  status: 'completed' | 'failed' | 'busy' | 'no_answer' | 'canceled'
  endReason: CallEndReason
  disposition: string
  error?: string
}

const OUTCOMES: Readonly<Record<DialFailure, DialOutcome>> = {
  busy: { status: 'busy', endReason: 'busy', disposition: 'busy' },
  no_answer: { status: 'no_answer', endReason: 'no_answer', disposition: 'no_answer' },
  rejected: { status: 'failed', endReason: 'rejected', disposition: 'rejected', error: 'The callee refused the call' },
  hung_up: {
    status: 'failed',
    endReason: 'caller_hangup',
    disposition: 'hung_up',
    error: 'The callee hung up at once',
  },
  blocked: {
    status: 'failed',
    endReason: 'blocked',
    disposition: 'blocked',
    error: 'A carrier or an analytics service blocked the call; the callee did not refuse it',
  },
  invalid_number: {
    status: 'failed',
    endReason: 'invalid_number',
    disposition: 'failed',
    error: 'The number is not in service',
  },
  canceled: { status: 'canceled', endReason: 'api_hangup', disposition: 'canceled' },
  carrier: { status: 'failed', endReason: 'carrier_error', disposition: 'failed', error: 'The carrier failed' },
}

/** @param detail the carrier's own words, for the call log */
export function outcomeOfFailure(failure: DialFailure, detail?: string): DialOutcome {
  const outcome = OUTCOMES[failure]
  return detail === undefined ? outcome : { ...outcome, error: detail }
}

/** A machine took the call: the agent hangs up without a word. */
export const VOICEMAIL: DialOutcome = { status: 'completed', endReason: 'voicemail', disposition: 'voicemail' }

export const NO_CAPACITY: DialOutcome = {
  status: 'failed',
  endReason: 'no_capacity',
  disposition: 'failed',
  error: 'No voice worker is free',
}

export const WORKSPACE_FULL: DialOutcome = {
  ...NO_CAPACITY,
  error: 'The workspace has as many calls at once as it may',
}

/** The operator lets no call begin. */
export const MAINTENANCE: DialOutcome = {
  ...NO_CAPACITY,
  error: 'The installation is in maintenance: no new call is taken',
}

export const WEB_SESSIONS_FULL: DialOutcome = {
  ...NO_CAPACITY,
  error: 'The workspace has as many web sessions at once as it may',
}

export const WEB_NOT_CONNECTED: DialOutcome = {
  status: 'failed',
  endReason: 'connection_failed',
  disposition: 'failed',
  error: 'The browser opened a session, and its audio never came through',
}

export const WEB_GIVEN_UP: DialOutcome = { status: 'canceled', endReason: 'caller_hangup', disposition: 'canceled' }

export const NUMBER_FULL: DialOutcome = {
  ...NO_CAPACITY,
  error: 'The phone number has as many calls at once as it may',
}

/** The operator's limits leave no provider to serve the agent. */
export function notServed(quota: string): DialOutcome {
  return { ...NO_CAPACITY, error: `Quota reached: ${quota}` }
}

/** Refused right before the carrier was asked: no phone rang. */
export function skippedFor(reason: string, sentence: string): DialOutcome {
  return { status: 'canceled', endReason: 'skipped', disposition: reason, error: sentence }
}

/** The agent or its number was deleted between the request and the dialling. */
export const AGENT_GONE: DialOutcome = {
  status: 'failed',
  endReason: 'agent_deleted',
  disposition: 'failed',
  error: 'Agent not found',
}

/** The agent can't be run as it is: no phone rang. */
export function badAgent(sentence: string): DialOutcome {
  return { status: 'failed', endReason: 'error', disposition: 'failed', error: sentence }
}

export const SHUTDOWN: DialOutcome = {
  status: 'failed',
  endReason: 'shutdown',
  disposition: 'failed',
  error: 'The server was stopped',
}
