import { plain } from '../languages/plain.ts'
import type { SpokenForms } from './spoken-forms.ts'
import { isMark, isNumeral, phraseAt, type Token } from './tokens.ts'

/** A number in the words, and how many tokens it takes. */
export interface SpokenNumber {
  readonly value: number
  readonly length: number
}

interface Lexicon {
  /** Words to numbers below 1,000. */
  readonly numbers: ReadonlyMap<string, number>
  readonly longest: number
}

const lexicons = new WeakMap<SpokenForms, Lexicon>()

function lexiconOf(forms: SpokenForms): Lexicon {
  const known = lexicons.get(forms)
  if (known !== undefined) return known
  const numbers = new Map<string, number>()
  for (let n = 0; n < 1_000; n++) {
    for (const said of forms.cardinals(n)) if (!numbers.has(plain(said))) numbers.set(plain(said), n)
  }
  const longest = Math.max(...[...numbers.keys()].map((said) => said.split(' ').length))
  const lexicon = { numbers, longest }
  lexicons.set(forms, lexicon)
  return lexicon
}

/** The number below 1,000 whose words begin at a token, the longest one. */
function belowThousandAt(tokens: readonly Token[], from: number, forms: SpokenForms): SpokenNumber | undefined {
  const { numbers, longest } = lexiconOf(forms)
  let words = ''
  let found: SpokenNumber | undefined
  for (let at = from, count = 0; at < tokens.length && count < longest; at++) {
    const { plain: word, raw } = tokens[at]!
    if (word === '') {
      // Twenty-four is one number; "twenty, four" is two.
      if (raw === '-' && at > from) continue
      break
    }
    words = words === '' ? word : `${words} ${word}`
    count++
    const value = numbers.get(words)
    if (value !== undefined) found = { value, length: at - from + 1 }
  }
  return found
}

/** Of one word of hundreds and thousands: `zweitausenddreihundert`. */
function gluedThousand(word: string, forms: SpokenForms): number | undefined {
  if (!forms.glued) return undefined
  const { numbers } = lexiconOf(forms)
  for (const thousand of forms.thousand) {
    const at = word.indexOf(thousand)
    if (at < 0) continue
    const [before, behind] = [word.slice(0, at), word.slice(at + thousand.length).replace(/^und/, '')]
    const head = before === '' ? 1 : numbers.get(before)
    const rest = behind === '' ? 0 : numbers.get(behind)
    if (head !== undefined && rest !== undefined) return head * 1_000 + rest
  }
  return undefined
}

/** Of one word of more than ten hundreds: `neunzehnhundertfünfundachtzig`. */
function gluedHundreds(word: string, forms: SpokenForms): number | undefined {
  if (!forms.glued) return undefined
  const { numbers } = lexiconOf(forms)
  for (const hundred of forms.hundred) {
    const at = word.indexOf(hundred)
    const head = at <= 0 ? undefined : numbers.get(word.slice(0, at))
    const behind = word.slice(at + hundred.length).replace(/^und/, '')
    const rest = behind === '' ? 0 : numbers.get(behind)
    if (head !== undefined && head > 9 && head < 20 && rest !== undefined && rest < 100) return head * 100 + rest
  }
  return undefined
}

/** `nineteen` before `hundred eighty five`. */
function hundredsAt(
  tokens: readonly Token[],
  from: number,
  head: SpokenNumber | undefined,
  forms: SpokenForms,
): SpokenNumber | undefined {
  if (head === undefined || head.value < 11 || head.value > 19) return head
  const hundred = phraseAt(tokens, from + head.length, forms.hundred)
  if (hundred === 0) return head
  const behind = from + head.length + hundred
  const and = phraseAt(tokens, behind, forms.and)
  const rest = belowThousandAt(tokens, behind + and, forms)
  const adds = rest !== undefined && rest.value < 100
  return {
    value: head.value * 100 + (adds ? rest.value : 0),
    length: head.length + hundred + (adds ? and + rest.length : 0),
  }
}

/** The whole number that begins at a token, in words or numerals, with thousands and millions. */
export function numberAt(tokens: readonly Token[], from: number, forms: SpokenForms): SpokenNumber | undefined {
  let total = 0
  let at = from
  let found = false
  for (const [scale, names] of [
    [1_000_000, forms.million],
    [1_000, forms.thousand],
  ] as const) {
    const head = partAt(tokens, at, forms)
    const behind = at + (head?.length ?? 0)
    const scaled = phraseAt(tokens, behind, names)
    if (scaled === 0 || (head === undefined && scale === 1_000_000)) continue
    total += (head?.value ?? 1) * scale
    at = behind + scaled
    found = true
    const and = phraseAt(tokens, at, forms.and)
    if (and > 0 && partAt(tokens, at + and, forms) !== undefined) at += and
  }
  const rest = partAt(tokens, at, forms)
  if (rest === undefined) return found ? { value: total, length: at - from } : undefined
  return { value: total + rest.value, length: at + rest.length - from }
}

