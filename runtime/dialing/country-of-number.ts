import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

/** ISO 3166 of a number, the likeliest where several share its prefix; undefined where it is no number of a country. */
export function countryOfNumber(number: string | null): string | undefined {
  if (number === null) return undefined
  const parsed = parsePhoneNumberFromString(number)
  return parsed?.country ?? parsed?.getPossibleCountries()[0]
}
