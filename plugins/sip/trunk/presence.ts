import type { Trunk } from '../../../runtime/plugin-sdk/telephony/trunk.ts'
import { quote } from '../message/grammar.ts'
import type { SipHeader } from '../message/message.ts'
import { formatHost } from '../message/serializer.ts'

/** Our From, To and Contact towards a trunk. Pure. */

/** What our Contact names; undefined: the usual user, the address of the way. */
export interface ContactName {
  readonly user: string | undefined
  readonly host: string | undefined
}

export interface Presence {
  /** Request URI and To. */
  readonly target: string
  /** From, without its tag. */
  readonly from: string
  /** Besides: identity, privacy, the operator's own. */
  readonly headers: readonly SipHeader[]
}

/** Who is called: a number, an extension of the trunk (`204`), or a whole SIP URI. */
export function targetUri({ settings }: Trunk, authority: string, to: string): string {
  if (/^sips?:/i.test(to)) return to
  if (settings.tech_prefix === null || !to.startsWith('+')) return `sip:${escapeUser(to)}@${authority}`
  return `sip:${escapeUser(settings.tech_prefix + to.slice(1))}@${authority}`
}

/**
 * @param authority the trunk's host with its port, as URIs name it
 * @param host the trunk's host
 */
export function presenceOf(
  trunk: Trunk,
  { authority, host }: { authority: string; host: string },
  call: { from: string; to: string; displayName?: string | undefined; headers?: readonly SipHeader[] },
): Presence {
  const { settings } = trunk
  const domain = formatHost(settings.from_domain ?? host)
  const own = `sip:${escapeUser(call.from)}@${domain}`
  const hidden = settings.privacy
  const identity = settings.caller_identity
  const shown = settings.from_user === null ? own : `sip:${escapeUser(settings.from_user)}@${domain}`
  const name = call.displayName === undefined ? '' : `${quote(call.displayName)} `
  // A number that From does not say must stand somewhere: the trunk bills it, and hides it from the callee.
  const asserted = identity !== 'from' || hidden || settings.from_user !== null
  const headers: SipHeader[] = []
  if (asserted) {
    const header = identity === 'ppi' ? 'p-preferred-identity' : 'p-asserted-identity'
    headers.push({ name: header, value: `${name}<${own}>` })
  }
  if (hidden) headers.push({ name: 'privacy', value: 'id' })
  for (const [header, value] of Object.entries(settings.headers)) headers.push({ name: header.toLowerCase(), value })
  return {
    target: targetUri(trunk, authority, call.to),
    from: hidden ? '"Anonymous" <sip:anonymous@anonymous.invalid>' : `${name}<${shown}>`,
    headers: [...headers, ...(call.headers ?? [])],
  }
}

/** The address a trunk with an account is registered as. */
export function accountUri({ settings, username }: Trunk, host: string): string {
  const domain = formatHost(settings.from_domain ?? host)
  return username === undefined ? `sip:${domain}` : `sip:${escapeUser(username)}@${domain}`
}

/** A registrar calls us by the user of our Contact: the account's user by default. */
export function contactName({ settings, username, register }: Trunk): ContactName {
  return {
    user: settings.contact_user ?? (register && username !== undefined ? username : undefined),
    host: settings.contact_domain ?? undefined,
  }
}

/** `#` is the one character of a dialled key that a URI has another use for; the rest as RFC 3261, section 25.1. */
function escapeUser(text: string): string {
  return text.toWellFormed().replace(/[^A-Za-z0-9\-_.!~*'()&=+$,;?/]/gu, (char) => encodeURIComponent(char))
}
