import type { CollectItem } from '../../call/types/collect-item.ts'
import { readAmount } from './read-amount.ts'
import { readDate } from './read-date.ts'
import { readEmail } from './read-email.ts'
import { readAddress, readChoice, readName } from './read-name.ts'
import { readDigits, readPhone } from './read-phone.ts'
import { readTime } from './read-time.ts'
import type { Reading, ReadingContext } from './reading.ts'
import { tokensOf } from './tokens.ts'

const MAX_FREE_CHARS = 2_000

/** What an answer says of an item; undefined: nothing that fits its type. */
export function readItem(item: CollectItem, text: string, context: ReadingContext): Reading | undefined {
  const tokens = tokensOf(text)
  switch (item.type) {
    case 'phone':
      return readPhone(tokens, context)
    case 'digits':
      return readDigits(tokens, item, context)
    case 'email':
      return readEmail(tokens, context)
    case 'date':
      return readDate(tokens, context)
    case 'time':
      return readTime(tokens, context)
    case 'number':
      return readAmount(tokens, context)
    case 'name':
      return readName(tokens, context)
    case 'address':
      return readAddress(tokens, context)
    case 'choice':
      return readChoice(tokens, item, context)
    case 'free':
      return text.trim() === ''
        ? undefined
        : { value: text.trim().slice(0, MAX_FREE_CHARS), confidence: 0.9, complete: false }
  }
}
