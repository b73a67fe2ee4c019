import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { PhoneNumber } from '../lib/phone-number.ts'
import type { DialBounds, DialRules } from '../plugin-sdk/telephony/carrier.ts'
import { type Destination, numbersMeantBy, readDestination } from '../plugin-sdk/telephony/destination.ts'
import type { Trunk } from '../plugin-sdk/telephony/trunk.ts'
import { DEFAULT_NUMBER_TYPES, type NumberType } from '../plugin-sdk/telephony/trunk-settings.ts'
import { PREMIUM_PREFIXES, SATELLITE, specialNumberIn } from './special-numbers.ts'

/**
 * Which numbers may be called: one policy for placed and transferred calls, over every carrier. Pure.
 *
 * The operator sets the outer bound of a workspace, the workspace narrows it, and a trunk narrows it again. Without named
 * countries, calls stay in the country of the calling number.
 */

const NO_BOUNDS: DialBounds = { countries: null, numberTypes: null }
export const NO_DIAL_RULES: DialRules = { operator: NO_BOUNDS, workspace: NO_BOUNDS }
export const ALL_COUNTRIES = '*'

export interface DialRefusal {
  readonly reason: 'country_not_allowed' | 'premium_number' | 'forbidden'
  /** Which rule, and the cure. */
  readonly detail: string
}

type TrunkRules = Pick<Trunk, 'name' | 'countries' | 'settings'>

/** What a destination is judged by. */
export interface DialCase {
  readonly rules: DialRules
  /** The calling number; of an extension its name. */
  readonly from: string
  /** The trunk the call goes over; undefined: the account of the operator's carrier. */
  readonly trunk: TrunkRules | undefined
  /** May extensions and SIP URIs be called? */
  readonly takesNames: boolean
}

interface Bound<T> {
  readonly list: readonly T[]
  /** Whose it is, and where it is changed. */
  readonly whose: string
}

