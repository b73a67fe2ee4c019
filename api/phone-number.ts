import { PatchbayError } from '../runtime/lib/errors.ts'
import { type PhoneNumber, parsePhoneNumber } from '../runtime/lib/phone-number.ts'

/** A number a caller sent, in E.164. An unescaped plus of a query or form arrives as a space. */
export function readPhoneNumber(text: string): PhoneNumber | undefined {
  return parsePhoneNumber(text.startsWith(' ') ? text.replace(/^ (?=\d)/, '+') : text)
}

/** As readPhoneNumber. Throws `invalid_phone_number`; a missing number is an invalid one. */
export function requirePhoneNumber(text: string | undefined): PhoneNumber {
  const number = text === undefined ? undefined : readPhoneNumber(text)
  if (number === undefined) throw new PatchbayError('invalid_phone_number')
  return number
}
