import type { DialNews } from '../../packages/plugin/telephony.ts'
import type { AnsweredBy, CarrierCallState, DialFailure } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import { verdictOf } from '../../runtime/plugin-sdk/telephony/cause.ts'

/** Twilio's words for what becomes of a call, as ours. Pure. */

/** Numbers of Twilio's error catalogue that say the callee's number is at fault. */
const BAD_NUMBER_CODES = new Set([13_223, 13_224, 21_211, 21_214, 21_217, 21_401, 21_421])

/** Of the same catalogue: the call was blocked on its way, such as 32203 (potential fraud) and 32224 (regulatory). */
const BLOCK_CODES = new Set([32_203, 32_204, 32_205, 32_224])

/** True when the order was refused because of the number that was to be dialled. */
export function blamesNumber(code: number | undefined): boolean {
  return code !== undefined && BAD_NUMBER_CODES.has(code)
}

interface Failure {
  failure: DialFailure
  detail?: string
}

/** What a final status callback of a call that got no stream means; undefined for one that is not final. */
function failureOf(status: string, sipCode: number | undefined, errorCode: number | undefined): Failure | undefined {
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
      return { failure: 'hung_up' }
    default:
      return undefined
  }
}

function failedCall(sipCode: number | undefined, errorCode: number | undefined): Failure {
  if (blamesNumber(errorCode)) return { failure: 'invalid_number' }
  const clues = [
    ...(errorCode === undefined ? [] : [`error ${errorCode}`]),
    ...(sipCode === undefined ? [] : [`SIP ${sipCode}`]),
  ]
  const detail = `Twilio error: the call failed${clues.length > 0 ? ` (${clues.join(', ')})` : ''}`
  // The callee's network refuses with 403 what a trunk of our own would for our account's sake.
  if (BLOCK_CODES.has(errorCode ?? 0) || sipCode === 403 || sipCode === 608) return { failure: 'blocked', detail }
  // Whether a person refused it depends on whether it rang.
  if (sipCode === 603 || sipCode === 607) return { failure: 'rejected' }
  if (sipCode !== undefined) {
    const { failure } = verdictOf({ sipStatus: sipCode })
    if (failure !== 'carrier') return { failure }
  }
  return { failure: 'carrier', detail }
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
