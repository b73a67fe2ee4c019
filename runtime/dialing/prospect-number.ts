import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { numberInCell, type PhoneNumber } from '../lib/phone-number.ts'
import { shippedPlaces } from './zones.ts'

const LONGEST_INPUT = 40
/** What people write around digits, an international prefix included. */
const WRITTEN = /^[\s'"]*(\+|00|011)?[\d\s()[\]./\u00a0\u2010-\u2015\u202f-]+$/
/** Area code and the digit behind it decide whether a North American number exists. */
const NORTH_AMERICAN = /^\+?1?([2-9]\d{2}[2-9]\d{6})$/
const SAME_PLAN: ReadonlySet<string> = new Set(['US', 'CA'])

const assigned = new Map<string, boolean>()

/** Reads a number as people write it into E.164; one without a country code is of `country`. Undefined: no such number exists. */
export function readProspectNumber(cell: string, country: string): PhoneNumber | undefined {
  const text = numberInCell(cell)
  if (text.length > LONGEST_INPUT || !WRITTEN.test(text)) return undefined
  // A spreadsheet took the number for one and wrote it with a fraction.
  const digits = text.replace(/\.0$/, '').replace(/[^\d+]/g, '')
  const match = SAME_PLAN.has(country) || digits.startsWith('+1') ? NORTH_AMERICAN.exec(digits) : null
  if (match !== null && !/^\s*(00|011)/.test(text)) {
    const number = `+1${match[1]}`
    // A million rows share some thousand prefixes, and libphonenumber costs 5 µs a number.
    const prefix = number.slice(0, 6)
    let known = assigned.get(prefix)
    if (known === undefined) {
      // Our table of area codes decides: libphonenumber learns of new ones later.
      known =
        shippedPlaces().areaCodes.has(prefix.slice(2, 5)) || isValid(`${prefix}555123`.slice(0, 12), 'US') !== undefined
      assigned.set(prefix, known)
    }
    return known ? (number as PhoneNumber) : undefined
  }
  return isValid(digits.startsWith('+') ? digits : digits.replace(/^(00|011)/, '+'), country)
}

function isValid(text: string, country: string): PhoneNumber | undefined {
  const number = parsePhoneNumberFromString(text, country as CountryCode)
  return number?.isValid() ? (number.number as string as PhoneNumber) : undefined
}
