import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { isTimeZone } from '../lib/zoned-time.ts'

/**
 * Where a prospect may be: every zone and every state whose hours must be open. A mobile number keeps its area code after a
 * move, so the number's zones, those of the given state or postal code and the given zone are all kept. A number of which
 * nothing is known has no zone, and is not called.
 */
export interface Whereabouts {
  /** Sorted; empty: unknown. */
  zones: readonly string[]
  /** `US-FL`, `CA-ON`, or the country alone; sorted. */
  regions: readonly string[]
}

interface Place {
  /** E.164. */
  number: string
  state?: string | null
  postalCode?: string | null
  /** IANA. */
  timezone?: string | null
}

export interface Places {
  whereaboutsOf(place: Place): Whereabouts
  /** `TX`, `US-TX` or `Texas` → `US-TX`; undefined for what is no state. */
  regionOf(state: string): string | undefined
  /** The first digits after +1. */
  readonly areaCodes: ReadonlyMap<string, readonly string[]>
}

interface Table {
  regions: Record<string, { zones: string; area_codes: string }>
  postal: { US: [string, string, string][]; CA: Record<string, string>; zones: Record<string, string> }
  prefix_zones: Record<string, string>
}

const FILE = join(import.meta.dirname, '../../config/number-places.json')
/** More candidates than any country's numbers have: the plan of +1 as a whole. */
const MAX_ZONES = 12
const LONGEST_PREFIX = 7
const MAX_CACHED = 50_000

let shipped: Places | undefined

/** Reads config/number-places.json, once a process: a small file, whose area codes are asked for in the middle of a row. */
export function shippedPlaces(): Places {
  shipped ??= makePlaces(JSON.parse(readFileSync(FILE, 'utf8')) as Table)
  return shipped
}

function makePlaces(table: Table): Places {
  const byPrefix = new Map<string, string[]>()
  for (const [zones, prefixes] of Object.entries(table.prefix_zones)) {
    for (const prefix of prefixes.split(' ')) byPrefix.set(prefix, zones.split(' '))
  }
  const areaCodes = new Map<string, string[]>()
  const regionZones = new Map<string, string[]>()
  for (const [region, { zones, area_codes }] of Object.entries(table.regions)) {
    regionZones.set(region, zones.split(' '))
    for (const code of area_codes.split(' ')) {
      if (code !== '') areaCodes.set(code, [...(areaCodes.get(code) ?? []), region])
    }
  }
  const zonesOfAreaCode = new Map<string, Set<string>>()
  for (const [prefix, zones] of byPrefix) {
    if (!prefix.startsWith('1') || prefix.length < 4) continue
    const code = prefix.slice(1, 4)
    const all = zonesOfAreaCode.get(code) ?? new Set()
    for (const zone of zones) all.add(zone)
    zonesOfAreaCode.set(code, all)
  }

  const ofNumber = new Map<string, Whereabouts>()
  /** What the number alone says. North American numbers are as exact as their area code, whose every zone counts. */
  const fromNumber = (number: string): Whereabouts => {
    const digits = number.slice(1)
    const key = digits.startsWith('1') ? digits.slice(0, 4) : `${digits.slice(0, LONGEST_PREFIX)}`
    let found = ofNumber.get(key)
    if (found === undefined) {
      found = digits.startsWith('1') ? northAmerican(digits.slice(1, 4)) : elsewhere(number)
      if (ofNumber.size >= MAX_CACHED) ofNumber.clear()
      ofNumber.set(key, found)
    }
    return found
  }
  const northAmerican = (code: string): Whereabouts => {
    const regions = areaCodes.get(code) ?? []
    const zones = [...(zonesOfAreaCode.get(code) ?? regions.flatMap((region) => regionZones.get(region) ?? []))]
    // Islands that share +1 have zones and no row of ours: their country is named by no region of the table.
    return { zones, regions: regions.length > 0 || zones.length === 0 ? regions : ['XX'] }
  }
  const elsewhere = (number: string): Whereabouts => {
    const digits = number.slice(1)
    for (let length = LONGEST_PREFIX; length > 0; length--) {
      const zones = byPrefix.get(digits.slice(0, length))
      if (zones === undefined) continue
      const country = parsePhoneNumberFromString(number)?.country
      return { zones: zones.length > MAX_ZONES ? [] : zones, regions: [country ?? 'XX'] }
    }
    return { zones: [], regions: [] }
  }

  const regionOf = (state: string): string | undefined => {
    const code = state.trim().toUpperCase()
    const named = STATE_NAMES.get(code)
    for (const candidate of [code, `US-${named ?? code}`, `CA-${named ?? code}`]) {
      if (regionZones.has(candidate)) return candidate
    }
    return undefined
  }
  const ofPostalCode = (text: string): { regions: string[]; zones: string[] | undefined } => {
    const code = text.trim().toUpperCase()
    if (/^[A-Z]\d[A-Z]/.test(code))
      return { regions: table.postal.CA[code.charAt(0)]?.split(' ') ?? [], zones: undefined }
    const prefix = /^\d{5}(-?\d{4})?$/.test(code) ? code.slice(0, 3) : undefined
    const row = prefix && table.postal.US.find(([from, to]) => prefix >= from && prefix <= to)
    if (!row) return { regions: [], zones: undefined }
    return { regions: [row[2]], zones: table.postal.zones[prefix ?? '']?.split(' ') }
  }

  return {
    areaCodes,
    regionOf,
    whereaboutsOf({ number, state, postalCode, timezone }) {
      // A SIP URI says nothing of where its phone is: the row has to.
      const isUri = !number.startsWith('+')
      const own = isUri ? UNKNOWN : fromNumber(number)
      if (isUri) {
        const named =
          timezone || (state && regionOf(state)) || (postalCode && ofPostalCode(postalCode).regions.length > 0)
        if (!named) return UNKNOWN
      } else if (own.zones.length === 0 && own.regions.length === 0) return UNKNOWN
      if (!state && !postalCode && !timezone) return sorted(own.zones, own.regions)
      const zones = [...own.zones]
      const regions = [...own.regions]
      if (timezone) {
        if (!isTimeZone(timezone)) return { zones: [], regions: sorted([], regions).regions }
        zones.push(timezone)
      }
      const postal = postalCode ? ofPostalCode(postalCode) : undefined
      const region = state ? regionOf(state) : undefined
      for (const place of [...(postal?.regions ?? []), ...(region === undefined ? [] : [region])]) regions.push(place)
      if (postal !== undefined && postal.regions.length > 0) {
        zones.push(...(postal.zones ?? postal.regions.flatMap((place) => regionZones.get(place) ?? [])))
      } else if (region !== undefined) zones.push(...(regionZones.get(region) ?? []))
      return sorted(zones, isUri && regions.length === 0 ? ['XX'] : regions)
    },
  }
}

