/** Special-rate and emergency numbers that the numbering metadata does not distinguish. */

/**
 * Calling codes of no country: satellite networks, maritime and aeronautical ones, international networks and premium rate.
 * +800 (international freephone) is the one that is left out.
 */
export const SATELLITE = /^\+(?:870|878|88[1238]|979)/

/** Prefixes that cost more than their numbering plan's metadata says. */
export const PREMIUM_PREFIXES: readonly RegExp[] = [
  // 976 is premium in every area of the North American plan.
  /^\+1\d{3}976\d{4}$/,
]

/** Emergency numbers that telephones and networks take in any country (3GPP TS 22.101, section 10). */
const EMERGENCY_EVERYWHERE = /^(?:112|911|999)$/

/** Emergency numbers by country, besides those. */
const EMERGENCY: Readonly<Record<string, RegExp>> = {
  AE: /^99[789]$/,
  AR: /^10[0-9]$/,
  AT: /^1(?:22|33|44|40|41)$/,
  AU: /^(?:000|106)$/,
  BE: /^10[0-9]$/,
  BR: /^19[0-9]$/,
  CH: /^1(?:1[78]|4[3-5])$/,
  CL: /^13[0-9]$/,
  CN: /^1(?:10|19|20|22)$/,
  CO: /^1(?:19|23|25)$/,
  CZ: /^15[0568]$/,
  DE: /^110$/,
  DK: /^114$/,
  ES: /^0(?:61|62|80|85|88|91|92)$/,
  FR: /^(?:1[578]|11[459]|19[16])$/,
  GR: /^1(?:00|08|66|99)$/,
  HK: /^99[29]$/,
  HU: /^10[457]$/,
  IL: /^10[0-4]$/,
  IN: /^1(?:00|01|02|08|81)$/,
  IT: /^11[2358]$/,
  JP: /^11[089]$/,
  KR: /^11[2379]$/,
  MX: /^0(?:65|66|68)$/,
  NL: /^11[23]$/,
  NO: /^11[023]$/,
  NZ: /^111$/,
  PL: /^99[0-9]$/,
  PT: /^11[57]$/,
  RU: /^(?:10[1-4]|0[1-4])$/,
  SE: /^11(?:313|414)$/,
  SG: /^99[359]$/,
  TR: /^1(?:10|12|55|56|77)$/,
  UA: /^10[1-4]$/,
  ZA: /^10(?:111|177)$/,
}

const NORTH_AMERICA = /^(?:[2-8]11|988)$/
/** Harmonised services of social value (116 …) and directory enquiries (118 …), which put callers through at any price. */
const EUROPE = /^(?:116\d{3}|118\d{2,3})$/
/** Short codes by country: services that are billed above a call, or are no telephone of anybody's. */
const SHORT_CODES: Readonly<Record<string, readonly RegExp[]>> = {
  US: [NORTH_AMERICA],
  CA: [NORTH_AMERICA],
  GB: [EUROPE, /^1(?:0[015]|11|19|23|59|95)$/],
  FR: [EUROPE, /^(?:3\d{3}|10\d{2})$/],
  IT: [EUROPE, /^(?:4\d{2,4}|89\d{4})$/],
  AU: [/^12\d{2,4}$/, /^13\d{4}$/],
}
const EUROPEAN = new Set(
  'AT BE BG CH CY CZ DE DK EE ES FI GR HR HU IE IS LI LT LU LV MT NL NO PL PT RO SE SI SK'.split(' '),
)

/** What the digits of a name mean in these countries; undefined: nothing but an extension of a telephone system. */
export function specialNumberIn(digits: string, countries: readonly string[]): 'emergency' | 'short_code' | undefined {
  if (EMERGENCY_EVERYWHERE.test(digits)) return 'emergency'
  if (countries.some((country) => EMERGENCY[country]?.test(digits))) return 'emergency'
  const isCode = countries.some((country) => {
    const codes = SHORT_CODES[country] ?? (EUROPEAN.has(country) ? [EUROPE] : [])
    return codes.some((code) => code.test(digits))
  })
  return isCode ? 'short_code' : undefined
}
