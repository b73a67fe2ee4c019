import type { CollectItem } from '../../call/types/collect-item.ts'
import { digitsIn, numberAt, withNumerals } from './numbers.ts'
import { fitting, saidDate } from './read-date.ts'
import { readEmail } from './read-email.ts'
import { readItem } from './read-item.ts'
import { digitsReading, phoneOf } from './read-phone.ts'
import { clockOf } from './read-time.ts'
import type { Reading, ReadingContext } from './reading.ts'
import { speltParts, speltRuns } from './spelt-parts.ts'
import type { SpokenForms } from './spoken-forms.ts'
import { phoneGroups } from './spoken-value.ts'
import { holdsPhrase, isMark, phraseAt, strippedOf, type Token, textOf, tokensOf } from './tokens.ts'

/** What the caller says to a value that was read back. */
export type ReadBackReply =
  | { readonly type: 'confirmed' }
  | { readonly type: 'corrected'; readonly reading: Reading }
  /** It is wrong, and what is right was not said. */
  | { readonly type: 'wrong' }
  | { readonly type: 'unclear' }

const CORRECTED = 0.85

/** Reads a reply to the value that was read back: a yes, a no, a part that is wrong, or the whole again. */
export function readReply(item: CollectItem, value: string, text: string, context: ReadingContext): ReadBackReply {
  const { forms } = context
  const tokens = tokensOf(text)
  const { rest, yes, no } = withoutYesAndNo(tokens, forms)
  if (rest.every(isMark)) return yes && !no ? { type: 'confirmed' } : no ? { type: 'wrong' } : { type: 'unclear' }
  // "No es seis sino siete": the no belongs to what follows.
  const part = byPart(item, value, rest, context) ?? (no ? byPart(item, value, tokens, context) : undefined)
  const reading = part ?? readItem(item, textOf(rest), context)
  const isText = item.type === 'name' || item.type === 'address' || item.type === 'free'
  // Any words are a name: only those behind a "no" are another one.
  if (reading === undefined || (isText && yes && !no))
    return { type: yes && !no ? 'confirmed' : no ? 'wrong' : 'unclear' }
  if (reading.value === value) return { type: no ? 'wrong' : 'confirmed' }
  return { type: 'corrected', reading: { ...reading, complete: false } }
}

/** The caller says no more than a yes: they are not waited for. */
export function isPlainYes(text: string, forms: SpokenForms): boolean {
  const { rest, yes, no } = withoutYesAndNo(tokensOf(text), forms)
  return yes && !no && rest.every(isMark)
}

function withoutYesAndNo(
  tokens: readonly Token[],
  { corrections }: SpokenForms,
): { rest: Token[]; yes: boolean; no: boolean } {
  let [yes, no] = [false, false]
  let at = 0
  while (at < tokens.length) {
    const [yesLength, noLength] = [phraseAt(tokens, at, corrections.yes), phraseAt(tokens, at, corrections.no)]
    if (isMark(tokens[at]!) && tokens[at]!.raw !== '+') at++
    else if (noLength > 0 && noLength >= yesLength) {
      no = true
      at += noLength
    } else if (yesLength > 0) {
      yes = true
      at += yesLength
    } else break
  }
  return { rest: tokens.slice(at), yes, no }
}

function byPart(
  item: CollectItem,
  value: string,
  tokens: readonly Token[],
  context: ReadingContext,
): Reading | undefined {
  switch (item.type) {
    case 'phone': {
      const { plus, groups } = phoneGroups(value, context.country)
      const digits = rowCorrected(groups.join(''), tokens, context.forms)
      return digits === undefined ? undefined : phoneOf(digits, plus, context.country)
    }
    case 'digits': {
      const digits = rowCorrected(value, tokens, context.forms)
      return digits === undefined ? undefined : digitsReading(digits, item)
    }
    case 'date':
      return dateCorrected(value, tokens, context)
    case 'time':
      return halfOfDay(value, tokens, context.forms)
    case 'email':
      return emailCorrected(value, tokens, context)
    case 'name': {
      const corrected = nameCorrected(value, tokens, context.forms)
      return corrected === undefined ? undefined : { value: corrected, confidence: CORRECTED, complete: false }
    }
    case 'address':
      return addressCorrected(value, tokens, context.forms)
    default:
      return undefined
  }
}

