import { parsePhoneNumberFromString } from 'libphonenumber-js/min'

/** A number in E.164: `+` and 7 to 15 digits, of a country and length that exist. */
export type PhoneNumber = string & { readonly __brand: 'PhoneNumber' }

const E164 = /^\+[1-9]\d{6,14}$/
/** What people write around digits: spaces, dots, hyphens, dashes, brackets, slashes. Letters and extensions are refused. */
const WRITTEN = /^\s*(\+|00)[\d\s()[\]./\u00a0\u2010-\u2015\u202f-]+$/
const LONGEST_INPUT = 40
/** With what shows nothing. */
const LONGEST_RAW = 200
const INVISIBLE = /\p{Cf}/gu
/** Country code plus the digits that decide whether a national prefix is present. */
const PREFIX_LENGTH = 7
const MAX_PREFIXES = 20_000
/** North America: one length, and no national prefix to mistake for a digit of the number. */
const NORTH_AMERICAN = /^\+1[2-9]\d{9}$/

/** Prefix and length of an E.164 number → whether libphonenumber takes such a number as it is. */
const knownPrefixes = new Map<string, boolean>()

/**
 * Reads an international number as people write it (`+1 (415) 555-2671`, `0044 20 7946 0018`) into E.164. Undefined when
 * it has no country code, or a length its country doesn't use. Validity of the single number is the carrier's to say.
 */
export function parsePhoneNumber(text: string): PhoneNumber | undefined {
  if (NORTH_AMERICAN.test(text)) return text as PhoneNumber
  if (!E164.test(text)) {
    const plain = plainNumber(text)
    return plain.length <= LONGEST_INPUT && WRITTEN.test(plain) ? parseWritten(plain) : undefined
  }
  // A million rows of a file share few prefixes, and libphonenumber costs 5 µs a number.
  const prefix = `${text.length}${text.slice(0, PREFIX_LENGTH)}`
  let asIs = knownPrefixes.get(prefix)
  if (asIs === undefined) {
    asIs = parseWritten(text) === text
    if (knownPrefixes.size >= MAX_PREFIXES) knownPrefixes.clear()
    knownPrefixes.set(prefix, asIs)
  }
  return asIs ? (text as PhoneNumber) : parseWritten(text)
}

/**
 * A number as it looks: without the characters that show nothing (marks of direction, of no width, soft hyphens), which come along
 * where numbers are copied, and with digits of one form.
 */
export function plainNumber(text: string): string {
  return text.length > LONGEST_RAW ? text : text.normalize('NFKC').replace(INVISIBLE, '').trim()
}

/** A number in a cell of a file, without what spreadsheets and exports put around it: `="+1…"`, `tel:+1…`, `p:+1…`. */
export function numberInCell(cell: string): string {
  const plain = plainNumber(cell)
  const text = /^="?([^"]*)"?$/.exec(plain)?.[1] ?? plain
  return text.replace(/^(?:tel|p|phone):\s*/i, '')
}

/** Why a cell of a file is no number that can be called, and the cure. */
export function numberFault(cell: string): string {
  const text = numberInCell(cell)
  if (text === '') return 'The cell is empty'
  if (/^\d[.,]\d*E\+?\d+$/i.test(text)) {
    return 'A spreadsheet has shortened the number and its last digits are lost: format the column as text, enter the number again and save'
  }
  if (/\p{L}/u.test(text)) return 'It has letters in it'
  const digits = text.replace(/\D/g, '')
  if (digits.length < 7) return 'It is too short for a number with its country code'
  if (!/^\s*(\+|00)/.test(text))
    return 'It has no country code: write it as +14155550100, in a column that is formatted as text'
  return 'No number of its country has this length'
}

function parseWritten(text: string): PhoneNumber | undefined {
  const number = parsePhoneNumberFromString(text.trim().replace(/^00/, '+'))
  return number?.isPossible() ? (number.number as string as PhoneNumber) : undefined
}