const KINDS: Readonly<Record<string, readonly NumberType[]>> = {
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

/** Reads and judges what is to be called. The destination is what was read of the text, to be written anew. */
export function judge(text: string, by: DialCase): { destination: Destination } | { refusal: DialRefusal } {
  const destination = readDestination(text)
  if (destination === undefined || (destination.kind !== 'number' && !by.takesNames)) {
    const wanted = by.takesNames
      ? 'a number in E.164, an extension of up to 6 digits or a SIP URI of user and host'
      : 'a number in E.164, and this carrier calls nothing else'
    const detail = `${JSON.stringify(text.slice(0, 100))} can't be called: name ${wanted}`
    return { refusal: { reason: 'forbidden', detail } }
  }
  const refusal = refusalOfDestination(destination, by)
  return refusal === undefined ? { destination } : { refusal }
}

function refusalOfDestination(destination: Destination, by: DialCase): DialRefusal | undefined {
  if (destination.kind === 'number') return refusalOf(destination.number, by)
  return refusalOfUser(destination.kind === 'name' ? destination.name : destination.user, by)
}

/** Why the user part of a SIP URI may not be called: every number that it may mean has to be allowed. */
export function refusalOfUser(user: string, by: DialCase): DialRefusal | undefined {
  const homes = homesOf(by)
  const special = specialNumberIn(user, homes)
  if (special !== undefined) return refusalByKind([special], `"${user}" (${special.replace('_', ' ')})`, by)
  const numbers = numbersMeantBy(user, homes)
  for (const number of numbers) {
    const refusal = refusalOf(number, by)
    if (refusal !== undefined) return refusal
  }
  const digits = user.replace(/^\+/, '')
  if (numbers.length > 0 || !/^\d{7,}$/.test(digits)) return undefined
  return {
    reason: 'forbidden',
    detail: `"${user}" is a number of no country that may be called: write it in E.164, as +14155550100`,
  }
}

/** Why this number may not be called; undefined: it may. */
function refusalOf(to: PhoneNumber, by: Pick<DialCase, 'rules' | 'from' | 'trunk'>): DialRefusal | undefined {
  if (SATELLITE.test(to)) return refusalByKind(['satellite'], `${to} (premium-rate and satellite networks)`, by)
  const number = parsePhoneNumberFromString(to)
  // Territories that share a country code are distinguished by the number; otherwise the code decides.
  const country = number?.country ?? number?.getPossibleCountries()[0]
  for (const { list, whose } of countryBounds(by)) {
    if (list.includes(ALL_COUNTRIES) || (country !== undefined && list.includes(country))) continue
    const detail = `${to}: ${country ?? 'no known country'} is not among the countries ${whose}: ${list.join(', ') || 'none'}`
    return { reason: 'country_not_allowed', detail }
  }
  // Digits too many make no valid number, and may be cut off on the way to a premium one.
  const type = number?.isValid() === true ? number.getType() : undefined
  const isPremium = PREMIUM_PREFIXES.some((prefix) => prefix.test(to))
  // A number of unknown type counts as premium, as toll fraud uses those.
  const kinds = isPremium ? (['premium'] as const) : ((type && KINDS[type]) ?? (['premium'] as const))
  const what = type === undefined && !isPremium ? 'no known kind, which may be premium' : kinds.join('/')
  return refusalByKind(kinds, `${to} (${what})`, by)
}

function refusalByKind(
  kinds: readonly NumberType[],
  what: string,
  by: Pick<DialCase, 'rules' | 'trunk'>,
): DialRefusal | undefined {
  for (const { list, whose } of kindBounds(by)) {
    if (kinds.some((kind) => list.includes(kind))) continue
    const detail = `${what} is not called; the kinds ${whose} are ${list.join(', ') || 'none'}`
    return { reason: 'premium_number', detail }
  }
  return undefined
}

/** The country of the calling number; empty where it has none. */
function ownCountry(from: string): string[] {
  const country = parsePhoneNumberFromString(from)?.country
  return country === undefined ? [] : [country]
}

function countryBounds({ rules, from, trunk }: Pick<DialCase, 'rules' | 'from' | 'trunk'>): Bound<string>[] {
  const { operator, workspace } = rules
  const home = (cure: string): Bound<string> => ({
    list: ownCountry(from),
    whose: `that may be called, by default that of the calling number (${cure} names others)`,
  })
  const bounds: Bound<string>[] = []
  if (trunk !== undefined) {
    const { name, countries } = trunk
    if (countries.length > 0) bounds.push({ list: countries, whose: `of trunk "${name}"` })
    else bounds.push(home(`"countries" of trunk "${name}"`))
  } else if (operator.countries === null) bounds.push(home('the operator, in the "dial_countries" of the workspace,'))
  if (operator.countries !== null) {
    bounds.push({ list: operator.countries, whose: 'that the operator allows the workspace (dial_countries)' })
  }
  if (workspace.countries !== null) {
    bounds.push({ list: workspace.countries, whose: 'that the workspace allows itself (dial_countries)' })
  }
  return bounds
}

function kindBounds({ rules, trunk }: Pick<DialCase, 'rules' | 'trunk'>): Bound<NumberType>[] {
  const { operator, workspace } = rules
  const bounds: Bound<NumberType>[] = []
  if (trunk !== undefined)
    bounds.push({ list: trunk.settings.number_types, whose: `of trunk "${trunk.name}" (number_types)` })
  if (operator.numberTypes !== null) {
    bounds.push({ list: operator.numberTypes, whose: 'that the operator allows the workspace (dial_number_types)' })
  } else if (trunk === undefined) {
    bounds.push({ list: DEFAULT_NUMBER_TYPES, whose: 'that the operator allows by default (dial_number_types)' })
  }
  if (workspace.numberTypes !== null) {
    bounds.push({ list: workspace.numberTypes, whose: 'that the workspace allows itself (dial_number_types)' })
  }
  return bounds
}

/** Countries in whose networks digits without a country code may be dialled. */
function homesOf({ from, trunk }: DialCase): readonly string[] {
  return [...new Set([...ownCountry(from), ...(trunk?.countries ?? [])])]
}
