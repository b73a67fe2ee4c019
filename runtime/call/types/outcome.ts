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

/** Every `end_reason` of a call, of those that never became a conversation as well. */
export const CALL_END_REASONS = [
  'abandoned',
  'agent_deleted',
  'agent_hangup',
  'api_hangup',
  'batch_canceled',
  'blocked',
  'busy',
  'caller_hangup',
  'carrier_error',
  'connection_failed',
  'connection_lost',
  'error',
  'idle',
  'invalid_number',
  'max_duration',
  'no_answer',
  'no_capacity',
  'node_lost',
  'policy_violation',
  'rejected',
  'shutdown',
  'skipped',
  'token_expired',
  'transferred',
  'voicemail',
  'worker_lost',
] as const
export type CallEndReason = (typeof CALL_END_REASONS)[number]

/** What a conversation came to. */
export const CONVERSATION_DISPOSITIONS = [
  'completed',
  'hung_up',
  'failed',
  'transferred',
  'voicemail',
  'screened',
  'fax',
  'abandoned',
] as const

/** Every `disposition` of a call but the reason of a skipped one. */
export const CALL_DISPOSITIONS = [
  ...CONVERSATION_DISPOSITIONS,
  'blocked',
  'busy',
  'canceled',
  'no_answer',
  'rejected',
] as const

type Among<T extends CallEndReason> = T

/** Why a conversation ended. */
export type EndReason = Among<
  | LegEndReason
  | Exclude<SessionEndReason, 'worker_drained'>
  | 'no_capacity'
  /** No agent was free in time for a callee who had picked up. */
  | 'abandoned'
  /** Someone ended the call over the API. */
  | 'api_hangup'
  /** The worker died, and no other could take over. */
  | 'worker_lost'
>

/** How a call ended: exactly one per call. */
export interface Outcome {
  status: 'completed' | 'failed' | 'canceled'
  endReason: EndReason
  disposition: (typeof CONVERSATION_DISPOSITIONS)[number]
  error?: string
}
