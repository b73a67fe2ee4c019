import { cleanText } from '../../../runtime/lib/text.ts'
import { readNumber } from '../../../runtime/plugin-sdk/telephony/destination.ts'
import { parseNameAddress, splitOutside } from '../message/grammar.ts'
import { headerOf, type NameAddress, SipParseError, type SipRequest } from '../message/message.ts'

/** The caller and the callee of an INVITE. Pure. */

const MAX_VALUE_LENGTH = 512
const MAX_NUMBER_LENGTH = 64
/** Identities asserted by the trunk come first, the phone's own claim last. */
const IDENTITIES = ['p-asserted-identity', 'remote-party-id', 'from'] as const
/** Headers that name the caller, whatever their From says. */
const IDENTIFYING: ReadonlySet<string> = new Set([
  'p-asserted-identity',
  'p-preferred-identity',
  'remote-party-id',
  'identity',
  'call-info',
  'referred-by',
  'from',
  'contact',
  'reply-to',
])
const HIDING: ReadonlySet<string> = new Set(['id', 'user', 'header'])
const ANONYMOUS = /^(?:anonymous|unavailable|unknown|restricted)$/i

/** What was dialled: a registrar puts its own contact into the request and leaves the number in To. */
export function dialledNumber(request: SipRequest, countries: readonly string[]): string {
  const users = [request.uri.user, addressOf(request, 'p-called-party-id')?.uri.user, request.to.uri.user]
  for (const user of users) {
    const number = user === undefined ? undefined : readNumber(user, countries)
    if (number !== undefined) return number
  }
  return cleanText(users.find((user) => user !== undefined && user !== '') ?? '', MAX_NUMBER_LENGTH)
}

/** The caller's number, else the name they have at home (`204`, `alice`); undefined: withheld. */
export function callerNumber(request: SipRequest, countries: readonly string[]): string | undefined {
  const users = identitiesOf(request).map((one) => plainUser(one?.uri.user))
  for (const user of users) {
    const number = user === undefined ? undefined : readNumber(user, countries)
    if (number !== undefined) return number
  }
  const name = users.find((user) => user !== undefined && user !== '' && !ANONYMOUS.test(user))
  return name === undefined ? undefined : cleanText(name, MAX_NUMBER_LENGTH)
}

/**
 * What an agent may say and tools may use: dynamic variables `sip_…`.
 * @param take names of headers that become variables of their own
 */
export function callerVariables(request: SipRequest, take: readonly string[]): Record<string, string> {
  const identities = identitiesOf(request)
  const asserted = identities.find((one) => one !== undefined)
  const name = identities.map((one) => one?.displayName?.trim()).find((one) => one !== undefined && one !== '')
  const verstat = identities.map((one) => one?.params.get('verstat') ?? one?.uri.params.get('verstat')).find(Boolean)
  const diversion = addressOf(request, 'diversion') ?? addressOf(request, 'history-info')
  const found: Record<string, string | undefined> = {
    sip_call_id: request.callId,
    sip_from_user: plainUser(asserted?.uri.user),
    sip_from_host: asserted?.uri.host,
    sip_from_name: name,
    sip_to_user: plainUser(request.to.uri.user),
    sip_dialled: plainUser(request.uri.user),
    sip_diversion: plainUser(diversion?.uri.user),
    sip_privacy: headerOf(request, 'privacy') ?? (isHidden(request) ? 'id' : undefined),
    sip_verstat: verstat,
    sip_attestation: headerOf(request, 'p-attestation-indicator') ?? headerOf(request, 'attestation-info'),
    sip_uui: headerOf(request, 'user-to-user'),
  }
  for (const header of take) {
    if (isHidden(request) && IDENTIFYING.has(header.toLowerCase())) continue
    found[`sip_${header.toLowerCase().replaceAll('-', '_')}`] = headerOf(request, header.toLowerCase())
  }
  const entries = Object.entries(found).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(entries.map(([key, value]) => [key, cleanText(textOf(value ?? ''), MAX_VALUE_LENGTH)]))
}

/** Does the caller withhold the number (RFC 3323, RFC 3325; `privacy` of Remote-Party-ID)? */
function isHidden(request: SipRequest): boolean {
  const wishes = (headerOf(request, 'privacy') ?? '').toLowerCase().split(/[;,\s]+/)
  if (wishes.some((wish) => HIDING.has(wish))) return true
  const remote = addressOf(request, 'remote-party-id')?.params.get('privacy')?.toLowerCase()
  return remote === 'full' || remote === 'uri' || remote === 'name,uri'
}

/** Does the caller ask that nothing of them be shown, their own From included, where no network on the way has hidden it? */
function isWhollyHidden(request: SipRequest): boolean {
  const wishes = (headerOf(request, 'privacy') ?? '').toLowerCase().split(/[;,\s]+/)
  return (
    wishes.includes('user') || addressOf(request, 'remote-party-id')?.params.get('privacy')?.toLowerCase() === 'full'
  )
}

/** Who calls: of one who withholds the number, only what the phone itself says of them. */
function identitiesOf(request: SipRequest): (NameAddress | undefined)[] {
  if (isWhollyHidden(request)) return []
  const names = isHidden(request) ? (['from'] as const) : IDENTITIES
  return names.map((name) => addressOf(request, name))
}

/**
 * `+14155550100;npdi=yes`: parameters of numbers (RFC 3966) are not to be spoken. `+1+14155550100`: some carriers put a country
 * before a number that has one.
 */
function plainUser(user: string | undefined): string | undefined {
  return user?.split(';')[0]?.replace(/^\+\d{1,3}(?=\+\d)/, '')
}

/** Bytes a character, as messages are kept, to the UTF-8 they mean. */
function textOf(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8')
}

function addressOf(request: SipRequest, name: string): NameAddress | undefined {
  if (name === 'from') return request.from
  try {
    const value = headerOf(request, name)
    return value === undefined ? undefined : parseNameAddress((splitOutside(value, ',')[0] ?? '').trim())
  } catch (error) {
    if (error instanceof SipParseError) return undefined
    throw error
  }
}
