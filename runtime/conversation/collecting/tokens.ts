import { plain } from '../languages/plain.ts'

/** A word, a numeral or a mark of what was said. */
export interface Token {
  /** As it was written. */
  readonly raw: string
  /** Small letters without accents; empty for marks. */
  readonly plain: string
  /** No blank stands before it. */
  readonly glued: boolean
}

/** What is read of an answer; more is no number, address or name. */
const MAX_CHARS = 2_000

/** Parts an answer into words, numerals and marks; numerals of every script are written with 0–9. */
export function tokensOf(text: string, maxChars = MAX_CHARS): Token[] {
  const tokens: Token[] = []
  const source = asciiDigits(text.slice(0, maxChars).normalize('NFKC'))
  let end = 0
  for (const match of source.matchAll(/[\p{L}\p{M}]+|\p{N}+|[^\s\p{L}\p{M}\p{N}]/gu)) {
    const [raw] = match
    tokens.push({ raw, plain: plain(raw), glued: match.index === end && match.index > 0 })
    end = match.index + raw.length
  }
  return tokens
}

/** A text with the numerals of every script as 0–9. */
export const asciiDigits = (text: string): string => text.replace(/(?![0-9])\p{Nd}/gu, asciiDigit)

/** The digits of a script stand in a row, zero first. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!
  let zero = code
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
  return String(code - zero)
}

export const isNumeral = ({ plain }: Token): boolean => /^\p{N}+$/u.test(plain)
export const isMark = ({ plain }: Token): boolean => plain === ''
export const isLetter = ({ plain }: Token): boolean => /^[a-z]$/.test(plain)

/**
 * How many tokens the longest of the phrases takes that begins at a token; 0: none does. Hyphens and apostrophes between
 * its words are passed over; other marks are not.
 */
export function phraseAt(tokens: readonly Token[], from: number, phrases: readonly string[]): number {
  let longest = 0
  for (const phrase of phrases) {
    const length = matches(tokens, from, phrase.split(' '))
    if (length > longest) longest = length
  }
  return longest
}

/** Whether one of the phrases stands anywhere in the tokens. */
export const holdsPhrase = (tokens: readonly Token[], phrases: readonly string[]): boolean =>
  tokens.some((_, at) => phraseAt(tokens, at, phrases) > 0)

function matches(tokens: readonly Token[], from: number, words: readonly string[]): number {
  let at = from
  for (const [i, word] of words.entries()) {
    while (i > 0 && at < tokens.length && /^[-’']$/.test(tokens[at]!.raw)) at++
    if (tokens[at]?.plain !== word) return 0
    at++
  }
  return at - from
}

/** The tokens without the phrases they begin and end with, and without the marks around them. */
export function strippedOf(
  tokens: readonly Token[],
  { leads, trails }: { readonly leads: readonly string[]; readonly trails: readonly string[] },
): Token[] {
  let from = 0
  while (from < tokens.length) {
    const length = isMark(tokens[from]!) && tokens[from]!.raw !== '+' ? 1 : phraseAt(tokens, from, leads)
    if (length === 0) break
    // Nothing else is left: then it is the answer itself.
    if (tokens.slice(from + length).every(isMark)) break
    from += length
  }
  const rest = tokens.slice(from)
  while (rest.length > 0) {
    if (isMark(rest.at(-1)!)) {
      rest.pop()
      continue
    }
    const start = rest.findIndex((_, i) => {
      const length = phraseAt(rest, i, trails)
      return i > 0 && length > 0 && i + length === rest.length
    })
    if (start < 0) break
    rest.length = start
  }
  return rest
}

/** The text of tokens, blanks where they stood. */
export function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ raw, glued }, i) => (glued || i === 0 ? raw : ` ${raw}`)).join('')
}