function partAt(tokens: readonly Token[], from: number, forms: SpokenForms): SpokenNumber | undefined {
  const token = tokens[from]
  if (token === undefined) return undefined
  if (isNumeral(token)) return { value: Number(token.plain), length: 1 }
  const glued = gluedThousand(token.plain, forms) ?? gluedHundreds(token.plain, forms)
  if (glued === undefined) return hundredsAt(tokens, from, belowThousandAt(tokens, from, forms), forms)
  const rest = belowThousandAt(tokens, from + 1, forms)
  const adds = rest !== undefined && glued % 1_000 === 0
  return { value: glued + (adds ? rest.value : 0), length: 1 + (adds ? rest.length : 0) }
}

/** Digits in the words, in the order said. */
export interface SpokenDigits {
  readonly digits: string
  /** It began with a plus. */
  readonly plus: boolean
  /** Words that are no digits. */
  readonly strays: number
}

interface Part {
  readonly digits: string | undefined
  readonly loose: boolean
}

/** All digits of an answer: single ones, groups ("vierundzwanzig"), doubled ones. Words that are also others count beside digits only. */
export function digitsIn(tokens: readonly Token[], forms: SpokenForms): SpokenDigits {
  const parts: Part[] = []
  let plus = false
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]!
    const isFirst = parts.every(({ digits }) => digits === undefined)
    const plusLength = token.raw === '+' ? 1 : isFirst ? phraseAt(tokens, at, forms.marks.plus) : 0
    if (plusLength > 0) {
      plus ||= isFirst
      at += plusLength
      continue
    }
    if (isMark(token)) {
      at++
      continue
    }
    const times = forms.repeats.get(token.plain)
    if (times !== undefined) {
      const next = digitNear(tokens, at + 1, forms)
      if (next !== undefined) {
        parts.push({ digits: next.digit.repeat(times), loose: false })
        at = next.behind
        continue
      }
    }
    const { digits, length } = digitsAt(tokens, at, forms) ?? { digits: undefined, length: 1 }
    parts.push({ digits, loose: length === 1 && forms.looseDigits.has(token.plain) })
    at += length
  }
  const isDigits = (part: Part | undefined): boolean => part?.digits !== undefined
  const isAlone = parts.filter((part) => isDigits(part)).length === 1 && parts.length <= 2
  const kept = parts.filter((part, i) => {
    if (!part.loose || isAlone) return isDigits(part)
    return isDigits(parts[i - 1]) || isDigits(parts[i + 1])
  })
  return { digits: kept.map(({ digits }) => digits).join(''), plus, strays: parts.length - kept.length }
}

/** The digits of one token, or of one number of several words. */
function digitsAt(
  tokens: readonly Token[],
  at: number,
  forms: SpokenForms,
): { digits: string; length: number } | undefined {
  const token = tokens[at]!
  if (isNumeral(token)) return { digits: token.plain, length: 1 }
  const word = forms.digitWords.get(token.plain)
  if (word !== undefined) return { digits: word, length: 1 }
  const number = belowThousandAt(tokens, at, forms)
  if (number !== undefined) {
    // "Eight hundred, five, five, five" is 800 555.
    const ends = number.value > 100 && number.value % 100 > 0 && number.value % 100 < 10 && number.length > 2
    const goesOn = ends && belowThousandAt(tokens, at + number.length, forms) !== undefined
    if (!goesOn) return { digits: String(number.value), length: number.length }
    return { digits: String(number.value - (number.value % 100)), length: number.length - 1 }
  }
  const glued = gluedThousand(token.plain, forms)
  return glued === undefined ? undefined : { digits: String(glued), length: 1 }
}

/** A single digit at a token, or behind an article: "dreimal die fünf". */
function digitNear(
  tokens: readonly Token[],
  from: number,
  forms: SpokenForms,
): { digit: string; behind: number } | undefined {
  for (const at of [from, from + 1]) {
    const token = tokens[at]
    if (token === undefined || isMark(token)) continue
    const read = digitsAt(tokens, at, forms)
    if (read?.digits.length === 1) return { digit: read.digits, behind: at + read.length }
    if (read !== undefined) return undefined
  }
  return undefined
}

/** The words with every number in numerals, plain: what patterns of dates and times are matched with. */
export function withNumerals(tokens: readonly Token[], forms: SpokenForms): string {
  const words: string[] = []
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]!
    if (isMark(token)) {
      // 10:30 and 3.5. stay together.
      const joins = /[.:/-]/.test(token.raw) && token.glued && tokens[at + 1]?.glued && isNumeral(tokens[at + 1]!)
      if (joins && words.length > 0) words[words.length - 1] += token.raw
      else if (token.raw === '.' && at > 0 && isNumeral(tokens[at - 1]!) && token.glued) words[words.length - 1] += '.'
      at++
      continue
    }
    const glue = token.glued && at > 0 && isMark(tokens[at - 1]!) && /[.:/-]$/.test(words.at(-1) ?? '')
    const number = isNumeral(token) ? { value: token.plain, length: 1 } : numberAt(tokens, at, forms)
    const word = number === undefined ? token.plain : String(number.value)
    if (glue) words[words.length - 1] += word
    else words.push(word)
    at += number?.length ?? 1
  }
  return words.join(' ')
}
