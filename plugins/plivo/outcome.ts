import type { DialNews } from '../../packages/plugin/telephony.ts'
import type { AnsweredBy, DialFailure } from '../../runtime/plugin-sdk/telephony/carrier.ts'

/** Plivo's hang-up causes as ours. Pure. */
const FAILURES: Readonly<Record<string, DialFailure>> = {
  'Busy Line': 'busy',
  'No Answer': 'no_answer',
  'Ring Timeout Reached': 'no_answer',
  Rejected: 'rejected',
  Cancelled: 'canceled',
  'Invalid Destination Address': 'invalid_number',
  'Unallocated Number': 'invalid_number',
  'Destination Number Barred': 'carrier',
  'Machine Detected': 'no_answer',
}

/** A callback of a call we dialled: ring_url or hangup_url. */
export function dialNews(form: Readonly<Record<string, string>>): DialNews {
  const { CallUUID = '', CallStatus = '', HangupCauseName = '', Event = '' } = form
  if (Event !== 'Hangup' && form.HangupCause === undefined) {
    return { carrierId: CallUUID, ringing: CallStatus === 'ringing' || Event === 'Ring' }
  }
  if (CallStatus === 'completed') {
    return { carrierId: CallUUID, over: { failure: 'hung_up', answered: true } }
  }
  const byStatus = { busy: 'busy', 'no-answer': 'no_answer', timeout: 'no_answer', cancel: 'canceled' } as const
  const failure = FAILURES[HangupCauseName] ?? byStatus[CallStatus as keyof typeof byStatus] ?? 'carrier'
  const cause = HangupCauseName || form.HangupCause || CallStatus
  const detail = failure === 'carrier' ? { detail: `Plivo error: the call failed (${cause})` } : {}
  return { carrierId: CallUUID, over: { failure, answered: false, ...detail } }
}

export function answeredBy(form: Readonly<Record<string, string>>): AnsweredBy {
  return form.Machine === 'true' ? 'machine' : form.Machine === 'false' ? 'human' : 'unknown'
}