/** A row of digits with what was said of its parts; undefined: nothing that can be placed in it. */
function rowCorrected(row: string, tokens: readonly Token[], forms: SpokenForms): string | undefined {
  const swapped = swapIn(row, tokens, forms, (said) => digitsIn(tokensOf(said), forms).digits)
  if (swapped !== undefined) return swapped
  const place = placeIn(tokens, forms)
  if (place !== undefined) {
    const after = withoutArticles(tokens.slice(place.behind), forms)
    // "È sei": a digit at the end is one, also where it is another word elsewhere.
    const behind = digitsIn(after, forms).digits || digitsIn(after.slice(-1), forms).digits
    const digits = behind === '' ? digitsIn(tokens.slice(0, place.at), forms).digits : behind
    if (digits === '' || digits.length >= row.length) return undefined
    const from = place.from < 0 ? row.length + place.from - (place.from === -1 ? digits.length - 1 : 0) : place.from
    return from < 0 || from + digits.length > row.length
      ? undefined
      : row.slice(0, from) + digits + row.slice(from + digits.length)
  }
  const { digits } = digitsIn(tokens, forms)
  return digits.length < 2 || digits.length >= row.length - 1 ? undefined : nearest(row, digits)
}

/** "C'est un neuf": an article before a digit is none. */
function withoutArticles(tokens: readonly Token[], forms: SpokenForms): Token[] {
  return tokens.filter((token, at) => {
    const isFirst = tokens.slice(0, at).every((before) => isMark(before) || numberAt([before], 0, forms) === undefined)
    return !(isFirst && forms.looseDigits.has(token.plain) && numberAt(tokens, at + 1, forms) !== undefined)
  })
}

/** The row with the one group replaced that differs least from what was said. */
function nearest(row: string, digits: string): string | undefined {
  let best: { from: number; differs: number } | undefined
  let isUnique = false
  for (let from = 0; from + digits.length <= row.length; from++) {
    const differs = [...digits].filter((digit, i) => digit !== row[from + i]).length
    if (best === undefined || differs < best.differs) {
      best = { from, differs }
      isUnique = true
    } else if (differs === best.differs) isUnique = false
  }
  if (best === undefined || !isUnique || best.differs === 0 || best.differs > digits.length / 2) return undefined
  return row.slice(0, best.from) + digits + row.slice(best.from + digits.length)
}

/** Of which digits something is said: from the beginning, or from the end where negative. */
function placeIn(
  tokens: readonly Token[],
  forms: SpokenForms,
): { readonly from: number; readonly at: number; readonly behind: number } | undefined {
  const { last, first, nth, lastButOne } = forms.corrections
  const places: readonly (readonly [phrases: readonly string[], from: number])[] = [
    [lastButOne, -2],
    [last, -1],
    [first, 0],
    ...nth.map((phrases, i) => [phrases, i + 1] as const),
  ]
  for (const [phrases, from] of places) {
    for (let at = 0; at < tokens.length; at++) {
      const length = phraseAt(tokens, at, phrases)
      if (length === 0) continue
      let behind = at + length
      // "The last two are four five": how many they are is none of them.
      const count = numberAt(tokens, behind, forms)
      const isCount =
        count !== undefined && count.value < 10 && digitsIn(tokens.slice(behind + count.length), forms).digits !== ''
      if (isCount) behind += count.length
      return { from, at, behind }
    }
  }
  return undefined
}

