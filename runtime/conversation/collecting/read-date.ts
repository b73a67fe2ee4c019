import { instantOf, wallClock } from '../../lib/zoned-time.ts'
import { numberAt } from './numbers.ts'
import type { Reading, ReadingContext } from './reading.ts'
import type { SpokenForms } from './spoken-forms.ts'
import { holdsPhrase, isMark, isNumeral, type Token } from './tokens.ts'

const DAY_MS = 86_400_000
const NUMERIC = /(?<!\d)(\d{1,2})\s?[./-]\s?(\d{1,2})(?:\s?[./-]\s?(\d{4}|\d{2}))?(?!\d)/
const ISO = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/
const ORDINAL_ENDINGS = new Set(['st', 'nd', 'rd', 'th', 'er', 'o', 'a', 'ro', 'e', 'eme', 'te', 'ten'])

interface Part {
  readonly word: string
  readonly value?: number
  readonly at: number
}

/** Parts of a date that were said. */
export interface SaidDate {
  readonly year?: number
  readonly month?: number
  readonly day?: number
}

/** A date as `YYYY-MM-DD` in the call's zone: the next one that fits what was said. */
export function readDate(tokens: readonly Token[], context: ReadingContext): Reading | undefined {
  const today = wallClock(context.nowMs, context.timeZone)
  const relative = relativeDate(tokens, context, today)
  if (relative !== undefined) return { value: relative, confidence: 0.85, complete: false }
  const said = saidDate(tokens, context.forms)
  if (said.day === undefined) return undefined
  const value = fitting(said, today.date)
  if (value === undefined) return undefined
  return { value, confidence: said.month === undefined ? 0.6 : said.year === undefined ? 0.85 : 0.95, complete: false }
}

/** The parts of a date in the words, without those that were not said. */
export function saidDate(tokens: readonly Token[], forms: SpokenForms): SaidDate {
  const text = tokens.map(({ raw, glued }) => (glued ? raw : ` ${raw}`)).join('')
  const iso = ISO.exec(text)
  if (iso !== null) return { year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) }
  const numeric = NUMERIC.exec(text)
  if (numeric !== null) {
    const [first, second] = [Number(numeric[1]), Number(numeric[2])]
    const monthFirst = (forms.dates.monthFirst && first <= 12 && !numeric[0].includes('.')) || second > 12
    const [month, day] = monthFirst ? [first, second] : [second, first]
    if (month >= 1 && month <= 12 && day >= 1 && day <= 31)
      return { month, day, ...(numeric[3] === undefined ? {} : { year: fullYear(Number(numeric[3])) }) }
  }
  const parts = partsOf(tokens, forms)
  const monthAt = parts.findIndex(({ at }) => monthOf(tokens, at, forms) !== undefined)
  if (monthAt < 0) {
    const [day, month, ...rest] = parts.filter(({ value }) => value !== undefined).map(({ value }) => value!)
    // "der dritte fünfte": day and month as ordinals.
    if (forms.code === 'de' && day !== undefined && month !== undefined && day <= 31 && month <= 12 && rest.length <= 1)
      return { day, month, ...(rest[0] === undefined ? {} : { year: fullYear(rest[0]) }) }
    if (day !== undefined && day >= 1_900 && day <= 2_200 && month === undefined) return { year: day }
    return day !== undefined && day >= 1 && day <= 31 ? { day } : {}
  }
  const month = monthOf(tokens, parts[monthAt]!.at, forms)!
  const before = parts.slice(0, monthAt).findLast(({ value }) => value !== undefined && value >= 1 && value <= 31)
  const after = valuesAfter(parts.slice(monthAt + 1))
  const isDayBehind = before === undefined && after[0] !== undefined && after[0] >= 1 && after[0] <= 31
  const day = before?.value ?? (isDayBehind ? after[0] : undefined)
  const behind = isDayBehind ? after.slice(1) : after
  const year = yearOf(behind)
  return { month, ...(day === undefined ? {} : { day }), ...(year === undefined ? {} : { year }) }
}

/** The date that fits the parts: in the future where no year was said. */
export function fitting({ year, month, day }: SaidDate, today: string): string | undefined {
  const [thisYear = 0, thisMonth = 1] = today.split('-').map(Number)
  if (day === undefined) return undefined
  if (year !== undefined) return dateOf(year, month ?? thisMonth, day)
  const months = month === undefined ? 13 : 9
  for (let i = 0; i < months; i++) {
    const date =
      month === undefined
        ? dateOf(thisYear + Math.floor((thisMonth - 1 + i) / 12), ((thisMonth - 1 + i) % 12) + 1, day)
        : dateOf(thisYear + i, month, day)
    if (date !== undefined && date >= today) return date
  }
  return undefined
}

/** Undefined: there is no such day. */
export function dateOf(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day))
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1_000 && year <= 9_999
  return isReal ? date.toISOString().slice(0, 10) : undefined
}

