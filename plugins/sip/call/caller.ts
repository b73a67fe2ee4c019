import { cleanText } from '../../../runtime/lib/text.ts'
import { readNumber } from '../../../runtime/plugin-sdk/telephony/destination.ts'
import { parseNameAddress, splitOutside } from '../message/grammar.ts'
import { headerOf, type NameAddress, SipParseError, type SipRequest } from '../message/message.ts'

/** The caller and the callee of an INVITE. Pure. */

const MAX_VALUE_LENGTH = 512
const MAX_NUMBER_LENGTH = 64
/** Identities asserted by the trunk come first, the phone's own claim last. */
const IDENTITIES = ['p-asserted-identity', 'remote-party-id', 'from'] as const
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
  const users = IDENTITIES.map((name) => addressOf(request, name)?.uri.user)
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
  const identities = IDENTITIES.map((name) => addressOf(request, name))
  const asserted = identities.find((one) => one !== undefined)
  const name = identities.map((one) => one?.displayName?.trim()).find((one) => one !== undefined && one !== '')
  const verstat = identities.map((one) => one?.params.get('verstat') ?? one?.uri.params.get('verstat')).find(Boolean)
  const diversion = addressOf(request, 'diversion') ?? addressOf(request, 'history-info')
  const found: Record<string, string | undefined> = {
    sip_call_id: request.callId,
    sip_from_user: asserted?.uri.user,
    sip_from_host: asserted?.uri.host,
    sip_from_name: name,
    sip_to_user: request.to.uri.user,
    sip_dialled: request.uri.user,
    sip_diversion: diversion?.uri.user,
    sip_privacy: headerOf(request, 'privacy'),
    sip_verstat: verstat,
    sip_attestation: headerOf(request, 'p-attestation-indicator') ?? headerOf(request, 'attestation-info'),
    sip_uui: headerOf(request, 'user-to-user'),
  }
  for (const header of take) {
    found[`sip_${header.toLowerCase().replaceAll('-', '_')}`] = headerOf(request, header.toLowerCase())
  }
  const entries = Object.entries(found).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(entries.map(([key, value]) => [key, cleanText(textOf(value ?? ''), MAX_VALUE_LENGTH)]))
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
