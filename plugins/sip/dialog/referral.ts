import type { Referral } from '../media/rtp-leg.ts'
import { parseNameAddress } from '../message/grammar.ts'
import { headerOf, SipParseError, type SipRequest, type Uri } from '../message/message.ts'
import { parseReplaces } from './replaces.ts'

/** Where the other side wants to be led (RFC 3515), and whose place we are to take there (RFC 3891). */
interface Refer {
  readonly target: Uri
  /** The target without its headers. */
  readonly uri: string
  /** Value of the Replaces header. */
  readonly replaces: string
}

/** A call that goes on for one that was led elsewhere. */
export interface Successor {
  hangUp(reason?: string): void
  transfer(target: string): Promise<Referral>
}

/** Calls on behalf of the other side. */
export interface Lead {
  may(target: Uri): boolean
  call(refer: Refer, events: { answered(): void; failed(status: number): void }): Successor
}

/** Undefined: it names no dialog to take the place of, or can't be read. */
export function referOf(request: SipRequest): Refer | undefined {
  const value = headerOf(request, 'refer-to')
  if (value === undefined) return undefined
  try {
    const { uri } = parseNameAddress(value)
    const pair = uri.headers?.split('&').find((one) => /^replaces=/i.test(one))
    const replaces = pair === undefined ? '' : decodeURIComponent(pair.slice(pair.indexOf('=') + 1))
    if (parseReplaces(replaces) === undefined || /[\r\n]/.test(replaces)) return undefined
    return { target: uri, uri: withoutTurns(uri.text), replaces }
  } catch (error) {
    if (error instanceof SipParseError || error instanceof URIError) return undefined
    throw error
  }
}

/** Parameters by which a URI says how a request goes, and where: who names the target may not say that. */
const TURNS = /^(?:method|maddr|ttl)(?:=|$)/i

function withoutTurns(text: string): string {
  const [bare = ''] = text.split('?')
  return bare
    .split(';')
    .filter((part, i) => i === 0 || !TURNS.test(part))
    .join(';')
}
