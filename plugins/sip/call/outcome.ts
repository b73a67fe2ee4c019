import type { DialFailure } from '../../../runtime/plugin-sdk/telephony/carrier.ts'
import { meaningOf } from '../../../runtime/plugin-sdk/telephony/cause.ts'
import { headersOf, type SipHeader, type Uri } from '../message/message.ts'
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
}

export interface Failed {
  failure: DialFailure
  /** For the operator. */
  detail: string
  /** Another way may lead there. */
  elsewhere: boolean
}

/** What became of a call by its last answer, and a sentence for the operator. */
export function failureOf({ status, reason, q850 }: Ending): Failed {
  const words = [...reason].filter((char) => char >= ' ' && char !== '\x7f').join('')
  const { failure, sentence, elsewhere } = meaningOf({ sipStatus: status === 0 ? undefined : status, q850 })
  const said = `${status} ${words.trim().slice(0, 120) || reasonOf(status)}`
  const cause = q850 === undefined ? '' : ` (Q.850 cause ${q850})`
  const meant = sentence === undefined ? '' : `; ${sentence}`
  return { failure, detail: `SIP error: ${said}${cause}${meant}`, elsewhere }
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
