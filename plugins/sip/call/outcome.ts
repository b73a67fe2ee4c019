import { cleanText } from '../../../runtime/lib/text.ts'
import type { DialFailure } from '../../../runtime/plugin-sdk/telephony/carrier.ts'
import { meaningOf } from '../../../runtime/plugin-sdk/telephony/cause.ts'
import { headersOf, type SipHeader, type SipResponse, type Uri } from '../message/message.ts'
import { reasonOf } from '../message/serializer.ts'

/** Why a call was not to be, as its last answer says it. */
export interface Ending {
  /** 0: no answer came at all. */
  readonly status: number
  readonly reason: string
  readonly q850: number | undefined
  /** Where a redirection leads. */
  readonly contacts?: readonly Uri[]
  /** Retry-After of an overloaded peer; 0: absent. */
  readonly retryAfterS?: number
  /** Who refused the call in the callee's place, in its own words, as far as it gave any. */
  readonly block?: string
  /** The trunk said that it tries, and nothing more. */
  readonly stalled?: boolean
}

export interface Failed {
  failure: DialFailure
  /** For the operator. */
  detail: string
  /** Another way may lead there. */
  elsewhere: boolean
}

/** What became of a call by its last answer, and a sentence for the operator. */
export function failureOf({ status, reason, q850, block }: Ending): Failed {
  const words = [...reason].filter((char) => char >= ' ' && char !== '\x7f').join('')
  const { failure, sentence, elsewhere } = meaningOf({
    sipStatus: status === 0 ? undefined : status,
    q850,
    isBlock: block !== undefined,
  })
  const said = `${status} ${words.trim().slice(0, 120) || reasonOf(status)}`
  const cause = q850 === undefined ? '' : ` (Q.850 cause ${q850})`
  const by = block === undefined || block === '' ? '' : ` (${block})`
  const meant = sentence === undefined ? '' : `; ${sentence}${by}`
  return { failure, detail: `SIP error: ${said}${cause}${meant}`, elsewhere }
}

/** Words of carriers and analytics engines that block calls by who calls. */
const BLOCK_WORDS = /block|fraud|spam|robocall|nuisance|reputation|analytics|unwanted|violation|scam/i
/** Statuses and the cause by which a callee, or an engine in its place, refuses. */
const REFUSALS: ReadonlySet<number> = new Set([603, 607, 608])
const CALL_REJECTED = 21
const MAX_BLOCK_CHARACTERS = 200

/**
 * Was the call refused by the network instead of the callee? So it is where an engine says so (608, RFC 8688; 603+ of the FCC; a
 * carrier's own words), and where nothing rang that a person could have refused. Undefined: a person may have; else the words.
 */
export function blockOf(response: SipResponse, rang: boolean): string | undefined {
  if (!REFUSALS.has(response.status) && causeOf(response) !== CALL_REJECTED) return undefined
  const said = ['reason', 'warning', 'x-twilio-error', 'call-info'].flatMap((name) => headersOf(response, name))
  const words = [response.reason, ...said].find((one) => BLOCK_WORDS.test(one) || /purpose="?jwscard/i.test(one))
  if (words === undefined && response.status !== 608 && rang) return undefined
  return cleanText(words ?? '', MAX_BLOCK_CHARACTERS)
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
