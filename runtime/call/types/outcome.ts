import type { Static } from 'typebox'
import { stringEnum } from '../../lib/string-enum.ts'
import type { LegEndReason } from './leg.ts'

/** Why a conversation ends itself. */
export const SESSION_END_REASON = stringEnum(
  'idle',
  'max_duration',
  'agent_hangup',
  'voicemail',
  'error',
  'worker_drained',
)
export type SessionEndReason = Static<typeof SESSION_END_REASON>

export type EndReason =
  | LegEndReason
  | Exclude<SessionEndReason, 'worker_drained'>
  | 'no_capacity'
  /** No agent was free in time for a callee who had picked up. */
  | 'abandoned'
  /** Someone ended the call over the API. */
  | 'api_hangup'
  /** The worker died, and no other could take over. */
  | 'worker_lost'

/** How a call ended: exactly one per call. */
export interface Outcome {
  status: 'completed' | 'failed' | 'canceled'
  endReason: EndReason
  disposition: 'completed' | 'hung_up' | 'failed' | 'transferred' | 'voicemail' | 'screened' | 'fax' | 'abandoned'
  error?: string
}