/** A text with the part replaced that was said to be another: "not 6 but 7". */
function swapIn(
  text: string,
  tokens: readonly Token[],
  forms: SpokenForms,
  read: (said: string) => string,
): string | undefined {
  const said = withNumerals(tokens, forms)
  for (const form of forms.corrections.swaps) {
    const { old = '', new: replacement = '' } = form.exec(said)?.groups ?? {}
    const [from, to] = [read(old), read(replacement)]
    if (from === '' || to === '' || from === to) continue
    const at = text.toLowerCase().lastIndexOf(from.toLowerCase())
    if (at >= 0) return text.slice(0, at) + to + text.slice(at + from.length)
  }
  return undefined
}

function dateCorrected(value: string, tokens: readonly Token[], context: ReadingContext): Reading | undefined {
  const said = saidDate(tokens, context.forms)
  const parts = [said.year, said.month, said.day].filter((part) => part !== undefined).length
  if (parts === 0 || (said.month !== undefined && said.day !== undefined)) return undefined
  const [year = 0, month = 1, day = 1] = value.split('-').map(Number)
  const corrected = fitting({ year, month, day, ...said }, value)
  return corrected === undefined ? undefined : { value: corrected, confidence: CORRECTED, complete: false }
}

/** "In the evening", of a time that was read back. */
function halfOfDay(value: string, tokens: readonly Token[], forms: SpokenForms): Reading | undefined {
  const isNumber = tokens.some((token, at) => !isMark(token) && numberAt(tokens, at, forms) !== undefined)
  const pm = holdsPhrase(tokens, forms.times.pm)
  if (isNumber || (!pm && !holdsPhrase(tokens, forms.times.am))) return undefined
  const [hours = 0, minutes = 0] = value.split(':').map(Number)
  const hour = (hours % 12) + (pm ? 12 : 0)
  return { value: clockOf(hour * 60 + minutes), confidence: CORRECTED, complete: false }
}

function emailCorrected(value: string, tokens: readonly Token[], context: ReadingContext): Reading | undefined {
  const { forms } = context
  if (readEmail(tokens, context) !== undefined) return undefined
  const [local = '', domain = ''] = value.split('@')
  const parts = speltParts(strippedOf(tokens, forms), forms)
  const at = parts.findIndex(({ kind }) => kind === 'at')
  const says = (corrected: string): Reading => ({ value: corrected, confidence: CORRECTED, complete: false })
  if (at === 0) {
    const asWhole = readEmail(tokensOf(`x ${textOf(tokens)}`), context)?.value
    return asWhole === undefined ? undefined : says(`${local}@${asWhole.slice(asWhole.indexOf('@') + 1)}`)
  }
  const swapped = swapIn(value, tokens, forms, (said) => said)
  if (swapped !== undefined) return says(swapped)
  const lettered = letterCorrected(local, tokens, forms)
  if (lettered !== undefined) return says(`${lettered}@${domain}`)
  const runs = speltRuns(parts)
  const [run] = runs
  if (at < 0 && run !== undefined && runs.length === 1 && run.length > 2) {
    const labels = local.split(/([._-])/)
    const like = labels.findLastIndex((label) => label[0] === run[0])
    if (like >= 0) labels[like] = run
    return says(`${like >= 0 ? labels.join('') : run}@${domain}`)
  }
  // "The ending is net."
  const [ending] = parts.filter(({ kind }) => kind === 'dot').length === 1 ? parts.slice(-1) : []
  const isEnding = parts[0]?.kind === 'dot' && ending?.kind === 'word'
  return isEnding ? says(`${local}@${domain.replace(/\.[a-z]+$/, `.${ending.text}`)}`) : undefined
}

function nameCorrected(value: string, tokens: readonly Token[], forms: SpokenForms): string | undefined {
  const swapped = swapIn(value, tokens, forms, (said) => said)
  if (swapped !== undefined) return swapped
  const lettered = letterCorrected(value, tokens, forms)
  if (lettered !== undefined) return lettered
  const runs = speltRuns(speltParts(strippedOf(tokens, forms), forms))
  if (runs.length === 0) return undefined
  const words = value.split(' ')
  for (const run of runs) {
    const spelt = run[0]!.toUpperCase() + run.slice(1)
    const at = words.findLastIndex((word) => word[0]?.toLowerCase() === run[0])
    if (at >= 0) words[at] = spelt
    else words[words.length - 1] = spelt
  }
  return words.join(' ')
}

