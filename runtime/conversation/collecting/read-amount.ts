import { digitsIn, numberAt } from './numbers.ts'
import { besideStrays, type Reading, type ReadingContext } from './reading.ts'
import type { SpokenForms } from './spoken-forms.ts'
import { isMark, isNumeral, phraseAt, type Token } from './tokens.ts'

/** A number or an amount, with a point before its decimals. */
export function readAmount(said: readonly Token[], { forms }: ReadingContext): Reading | undefined {
  // A comma between words is a pause, not the mark before decimals.
  const tokens = said.filter(({ raw }, at) => raw !== ',' || (isNumber(said[at - 1]) && isNumber(said[at + 1])))
  for (let at = 0; at < tokens.length; at++) {
    const whole = wholeAt(tokens, at, forms)
    if (whole === undefined || isLoneArticle(tokens, at, whole.length, forms)) continue
    const minus = at > 0 && (tokens[at - 1]!.raw === '-' || forms.minus.includes(tokens[at - 1]!.plain))
    const { value, length } = withFraction(tokens, at, whole, forms)
    const strays = tokens.filter((token, i) => !isMark(token) && (i < at || i >= at + length)).length
    return {
      value: `${minus ? '-' : ''}${value}`,
      confidence: besideStrays(0.9, Math.max(0, strays - 2)),
      complete: false,
    }
  }
  const half = tokens.map(({ plain }) => forms.half.get(plain)).find((value) => value !== undefined)
  return half === undefined ? undefined : { value: String(half), confidence: 0.6, complete: false }
}

const isNumber = (token: Token | undefined): boolean => token !== undefined && isNumeral(token)

interface Whole {
  readonly value: string
  readonly length: number
}

/** A number in words, or in numerals as the language groups them: `1.250,50` in German is 1250.50. */
function wholeAt(tokens: readonly Token[], at: number, forms: SpokenForms): Whole | undefined {
  const first = tokens[at]!
  const [, halved] = forms.glued ? (/^(.+?)(?:und)?einhalb$/.exec(first.plain) ?? []) : []
  const head = halved === undefined ? undefined : numberAt([{ ...first, plain: halved }], 0, forms)
  if (head !== undefined) return { value: String(head.value + 0.5), length: 1 }
  if (!isNumeral(first)) {
    const number = numberAt(tokens, at, forms)
    return number && { value: String(number.value), length: number.length }
  }
  const point = forms.code === 'en' ? '.' : ','
  let value = first.plain
  let behind = at + 1
  while (behind + 1 < tokens.length) {
    const [mark, next] = [tokens[behind]!, tokens[behind + 1]!]
    if (isNumeral(mark) && mark.plain.length === 3 && value.length <= 3) {
      value += mark.plain
      behind++
      continue
    }
    if (!mark.glued || !next.glued || !isNumeral(next) || !/^[.,'’]$/.test(mark.raw)) break
    const groups = mark.raw !== point && next.plain.length === 3
    value += groups ? next.plain : `.${next.plain}`
    behind += 2
    if (!groups) break
  }
  if (value.includes('.')) return { value, length: behind - at }
  const scaled = behind === at + 1 ? numberAt(tokens, at, forms) : undefined
  return scaled === undefined ? { value, length: behind - at } : { value: String(scaled.value), length: scaled.length }
}

function withFraction(tokens: readonly Token[], at: number, whole: Whole, forms: SpokenForms): Whole {
  let behind = at + whole.length
  const scale =
    phraseAt(tokens, behind, forms.million) > 0 ? 1_000_000 : phraseAt(tokens, behind, forms.thousand) > 0 ? 1_000 : 1
  if (scale > 1) return { value: String(Number(whole.value) * scale), length: behind + 1 - at }
  if (whole.value.includes('.')) return whole
  const named = phraseAt(tokens, behind, forms.decimal)
  if (named > 0) {
    // "Twelve point, five."
    const point = named + (tokens[behind + named]?.raw === ',' ? 1 : 0)
    const run = numberRun(tokens, behind + point, forms)
    const { digits } = digitsIn(run, forms)
    if (digits !== '') return { value: `${whole.value}.${digits}`, length: behind + point + run.length - at }
  }
  const half = halfAt(tokens, behind, forms)
  if (half !== undefined) return { value: String(Number(whole.value) + half.value), length: behind + half.length - at }
  const money = phraseAt(tokens, behind, forms.money)
  if (money === 0) {
    const cents = phraseAt(tokens, behind, forms.cents)
    return cents > 0 ? { value: (Number(whole.value) / 100).toFixed(2), length: whole.length + cents } : whole
  }
  behind += money
  behind += phraseAt(tokens, behind, forms.and)
  behind += phraseAt(tokens, behind, ['con', 'com'])
  const cents = numberAt(tokens, behind, forms)
  if (cents === undefined || cents.value >= 100) {
    const more = halfAt(tokens, at + whole.length + money, forms)
    return more === undefined
      ? whole
      : { value: String(Number(whole.value) + more.value), length: whole.length + money + more.length }
  }
  return { value: (Number(whole.value) + cents.value / 100).toFixed(2), length: behind + cents.length - at }
}

/** The tokens of numbers in a row from a place on. */
function numberRun(tokens: readonly Token[], from: number, forms: SpokenForms): readonly Token[] {
  let behind = from
  for (;;) {
    const number = behind < tokens.length ? numberAt(tokens, behind, forms) : undefined
    if (number === undefined) return tokens.slice(from, behind)
    behind += number.length
  }
}

/** "and a half". */
function halfAt(
  tokens: readonly Token[],
  from: number,
  forms: SpokenForms,
): { value: number; length: number } | undefined {
  const and = phraseAt(tokens, from, forms.and)
  for (const skip of [and, and + 1]) {
    if (and === 0 && skip > 0) break
    const value = forms.half.get(tokens[from + skip]?.plain ?? '')
    if (value !== undefined) return { value, length: skip + 1 }
  }
  return undefined
}

/** An article before another number is none: "ein Betrag von 20". */
function isLoneArticle(tokens: readonly Token[], at: number, length: number, forms: SpokenForms): boolean {
  if (length > 1 || !forms.looseDigits.has(tokens[at]!.plain)) return false
  return tokens.slice(at + 1).some((_, i) => numberAt(tokens, at + 1 + i, forms) !== undefined)
}
