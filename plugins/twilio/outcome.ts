import type { AnsweredBy, CarrierCallState, DialFailure } from '../../runtime/telephony/carrier.ts'
import type { DialNews } from '../../runtime/telephony/stream/dialled.ts'

/** Twilio's words for what becomes of a call, as ours. Pure. */

/** Numbers of Twilio's error catalogue that say the callee's number is at fault. */
const BAD_NUMBER_CODES = new Set([13_223, 13_224, 21_211, 21_214, 21_217, 21_401, 21_421])
/** Responses of the callee's network, RFC 3261, by what they mean. */
const INVALID_NUMBER_SIP = new Set([404, 410, 484, 604])
const BUSY_SIP = new Set([486, 600])
const REJECTED_SIP = new Set([403, 603, 607, 608])
const NO_ANSWER_SIP = new Set([408, 480, 487])

/** True when the order was refused because of the number that was to be dialled. */
export function blamesNumber(code: number | undefined): boolean {
  return code !== undefined && BAD_NUMBER_CODES.has(code)
}

export interface Failure {
  failure: DialFailure
  detail?: string
}

/** What a final status callback of a call that got no stream means; undefined for one that is not final. */
export function failureOf(
  status: string,
  sipCode: number | undefined,
  errorCode: number | undefined,
): Failure | undefined {
  switch (status) {
    case 'busy':
      return { failure: 'busy' }
    case 'no-answer':
      return { failure: 'no_answer' }
    case 'canceled':
      return { failure: 'canceled' }
    case 'failed':
      return failedCall(sipCode, errorCode)
    case 'completed':
      return { failure: 'rejected', detail: 'The callee hung up at once' }
    default:
      return undefined
  }
}

function failedCall(sipCode: number | undefined, errorCode: number | undefined): Failure {
  if (blamesNumber(errorCode)) return { failure: 'invalid_number' }
  if (sipCode !== undefined) {
    if (INVALID_NUMBER_SIP.has(sipCode)) return { failure: 'invalid_number' }
    if (BUSY_SIP.has(sipCode)) return { failure: 'busy' }
    if (REJECTED_SIP.has(sipCode)) return { failure: 'rejected' }
    if (NO_ANSWER_SIP.has(sipCode)) return { failure: 'no_answer' }
  }
  const clues = [
    ...(errorCode === undefined ? [] : [`error ${errorCode}`]),
    ...(sipCode === undefined ? [] : [`SIP ${sipCode}`]),
  ]
  return {
    failure: 'carrier',
    detail: `Twilio error: the call failed${clues.length > 0 ? ` (${clues.join(', ')})` : ''}`,
  }
}

/** A status callback, as news of a call we dialled. */
export function dialNews(form: Readonly<Record<string, string>>): DialNews {
  const { CallSid = '', CallStatus = '' } = form
  const failure = failureOf(CallStatus, numberIn(form.SipResponseCode), numberIn(form.ErrorCode))
  return {
    carrierId: CallSid,
    ringing: CallStatus === 'ringing',
    ...(failure === undefined ? {} : { over: { ...failure, answered: CallStatus === 'completed' } }),
  }
}

function numberIn(text: string | undefined): number | undefined {
  const value = Number(text)
  return text !== undefined && text !== '' && Number.isInteger(value) ? value : undefined
}

/** `AnsweredBy` of machine detection. */
export function answeredBy(value: string): AnsweredBy {
  if (value === 'human' || value === 'fax') return value
  return value.startsWith('machine') ? 'machine' : 'unknown'
}

export function stateOf(status: string): CarrierCallState {
  return status === 'queued' || status === 'initiated' || status === 'ringing' || status === 'in-progress'
    ? 'live'
    : 'ended'
}