/** The numbers right behind a month: "March the 3rd, 2027". A number behind other words is none of the date. */
function valuesAfter(parts: readonly Part[]): number[] {
  const values: number[] = []
  for (const { value, word } of parts) {
    if (value !== undefined) values.push(value)
    else if (values.length > 0 || word.length > 3) break
  }
  return values
}

function yearOf([first, second]: readonly number[]): number | undefined {
  if (first === undefined) return undefined
  if (first >= 1_000 && first <= 9_999) return first
  // "nineteen eighty five".
  if (second !== undefined && (first === 19 || first === 20) && second < 100) return first * 100 + second
  return first < 100 ? fullYear(first) : undefined
}

function fullYear(year: number): number {
  if (year >= 100) return year
  return year > 50 ? 1_900 + year : 2_000 + year
}

function partsOf(tokens: readonly Token[], forms: SpokenForms): Part[] {
  const parts: Part[] = []
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]!
    const isEnding = token.glued && at > 0 && isNumeral(tokens[at - 1]!) && ORDINAL_ENDINGS.has(token.plain)
    if (isMark(token) || isEnding) {
      at++
      continue
    }
    const ordinal = ordinalAt(tokens, at, forms)
    const number = numberAt(tokens, at, forms)
    if (ordinal !== undefined && ordinal.length >= (number?.length ?? 0)) {
      parts.push({ word: token.plain, value: ordinal.value, at })
      at += ordinal.length
    } else if (number !== undefined && !isArticle(token, number.length, tokens[at + 1], forms)) {
      parts.push({ word: token.plain, value: number.value, at })
      at += number.length
    } else {
      parts.push({ word: token.plain, at })
      at++
    }
  }
  return parts
}

const isArticle = ({ plain }: Token, length: number, next: Token | undefined, forms: SpokenForms): boolean =>
  length === 1 &&
  forms.looseDigits.has(plain) &&
  !forms.months.some((names) => names.includes(next?.plain ?? '')) &&
  plain !== 'uno'

const ordinalsOf = new WeakMap<SpokenForms, ReadonlyMap<string, number>>()

function ordinalAt(
  tokens: readonly Token[],
  at: number,
  forms: SpokenForms,
): { value: number; length: number } | undefined {
  let ordinals = ordinalsOf.get(forms)
  if (ordinals === undefined) {
    ordinals = new Map(
      Array.from({ length: 31 }, (_, i) => forms.ordinals(i + 1).map((said) => [said, i + 1] as const)).flat(),
    )
    ordinalsOf.set(forms, ordinals)
  }
  for (const length of [3, 2, 1]) {
    const words = tokens.slice(at, at + length).map(({ plain, raw }) => (raw === '-' ? '' : plain))
    const value = ordinals.get(words.filter(Boolean).join(' '))
    if (value !== undefined && words.at(-1) !== '') return { value, length }
  }
  return undefined
}

function monthOf(tokens: readonly Token[], at: number, { months }: SpokenForms): number | undefined {
  const month = months.findIndex((names) => names.includes(tokens[at]?.plain ?? ''))
  return month < 0 ? undefined : month + 1
}

function relativeDate(
  tokens: readonly Token[],
  { forms, timeZone }: ReadingContext,
  today: { date: string; weekday: number },
): string | undefined {
  const { dates, weekdays } = forms
  const has = (phrases: readonly string[]): boolean => holdsPhrase(tokens, phrases)
  const noonMs = instantOf(Date.parse(`${today.date}T12:00:00Z`), timeZone)
  const inDays = (days: number): string => wallClock(noonMs + days * DAY_MS, timeZone).date
  // A date that is named wins over a weekday beside it: "Tuesday the third of March".
  if (forms.months.flat().some((name) => has([name])) || NUMERIC.test(tokens.map(({ raw }) => raw).join('')))
    return undefined
  const said = partsOf(tokens, forms)
    .map(({ word, value }) => (value === undefined ? word : String(value)))
    .join(' ')
  const days = dates.inDays.exec(said)?.[1]
  if (days !== undefined) return inDays(Number(days))
  const weeks = dates.inWeeks.exec(said)?.[1]
  if (weeks !== undefined) return inDays(Number(weeks) * 7)
  if (has(dates.inAWeek)) return inDays(7)
  if (has(dates.dayAfterTomorrow)) return inDays(2)
  const weekday = weekdays.findIndex((names) => has(names))
  if (weekday >= 0 && !/\d/.test(said)) {
    const ahead = (weekday + 1 - today.weekday + 7) % 7
    if (has(dates.next)) return inDays(weekday + 1 - today.weekday + 7)
    return inDays(ahead === 0 ? 7 : ahead)
  }
  if (has(dates.today)) return today.date
  return has(dates.tomorrow) ? inDays(1) : undefined
}
