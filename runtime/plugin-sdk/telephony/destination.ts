import { isIPv4, isIPv6 } from 'node:net'
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { type PhoneNumber, parsePhoneNumber, plainNumber } from '../../lib/phone-number.ts'

/** A call's destination, parsed by a strict grammar: only the parts named here reach a carrier. */
export type Destination =
  | { readonly kind: 'number'; readonly number: PhoneNumber }
  /** An extension: digits so few that they are no number of somewhere else, or a word. */
  | { readonly kind: 'name'; readonly name: string }
  /** `host` is without the brackets of IPv6 and in lower case. */
  | {
      readonly kind: 'uri'
      readonly scheme: 'sip' | 'sips'
      readonly user: string
      readonly host: string
      readonly port: number | undefined
    }

const NAME = /^(?:[0-9*#]{1,6}|[A-Za-z][A-Za-z0-9._-]{0,62})$/
/** No parameters, headers or password: each could change who is called, how, or with what. */
const URI = /^(sips?):((?:[A-Za-z0-9._~!*+-]|%23){1,64})@(\[[0-9a-f:.]{2,45}\]|[A-Za-z0-9.-]{1,255})(?::(\d{1,5}))?$/i
const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/
const MAX_PORT = 65_535

/** Undefined: it is no number, no extension and no SIP URI of user and host. */
export function readDestination(text: string): Destination | undefined {
  const number = parsePhoneNumber(text)
  if (number !== undefined) return { kind: 'number', number }
  if (NAME.test(text)) return { kind: 'name', name: text }
  const [, scheme = '', user = '', bracketed = '', digits] = URI.exec(text) ?? []
  if (scheme === '') return undefined
  const host = bracketed.replace(/^\[|\]$/g, '').toLowerCase()
  const isHost = bracketed.startsWith('[') ? isIPv6(host) : isIPv4(host) || HOST_NAME.test(host)
  const port = digits === undefined ? undefined : Number(digits)
  if (!isHost || (port !== undefined && (port === 0 || port > MAX_PORT))) return undefined
  return {
    kind: 'uri',
    scheme: scheme.toLowerCase() === 'sips' ? 'sips' : 'sip',
    user: user.replaceAll('%23', '#'),
    host,
    port,
  }
}

/** A SIP URI in a cell of a file, formatted anew. Bare extensions of files are taken for numbers that are broken. */
export function readSipUri(cell: string): string | undefined {
  const destination = readDestination(plainNumber(cell))
  return destination?.kind === 'uri' ? formatDestination(destination) : undefined
}

/** The destination as one text again, made of what was read. */
export function formatDestination(destination: Destination): string {
  switch (destination.kind) {
    case 'number':
      return destination.number
    case 'name':
      return destination.name
    case 'uri': {
      const { scheme, user, host, port } = destination
      const authority = isIPv6(host) ? `[${host}]` : host
      return `${scheme}:${user.replaceAll('#', '%23')}@${authority}${port === undefined ? '' : `:${port}`}`
    }
  }
}

/** The number a user part of a URI means: `+14155550100`, `0014155550100`, `14155550100`, or as it is dialled at home. */
export function readNumber(text: string, countries: readonly string[]): PhoneNumber | undefined {
  const user = text.split(';')[0] ?? ''
  const written = parsePhoneNumber(user)
  if (written !== undefined || !/^\d{5,15}$/.test(user)) return written
  return parsePhoneNumber(`+${user}`) ?? nationalNumbers(user, countries)[0]
}

/** Every number the user part of a URI may mean in these countries; empty: not a number. */
export function numbersMeantBy(text: string, countries: readonly string[]): PhoneNumber[] {
  const user = text.split(';')[0] ?? ''
  const written = parsePhoneNumber(user)
  if (written !== undefined) return [written]
  if (!/^\d{7,15}$/.test(user)) return []
  const international = parsePhoneNumberFromString(`+${user}`)
  const abroad = international?.isValid() === true ? [international.number as string as PhoneNumber] : []
  return [...new Set([...abroad, ...nationalNumbers(user, countries)])]
}

function nationalNumbers(user: string, countries: readonly string[]): PhoneNumber[] {
  return countries.flatMap((country) => {
    const national = parsePhoneNumberFromString(user, country as CountryCode)
    return national?.isValid() === true ? [national.number as string as PhoneNumber] : []
  })
}
