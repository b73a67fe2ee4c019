import type { DialNews } from '../../packages/plugin/telephony.ts'
import type { AnsweredBy, DialFailure } from '../../runtime/plugin-sdk/telephony/carrier.ts'

/** Telnyx's hang-up causes as ours. Pure. */
const FAILURES: Readonly<Record<string, DialFailure>> = {
  user_busy: 'busy',
  timeout: 'no_answer',
  no_answer: 'no_answer',
  call_rejected: 'rejected',
  originator_cancel: 'canceled',
  unallocated_number: 'invalid_number',
  invalid_number_format: 'invalid_number',
  not_found: 'invalid_number',
}

/** The fields of a webhook's payload that are read here. */
export interface CallPayload {
  call_control_id?: string
  client_state?: string
  direction?: string
  from?: string
  to?: string
  hangup_cause?: string
  result?: string
}

/** A webhook of a call we dialled. */
export function dialNews(event: string, payload: CallPayload): DialNews {
  const carrierId = payload.call_control_id ?? ''
  // Telnyx has no event for ringing: between `call.initiated` and `call.answered` nothing comes.
  if (event !== 'call.hangup') return { carrierId, sent: event === 'call.initiated' }
  const cause = payload.hangup_cause ?? 'unspecified'
  if (cause === 'normal_clearing') {
    return { carrierId, over: { failure: 'hung_up', answered: true } }
  }
  const failure = FAILURES[cause] ?? 'carrier'
  const detail = failure === 'carrier' ? { detail: `Telnyx error: the call failed (${cause})` } : {}
  return { carrierId, over: { failure, answered: false, ...detail } }
}

export function answeredBy({ result = '' }: CallPayload): AnsweredBy {
  if (result.startsWith('human')) return 'human'
  if (result === 'fax_detected') return 'fax'
  return result.startsWith('machine') ? 'machine' : 'unknown'
}
