import { digitsIn, numberAt } from './numbers.ts'
import type { SpokenForms } from './spoken-forms.ts'
import { isLetter, isMark, isNumeral, phraseAt, type Token } from './tokens.ts'

/** A part of something spelt: a letter, digits, a mark of an address by its name, or a word as it is. */
export interface SpeltPart {
  readonly kind: 'letter' | 'digits' | 'word' | 'at' | 'dot' | 'dash' | 'underscore' | 'plus'
  readonly text: string
}

const MARK_TEXT = { at: '@', dot: '.', dash: '-', underscore: '_', plus: '+' } as const
type MarkKind = keyof typeof MARK_TEXT
const MARKS = Object.keys(MARK_TEXT) as MarkKind[]
/** So many words of a spelling alphabet in a row are one. */
const LEAST_SPELLING_WORDS = 3

const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' }

/** A word as an address has it: ASCII, `ü` as `ue` in German. */
function asciiOf({ raw, plain }: Token, forms: SpokenForms): string {
  if (forms.code !== 'de') return plain
  return raw
    .normalize('NFC')
    .toLowerCase()
    .replace(/[äöü]/g, (letter) => UMLAUTS[letter]!)
    .replaceAll('ß', 'ss')
}

/** The tokens read as a spelling: "double t", "m wie Martha", "alpha bravo charlie", "punto". */
export function speltParts(tokens: readonly Token[], forms: SpokenForms): SpeltPart[] {
  const parts: SpeltPart[] = []
  const inSpelling = spellingRuns(tokens, forms)
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]!
    const mark = markAt(tokens, at, forms, parts)
    if (mark !== undefined) {
      if (mark.kind !== undefined) parts.push({ kind: mark.kind, text: MARK_TEXT[mark.kind] })
      at += mark.length
      continue
    }
    const times = forms.repeats.get(token.plain)
    const repeated = times === undefined ? undefined : letterAt(tokens, at + 1, forms, true)
    if (times !== undefined && repeated !== undefined) {
      parts.push({ kind: repeated.kind, text: repeated.text.repeat(times) })
      at += 1 + repeated.length
      continue
    }
    const letter = letterAt(tokens, at, forms, isBesideLetter(tokens, at, forms))
    if (letter !== undefined) {
      parts.push({ kind: letter.kind, text: letter.text })
      at += letter.length
      continue
    }
    const number = isNumeral(token) ? undefined : numberAt(tokens, at, forms)
    if (
      number !== undefined &&
      !(forms.looseDigits.has(token.plain) && number.length === 1 && token.plain.length > 3)
    ) {
      const { digits } = digitsIn(tokens.slice(at, at + number.length), forms)
      parts.push({ kind: 'digits', text: digits === '' ? String(number.value) : digits })
      at += number.length
      continue
    }
    const isNoise = forms.spellingNoise.has(token.plain) && token.plain.length > 1 && isBesideLetter(tokens, at, forms)
    if (isNoise) at++
    else if (inSpelling.has(at)) {
      parts.push({ kind: 'letter', text: token.plain[0]! })
      at++
    } else {
      parts.push({ kind: 'word', text: asciiOf(token, forms) })
      at++
    }
  }
  return parts
}

function markAt(
  tokens: readonly Token[],
  at: number,
  { marks }: SpokenForms,
  before: readonly SpeltPart[],
): { kind: MarkKind | undefined; length: number } | undefined {
  const token = tokens[at]!
  if (isMark(token)) {
    const isInside = token.glued && tokens[at + 1]?.glued === true
    const kind = MARKS.find((one) => MARK_TEXT[one] === token.raw)
    if (kind === 'at' || kind === 'underscore' || kind === 'plus') return { kind, length: 1 }
    if (kind === 'dot') return { kind: isInside ? kind : undefined, length: 1 }
    const isBetweenLetters = kind === 'dash' && isInside && isLetter(tokens[at - 1]!) && isLetter(tokens[at + 1]!)
    return { kind: kind === 'dash' && isInside && !isBetweenLetters ? kind : undefined, length: 1 }
  }
  let found: { kind: MarkKind; length: number } | undefined
  for (const kind of MARKS) {
    const length = phraseAt(tokens, at, marks[kind])
    if (length > (found?.length ?? 0)) found = { kind, length }
  }
  // There is one @ in an address; the top-level domain of Austria is called as it is.
  if (found?.kind === 'at' && (before.at(-1)?.kind === 'dot' || before.some(({ kind }) => kind === 'at')))
    return undefined
  return found
}