/** Letters that are taken for each other, by the one that is meant. */
const TAKEN_FOR: Readonly<Record<string, readonly string[]>> = {
  y: ['i', 'j', 'u'],
  i: ['y', 'j', 'e'],
  j: ['y', 'g', 'i'],
  c: ['k', 's', 'z'],
  k: ['c', 'ck', 'q'],
  f: ['v', 'ph', 's'],
  v: ['w', 'f', 'b'],
  w: ['v'],
  s: ['z', 'c', 'f'],
  z: ['s', 'c'],
  m: ['n'],
  n: ['m'],
  d: ['t', 'b'],
  t: ['d', 'th'],
  b: ['p', 'd', 'v'],
  p: ['b', 't'],
  e: ['i', 'a'],
  a: ['e', 'o'],
  o: ['u', 'a'],
  u: ['o'],
  x: ['ks', 'cs', 'j'],
  h: ['k', 'j'],
  g: ['j', 'k'],
}

/** "With a y", "with double t": the letter that was taken for another. */
function letterCorrected(text: string, tokens: readonly Token[], forms: SpokenForms): string | undefined {
  const at = tokens.findIndex((_, i) => phraseAt(tokens, i, forms.corrections.spelt) > 0)
  if (at < 0) return undefined
  const parts = speltParts(tokens.slice(at + 1), forms)
  const letters = parts.filter(({ kind }) => kind === 'letter')
  const letter = letters.at(-1)?.text ?? forms.letterNames.get(tokens[at + 1]?.plain ?? '')
  if (letter === undefined) return undefined
  // "With two t" is "with double t".
  const isTwo = parts.some(({ kind, text: said }) => kind === 'digits' && said === '2')
  const meant = isTwo && letter.length === 1 ? letter.repeat(2) : letter
  if (/^(.)\1$/.test(meant)) {
    const place = text.toLowerCase().search(new RegExp(`(?<!${meant[0]})${meant[0]}(?!${meant[0]})`))
    return place < 0
      ? undefined
      : text.slice(0, place) + text[place] + text[place]!.toLowerCase() + text.slice(place + 1)
  }
  for (const other of TAKEN_FOR[meant] ?? []) {
    const place = text.toLowerCase().lastIndexOf(other)
    if (place < 0) continue
    const isLarge = text[place] !== text[place]!.toLowerCase()
    return text.slice(0, place) + (isLarge ? meant.toUpperCase() : meant) + text.slice(place + other.length)
  }
  return undefined
}

const HOUSE_NUMBER = new Set(
  'number house hausnummer nummer nr numero civico numeral la the die es is ist e c est le el o postcode postleitzahl zip code postal codigo code cap'.split(
    ' ',
  ),
)
/** A number with so many digits is a postal code. */
const LEAST_POSTAL_DIGITS = 4

function addressCorrected(value: string, tokens: readonly Token[], forms: SpokenForms): Reading | undefined {
  const swapped = swapIn(value, tokens, forms, (said) => said)
  if (swapped !== undefined) return { value: swapped, confidence: CORRECTED, complete: false }
  const rest = strippedOf(tokens, forms)
  const said = rest.slice(rest.findIndex(({ plain }) => !HOUSE_NUMBER.has(plain)))
  const { digits, strays } = digitsIn(said, forms)
  if (digits === '' || strays > 0) return undefined
  const isPostal = digits.length >= LEAST_POSTAL_DIGITS
  const place = [...value.matchAll(/\d+/g)].find(([number]) => number.length >= LEAST_POSTAL_DIGITS === isPostal)
  if (place === undefined) return undefined
  const corrected = value.slice(0, place.index) + digits + value.slice(place.index + place[0].length)
  return { value: corrected, confidence: CORRECTED, complete: false }
}