const UNKNOWN: Whereabouts = { zones: [], regions: [] }

function sorted(zones: readonly string[], regions: readonly string[]): Whereabouts {
  return { zones: [...new Set(zones)].sort(), regions: [...new Set(regions)].sort() }
}

const STATE_NAMES = new Map(
  `ALABAMA AL,ALASKA AK,ARIZONA AZ,ARKANSAS AR,CALIFORNIA CA,COLORADO CO,CONNECTICUT CT,DELAWARE DE,DISTRICT OF COLUMBIA DC,
FLORIDA FL,GEORGIA GA,HAWAII HI,IDAHO ID,ILLINOIS IL,INDIANA IN,IOWA IA,KANSAS KS,KENTUCKY KY,LOUISIANA LA,MAINE ME,
MARYLAND MD,MASSACHUSETTS MA,MICHIGAN MI,MINNESOTA MN,MISSISSIPPI MS,MISSOURI MO,MONTANA MT,NEBRASKA NE,NEVADA NV,
NEW HAMPSHIRE NH,NEW JERSEY NJ,NEW MEXICO NM,NEW YORK NY,NORTH CAROLINA NC,NORTH DAKOTA ND,OHIO OH,OKLAHOMA OK,OREGON OR,
PENNSYLVANIA PA,RHODE ISLAND RI,SOUTH CAROLINA SC,SOUTH DAKOTA SD,TENNESSEE TN,TEXAS TX,UTAH UT,VERMONT VT,VIRGINIA VA,
WASHINGTON WA,WEST VIRGINIA WV,WISCONSIN WI,WYOMING WY,PUERTO RICO PR,GUAM GU,ALBERTA AB,BRITISH COLUMBIA BC,MANITOBA MB,
NEW BRUNSWICK NB,NEWFOUNDLAND AND LABRADOR NL,NOVA SCOTIA NS,ONTARIO ON,PRINCE EDWARD ISLAND PE,QUEBEC QC,QUÉBEC QC,
SASKATCHEWAN SK,YUKON YT,NORTHWEST TERRITORIES NT,NUNAVUT NU`
    .replaceAll('\n', '')
    .split(',')
    .map((row) => [row.slice(0, -3), row.slice(-2)] as const),
)
