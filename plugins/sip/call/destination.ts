import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { PhoneNumber } from '../../../runtime/phone-number.ts'

/** Numbers whose owner earns from being called: what toll fraud dials. */
const PREMIUM: ReadonlySet<string> = new Set(['PREMIUM_RATE', 'SHARED_COST', 'PAGER', 'UAN'])
/** Satellite and international networks: no country, and several dollars a minute. */
const NO_COUNTRY = /^\+(870|878|88[0-9]|979|8816|8817)/

/** Why this number may not be called, or undefined. Without a list, calls stay in the caller's own country. */
export function refusalOf(
  to: PhoneNumber,
  from: PhoneNumber,
  countries: readonly string[],
): { reason: 'country_not_allowed' | 'premium_number'; detail: string } | undefined {
  const number = parsePhoneNumberFromString(to)
  const own = parsePhoneNumberFromString(from)?.country
  const allowed = countries.length > 0 ? countries : own === undefined ? [] : [own]
  const type = number?.getType()
  if (NO_COUNTRY.test(to) || (type !== undefined && PREMIUM.has(type))) {
    return { reason: 'premium_number', detail: 'premium-rate and satellite numbers are not called' }
  }
  // Territories that share a country code are known by the number; where it can't be told, by the code.
  const country = number?.country ?? number?.getPossibleCountries()[0]
  if (country !== undefined && allowed.includes(country)) return undefined
  const where = country === undefined ? 'no known country' : country
  return {
    reason: 'country_not_allowed',
    detail: `${where} is not among the countries the trunk may call (${allowed.join(', ') || 'none'})`,
  }
}

/** The number a user part of a URI means: `+14155550100`, `0014155550100`, `14155550100`, or as it is dialled at home. */
export function readNumber(
  text: string,
  parse: (text: string) => PhoneNumber | undefined,
  countries: readonly string[],
): PhoneNumber | undefined {
  const user = text.split(';')[0] ?? ''
  const written = parse(user)
  if (written !== undefined || !/^\d{5,15}$/.test(user)) return written
  const full = parse(`+${user}`)
  if (full !== undefined) return full
  for (const country of countries) {
    const national = parsePhoneNumberFromString(user, country as CountryCode)
    if (national?.isValid()) return national.number as string as PhoneNumber
  }
  return undefined
}
