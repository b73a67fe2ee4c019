import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { PhoneNumber } from '../../../runtime/phone-number.ts'
import type { Trunk } from '../../../runtime/telephony/trunk.ts'
import type { NUMBER_TYPES, TrunkSettings } from '../../../runtime/telephony/trunk-settings.ts'

/** Kinds of numbers by what libphonenumber calls them. Of a kind that can't be told, a number is premium: toll fraud dials it. */
const TYPES: Readonly<Record<string, readonly (typeof NUMBER_TYPES)[number][]>> = {
  FIXED_LINE: ['fixed_line'],
  MOBILE: ['mobile'],
  FIXED_LINE_OR_MOBILE: ['fixed_line', 'mobile'],
  TOLL_FREE: ['toll_free'],
  VOIP: ['voip'],
  PERSONAL_NUMBER: ['personal'],
  SHARED_COST: ['shared_cost'],
  UAN: ['shared_cost'],
  PREMIUM_RATE: ['premium'],
}
/** Where an area code is premium though the numbering plan's data doesn't say so. */
const PREMIUM_AREAS = /^\+1\d{3}976\d{4}$/
/** Satellite and international networks: no country, and several dollars a minute. */
const NO_COUNTRY = /^\+(870|878|88[0-9]|979|8816|8817)/

/** Why this number may not be called, or undefined. Without a list, calls stay in the caller's own country. */
export function refusalOf(
  to: PhoneNumber,
  from: PhoneNumber,
  { countries, settings }: Pick<Trunk, 'countries' | 'settings'>,
): { reason: 'country_not_allowed' | 'premium_number'; detail: string } | undefined {
  const number = parsePhoneNumberFromString(to)
  const own = parsePhoneNumberFromString(from)?.country
  const allowed = countries.length > 0 ? countries : own === undefined ? [] : [own]
  if (NO_COUNTRY.test(to))
    return { reason: 'premium_number', detail: 'premium-rate and satellite numbers are not called' }
  // Territories that share a country code are known by the number; where it can't be told, by the code.
  const country = number?.country ?? number?.getPossibleCountries()[0]
  if (country !== undefined && allowed.includes(country)) return refusalByType(number, to, settings.number_types)
  const where = country === undefined ? 'no known country' : country
  return {
    reason: 'country_not_allowed',
    detail: `${where} is not among the countries the trunk may call (${allowed.join(', ') || 'none'})`,
  }
}

function refusalByType(
  number: ReturnType<typeof parsePhoneNumberFromString>,
  to: PhoneNumber,
  types: TrunkSettings['number_types'],
): { reason: 'premium_number'; detail: string } | undefined {
  // Digits too many make no valid number, and may be cut off on the way to a premium one.
  const type = number?.isValid() === true ? number.getType() : undefined
  const kinds = PREMIUM_AREAS.test(to) ? (['premium'] as const) : (type && TYPES[type]) || (['premium'] as const)
  if (kinds.some((kind) => types.includes(kind))) return undefined
  const what =
    type === undefined ? 'a number of no known kind, which may be premium-rate,' : `a ${kinds.join('/')} number`
  return { reason: 'premium_number', detail: `${what} is not called; the trunk's number_types are ${types.join(', ')}` }
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
