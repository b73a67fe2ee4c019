import { isSupportedCountry, parsePhoneNumberFromString, validatePhoneNumberLength } from 'libphonenumber-js/min'
import type { CollectItem } from '../../call/types/collect-item.ts'
import { digitsIn } from './numbers.ts'
import { besideStrays, type Reading, type ReadingContext } from './reading.ts'
import type { Token } from './tokens.ts'

/** A telephone number in E.164; undefined: the digits are none. */
export function readPhone(tokens: readonly Token[], { forms, country }: ReadingContext): Reading | undefined {
  const { digits, plus, strays } = digitsIn(tokens, forms)
  return phoneOf(digits, plus, country, strays)
}

/** @param strays words beside the digits */
export function phoneOf(said: string, plus: boolean, from: string, strays = 0): Reading | undefined {
  if (said.length < 4) return undefined
  const country = isSupportedCountry(from) ? from : undefined
  const international = plus || said.startsWith('00')
  const digits = plus ? said : said.replace(/^00/, '')
  const candidates = international ? [`+${digits}`] : [said, `+${said}`]
  for (const candidate of candidates) {
    const number = parsePhoneNumberFromString(candidate, country)
    if (number === undefined || !number.isPossible()) continue
    const isValid = number.isValid()
    if (!isValid && !international && candidate.startsWith('+')) continue
    const longer = validatePhoneNumberLength(`${number.nationalNumber}0`, number.country ?? country)
    return {
      value: number.number,
      confidence: besideStrays(isValid ? 0.95 : 0.6, strays),
      complete: isValid && longer === 'TOO_LONG',
    }
  }
  return undefined
}

/** A row of digits, by voice or by key. */
export function readDigits(
  tokens: readonly Token[],
  item: CollectItem,
  { forms }: ReadingContext,
): Reading | undefined {
  const { digits, strays } = digitsIn(tokens, forms)
  return digitsReading(digits, item, strays)
}

export function digitsReading(digits: string, { length, luhn }: CollectItem, strays = 0): Reading | undefined {
  if (digits === '' || (length !== undefined && digits.length !== length)) return undefined
  if (luhn === true && !passesLuhn(digits)) return undefined
  const isSure = length !== undefined || luhn === true
  return { value: digits, confidence: besideStrays(isSure ? 0.95 : 0.85, strays), complete: length !== undefined }
}

/** The check digit of ISO/IEC 7812-1 annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0
  for (const [i, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (i % 2 === 1 ? 2 : 1)
    sum += value > 9 ? value - 9 : value
  }
  return digits.length > 1 && sum % 10 === 0
}