/** A letter or a digit, by itself, by its name, or with the word it is explained by. */
function letterAt(
  tokens: readonly Token[],
  at: number,
  forms: SpokenForms,
  byName: boolean,
): { kind: 'letter' | 'digits'; text: string; length: number } | undefined {
  const token = tokens[at]
  if (token === undefined) return undefined
  if (isNumeral(token)) return { kind: 'digits', text: token.plain, length: 1 }
  if (isLetter(token)) {
    const text = token.raw.toLowerCase() === 'ß' ? 'ss' : letterOf(token, forms)
    return { kind: 'letter', text, length: 1 + explained(tokens, at + 1, token.plain, forms) }
  }
  if (!byName) return undefined
  const name = phraseAt(tokens, at, [...forms.letterNames.keys()])
  if (name > 0) {
    const said = tokens
      .slice(at, at + name)
      .map(({ plain }) => plain)
      .filter(Boolean)
      .join(' ')
    const text = forms.letterNames.get(said)
    if (text !== undefined) return { kind: 'letter', text, length: name + explained(tokens, at + name, text, forms) }
  }
  if (forms.digitWords.has(token.plain) || !forms.repeats.has(tokens[at - 1]?.plain ?? '')) return undefined
  const number = numberAt(tokens, at, forms)
  return number?.length === 1 && number.value < 10
    ? { kind: 'digits', text: String(number.value), length: 1 }
    : undefined
}

function letterOf(token: Token, { code }: SpokenForms): string {
  const letter = token.raw.normalize('NFC').toLowerCase()
  return code === 'de' ? (UMLAUTS[letter] ?? token.plain) : token.plain
}

/** How many tokens explain a letter: "wie Martha", "as in Mike". */
function explained(tokens: readonly Token[], from: number, letter: string, forms: SpokenForms): number {
  const length = phraseAt(tokens, from, forms.asIn)
  const word = tokens[from + length]
  return length > 0 && word?.plain.startsWith(letter[0]!) && word.plain.length > 1 ? length + 1 : 0
}

function isBesideLetter(tokens: readonly Token[], at: number, forms: SpokenForms): boolean {
  const isSpelt = (token: Token | undefined): boolean =>
    token !== undefined && (isLetter(token) || forms.letterNames.has(token.plain) || isNumeral(token))
  const next = tokens.slice(at + 1).find((token) => !isMark(token))
  const before = tokens.slice(0, at).findLast((token) => !isMark(token))
  return isSpelt(next) || isSpelt(before) || phraseAt(tokens, at + 1, forms.asIn) > 0
}

/** Where words stand for their first letters. */
function spellingRuns(tokens: readonly Token[], { spellingWords }: SpokenForms): ReadonlySet<number> {
  const runs = new Set<number>()
  let run: number[] = []
  const close = (): void => {
    if (run.length >= LEAST_SPELLING_WORDS) for (const at of run) runs.add(at)
    run = []
  }
  for (const [at, token] of tokens.entries()) {
    if (isMark(token)) continue
    if (spellingWords.has(token.plain)) run.push(at)
    else close()
  }
  close()
  return runs
}

/** Letters that stand in a row, two at least: `meyer` of "Meyer, M E Y E R". Empty: nothing was spelt. */
export function speltRuns(parts: readonly SpeltPart[]): string[] {
  const runs: string[] = []
  let run = ''
  let count = 0
  const close = (): void => {
    if (count >= 2) runs.push(run)
    run = ''
    count = 0
  }
  for (const { kind, text } of parts) {
    if (kind === 'letter') {
      run += text
      count += text.length
    } else close()
  }
  close()
  return runs
}
