import type { CollectItem } from '../../call/types/collect-item.ts'
import { plain } from '../languages/plain.ts'
import { numberAt } from './numbers.ts'
import type { Reading, ReadingContext } from './reading.ts'
import { speltParts, speltRuns } from './spelt-parts.ts'
import type { SpokenForms } from './spoken-forms.ts'
import { holdsPhrase, isMark, isNumeral, phraseAt, strippedOf, type Token, textOf } from './tokens.ts'

const MAX_CHARS = 500

/** A name as it is said, or as it is spelt where it is. */
export function readName(tokens: readonly Token[], { forms }: ReadingContext): Reading | undefined {
  const rest = strippedOf(tokens, forms)
  if (rest.length === 0) return undefined
  const runs = speltRuns(speltParts(rest, forms))
  if (runs.length === 0) {
    const value = capitals(textOf(rest).replaceAll(',', ''))
    return /\p{L}/u.test(value) ? { value: value.slice(0, MAX_CHARS), confidence: 0.6, complete: false } : undefined
  }
  const said = saidBeforeSpelling(rest, forms)
  const spelt = runs.map(capitals)
  const value = said.length > spelt.length || isOtherWord(said, runs) ? withSpelling(said, runs) : spelt.join(' ')
  return { value, confidence: 0.9, complete: false }
}

/** The words before the first letter. */
function saidBeforeSpelling(tokens: readonly Token[], forms: SpokenForms): string[] {
  const first = tokens.findIndex((token, at) => {
    const isFirst = token.plain.length === 1 || forms.repeats.has(token.plain)
    return (
      (isFirst || phraseAt(tokens, at, [...forms.letterNames.keys()]) > 0) && beginsSpelling(tokens.slice(at), forms)
    )
  })
  return tokens
    .slice(0, Math.max(0, first))
    .filter(({ plain: word }) => word !== '' && !forms.leads.includes(word) && !forms.spellingNoise.has(word))
    .map(({ raw }) => raw)
}

function beginsSpelling(tokens: readonly Token[], forms: SpokenForms): boolean {
  const [first, second] = speltParts(tokens, forms)
  return first?.kind === 'letter' && (first.text.length > 1 || second?.kind === 'letter')
}

const isOtherWord = (said: readonly string[], runs: readonly string[]): boolean =>
  said.length === 1 && runs.length === 1 && plain(said[0]!)[0] !== plain(runs[0]!)[0]

/** The name that was said, its last words as they were spelt: "Anna Meier, M E Y E R". */
function withSpelling(said: readonly string[], runs: readonly string[]): string {
  const words = [...said]
  for (const run of runs) {
    const at = words.findLastIndex((word) => plain(word)[0] === plain(run)[0])
    if (at >= 0) words[at] = run
    else words.push(run)
  }
  return words.map(capitals).join(' ')
}

/** The first letter of each word large, particles as they are. */
function capitals(text: string): string {
  return text.replace(/(^|[\s'’-])(\p{L})/gu, (_, before: string, letter: string) => `${before}${letter.toUpperCase()}`)
}

/** A postal address, its numbers in numerals. */
export function readAddress(tokens: readonly Token[], { forms }: ReadingContext): Reading | undefined {
  const rest = strippedOf(tokens, forms)
  const value = withNumeralsKept(rest, forms)
  const hasNumber = /\d/.test(value)
  if (!/\p{L}/u.test(value)) return undefined
  return { value: value.slice(0, MAX_CHARS), confidence: hasNumber ? 0.8 : 0.55, complete: false }
}

function withNumeralsKept(tokens: readonly Token[], forms: SpokenForms): string {
  const pieces: { text: string; digit: boolean; glued: boolean }[] = []
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]!
    const number = isMark(token) ? undefined : numberAt(tokens, at, forms)
    const isArticle = number?.length === 1 && forms.looseDigits.has(token.plain) && !pieces.at(-1)?.digit
    if (number === undefined || isArticle) {
      const zero = forms.digitWords.get(token.plain)
      const isDigit = zero !== undefined && pieces.at(-1)?.digit === true
      pieces.push({ text: isDigit ? zero : token.raw, digit: isDigit, glued: token.glued })
      at++
      continue
    }
    pieces.push({ text: isNumeral(token) ? token.raw : String(number.value), digit: true, glued: token.glued })
    at += number.length
  }
  let text = ''
  for (const [i, piece] of pieces.entries()) {
    // Digits of a postal code are said one by one.
    const joins = piece.digit && pieces[i - 1]?.digit === true && isRowOfDigits(pieces, i)
    text += i === 0 || piece.glued || joins ? piece.text : ` ${piece.text}`
  }
  return text
}

/** Single digits in a row, three at least. */
function isRowOfDigits(pieces: readonly { text: string; digit: boolean }[], at: number): boolean {
  const isSingle = (i: number): boolean => pieces[i]?.digit === true && pieces[i].text.length <= 2
  let [from, to] = [at, at]
  while (isSingle(from - 1)) from--
  while (isSingle(to + 1)) to++
  return isSingle(at) && to - from + 1 >= 3
}

/** One of the options, by its words or its place. */
export function readChoice(
  tokens: readonly Token[],
  item: CollectItem,
  { forms }: ReadingContext,
): Reading | undefined {
  const options = item.options ?? []
  const said = ` ${tokens
    .map(({ plain: word }) => word)
    .filter(Boolean)
    .join(' ')} `
  const named = options.filter((option) => said.includes(` ${plain(option)} `))
  const longest = named.sort((a, b) => b.length - a.length)[0]
  if (longest !== undefined) {
    const others = named.filter((option) => !plain(longest).includes(plain(option)))
    return others.length === 0 ? { value: longest, confidence: 0.95, complete: true } : undefined
  }
  const partly = options.filter((option) =>
    plain(option)
      .split(' ')
      .some((word) => word.length > 3 && said.includes(` ${word} `)),
  )
  if (partly.length === 1) return { value: partly[0]!, confidence: 0.7, complete: false }
  const place = placeIn(tokens, forms)
  const option = place === undefined ? undefined : options.at(place)
  return option === undefined ? undefined : { value: option, confidence: 0.75, complete: false }
}

/** The first, the last, the n-th, or a number. */
function placeIn(tokens: readonly Token[], forms: SpokenForms): number | undefined {
  const { first, last, nth } = forms.corrections
  const has = (phrases: readonly string[]): boolean => holdsPhrase(tokens, phrases)
  if (has(last)) return -1
  if (has(first)) return 0
  const later = nth.findIndex(has)
  if (later >= 0) return later + 1
  const [number] = tokens
    .flatMap((token, at) => (isMark(token) ? [] : [numberAt(tokens, at, forms)?.value]))
    .filter((n) => n !== undefined)
  return number !== undefined && number >= 1 ? number - 1 : undefined
}
