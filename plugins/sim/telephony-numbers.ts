import { type PhoneNumber, parsePhoneNumber } from '../../runtime/lib/phone-number.ts'

interface Range {
  code: string
  areaCode: RegExp
  /** Used when no area code is wanted. */
  defaultArea: string
  subscriberDigits: number
}

/** Where the simulated carrier sells numbers. The rest of a number is drawn. */
const RANGES: Readonly<Record<string, Range>> = {
  US: { code: '+1', areaCode: /^[2-9]\d\d$/, defaultArea: '415', subscriberDigits: 7 },
  CA: { code: '+1', areaCode: /^[2-9]\d\d$/, defaultArea: '416', subscriberDigits: 7 },
  GB: { code: '+44', areaCode: /^[12]\d{1,3}$/, defaultArea: '20', subscriberDigits: 8 },
}

export const COUNTRIES = Object.keys(RANGES)

/** A number of the country and area; undefined when the carrier has none. `randomInt(n)` is in [0, n). */
export function randomNumber(
  wanted: { country: string; areaCode?: string },
  randomInt: (limit: number) => number,
): PhoneNumber | undefined {
  const range = RANGES[wanted.country]
  const area = wanted.areaCode ?? range?.defaultArea ?? ''
  if (range === undefined || !range.areaCode.test(area)) return undefined
  const digits = range.subscriberDigits + range.defaultArea.length - area.length
  let subscriber = String(2 + randomInt(8))
  while (subscriber.length < digits) subscriber += String(randomInt(10))
  return parsePhoneNumber(`${range.code}${area}${subscriber}`)
}
