import type { CarrierFigures } from '../../../runtime/call/types/leg.ts'
import { cleanText } from '../../../runtime/lib/text.ts'
import {
  blockWordsOf,
  type SignallingFacts,
  type Verdict,
  verdictOf,
} from '../../../runtime/plugin-sdk/telephony/cause.ts'
import { headerOf, headersOf, type SipHeader, type SipResponse, type Uri } from '../message/message.ts'
import { reasonOf } from '../message/serializer.ts'

/** Why a call was not to be, as its last answer says it. */
export interface Ending extends SignallingFacts {
  /** 0: no answer came at all. */
  readonly status: number
  readonly reason: string
  /** Where a redirection leads. */
  readonly contacts?: readonly Uri[]
  /** Retry-After of an overloaded peer; 0: absent. */
  readonly retryAfterS?: number
  /** Where an engine that blocked the call hears the caller's objection: a URL, a number or an address. */
  readonly redress?: string
}

interface Failed extends Verdict {
  /** For the operator. */
  readonly detail: string
}

const MAX_WORDS_CHARACTERS = 200

/** What became of a call by its last answer, and a sentence for the operator. */
export function failureOf(ending: Ending): Failed {
  const { status, reason, q850, redress } = ending
  const facts = { ...ending, sipStatus: status === 0 ? undefined : status }
  const verdict = verdictOf(facts)
  const { sentence } = verdict
  if (ending.ours !== undefined) return { ...verdict, detail: `SIP error: ${sentence ?? verdict.cause}` }
  const words = [...reason].filter((char) => char >= ' ' && char !== '\x7f').join('')
  const said = `${status} ${words.trim().slice(0, 120) || reasonOf(status)}`
  const cause = q850 === undefined ? '' : ` (Q.850 cause ${q850})`
  const by = verdict.failure === 'blocked' ? cleanText(blockWordsOf(facts) ?? '', MAX_WORDS_CHARACTERS) : ''
  const meant = sentence === undefined ? '' : `; ${sentence}${by === '' ? '' : ` (${by})`}`
  const objection = verdict.failure === 'blocked' && redress !== undefined ? `; to object: ${redress}` : ''
  return { ...verdict, detail: `SIP error: ${said}${cause}${meant}${objection}` }
}

/** The call log's entry of an unanswered call. */
export function endFigures(ending: Ending): CarrierFigures {
  const { status, q850, redress } = ending
  const { who, cause, failure } = failureOf(ending)
  return {
    // A status that nobody sent is no fact.
    ...(status === 0 || ending.ours !== undefined ? {} : { sipStatus: status }),
    ...(q850 === undefined ? {} : { q850 }),
    releasedBy: who === 'us' ? 'patchbay' : who,
    cause,
    ...(failure === 'blocked' && redress !== undefined ? { redress } : {}),
  }
}

/** The facts of a final answer. @param rangMs how long the callee's phone had rung; undefined: nothing said that it rang */
export function endingOf(response: SipResponse, rangMs: number | undefined): Ending {
  const { status, reason, contacts } = response
  const said = ['reason', 'warning', 'x-twilio-error', 'call-info'].flatMap((name) => headersOf(response, name))
  const retryAfterS = Number(/^\d{1,6}/.exec(headerOf(response, 'retry-after') ?? '')?.[0] ?? 0)
  const redress = redressOf(response)
  return {
    ...{ status, reason, q850: causeOf(response), words: [reason, ...said], rangMs, retryAfterS },
    contacts: contacts.map(({ uri }) => uri),
    ...(redress === undefined ? {} : { redress }),
  }
}

/**
 * Where a caller objects to a block: the jCard of 608 (RFC 8688, section 3.2.1), or the url, tel or email in the text of the
 * Reason header of 603+ (ATIS-1000099).
 */
function redressOf(response: SipResponse): string | undefined {
  const card = headersOf(response, 'call-info')
    .map((value) => /<([^<>\s]+)>[^,]*;\s*purpose\s*=\s*"?jwscard/i.exec(value)?.[1])
    .find((one) => one !== undefined)
  const named = headersOf(response, 'reason')
    .map((value) => /[";\s](?:url=(https:[^;"\s]+)|tel=([+\d][^;"\s]*)|email=([^;"\s]+@[^;"\s]+))/i.exec(value))
    .find((one) => one !== null)
  const found = card ?? named?.slice(1).find((one) => one !== undefined)
  return found === undefined ? undefined : cleanText(found, MAX_WORDS_CHARACTERS)
}

/** The cause of `Reason: Q.850;cause=17;text="busy"` (RFC 3326); undefined where no header says one. */
export function causeOf(message: { readonly headers: readonly SipHeader[] }): number | undefined {
  for (const value of headersOf(message, 'reason')) {
    const cause = /(?:^|,)\s*Q\.850\s*(?:;[^,]*)?;\s*cause\s*=\s*(\d{1,3})(?!\d)/i.exec(value)?.[1]
    if (cause !== undefined && Number(cause) <= 127) return Number(cause)
  }
  return undefined
}

/** Why we end a call, for the other side's own books (RFC 3326, ITU-T Q.850). @param reason why the session ended */
export function reasonHeader(reason: string | undefined): SipHeader {
  const [cause, text] = (reason !== undefined && CAUSES[reason]) || CLEARED
  return { name: 'reason', value: `Q.850;cause=${cause};text="${text}"` }
}

const CLEARED = [16, 'Normal call clearing'] as const
const CAUSES: Readonly<Record<string, readonly [number, string]>> = {
  no_answer: [19, 'No answer from user'],
  connection_lost: [41, 'Temporary failure'],
  shutdown: [41, 'Temporary failure'],
  no_capacity: [42, 'Switching equipment congestion'],
  no_codec: [65, 'Bearer capability not implemented'],
  answered_elsewhere: [26, 'Non-selected user clearing'],
}
