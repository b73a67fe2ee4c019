import { spokenFormsOf } from '../../../runtime/conversation/collecting/languages/index.ts'
import { clockOf } from '../../../runtime/conversation/collecting/read-time.ts'
import type { Language } from '../languages/language.ts'
import { fold } from '../words.ts'
import { isAlsoArticle, isGermanArticle, type NumberWord, numberFrom, numberWord } from './number-from.ts'

/** A word of what was said, with where it stands. */
interface Token extends NumberWord {
  raw: string
  /** The number that it is by itself. */
  number: number | undefined
  start: number
  end: number
}

export interface SpokenValue {
  kind: 'email' | 'phone' | 'date' | 'time' | 'number' | 'code'
  /** As it was said. */
  said: string
  /** A date as YYYY-MM-DD, a time as HH:MM, an address, digits; of a number its digits. */
  value: string
  /** Characters from `start` to `end`. */
  start: number
  end: number
  /** Of a time: an hour without a word that makes it one ("at seven"), which may as well be a number. */
  isLoose?: true
  /** Of a date: a day of the week or the like, and no day of a month. */
  isDay?: true
}

const DAY_MS = 86_400_000
const MAX_NUMBER_WORDS = 8
const MIN_PHONE_DIGITS = 6
/** Fewer without a blank are an amount or the number of an order. */
const MIN_WHOLE_PHONE_DIGITS = 9
const WRITTEN_DATE = /^(?:\d{4}-\d\d-\d\d|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b)/
const TOKEN = /[\p{L}\p{N}]+(?:(?:[.:/@_+-]|(?<=\d)['’](?=\d))[\p{L}\p{N}]+)*/gu
const EMAIL = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu
const PHONE = /\+?\d[\d\s()/-]{4,24}\d/g

/** Dates, times, numbers, addresses and codes of what a caller said, in the order said; none overlaps another. */
export function spokenValues(text: string, language: Language, nowMs: number): SpokenValue[] {
  const found: SpokenValue[] = []
  const add = (value: SpokenValue): void => {
    if (!found.some((one) => one.start < value.end && value.start < one.end)) found.push(value)
  }
  for (const { 0: said, index } of text.matchAll(EMAIL)) {
    add({ kind: 'email', said, value: said.toLowerCase(), start: index, end: index + said.length })
  }
  const spelled = spelledEmail(text, language)
  if (spelled !== undefined) add(spelled)
  for (const { 0: said, index } of text.matchAll(PHONE)) {
    const digits = said.replace(/[^\d+]/g, '')
    const isWritten = /^\d+$/.test(said)
    if (digits.length < (isWritten ? MIN_WHOLE_PHONE_DIGITS : MIN_PHONE_DIGITS) || WRITTEN_DATE.test(said)) continue
    add({ kind: 'phone', said, value: digits, start: index, end: index + said.length })
  }
  const tokens = tokensOf(text, language)
  for (let at = 0; at < tokens.length; at++) {
    const value = dateAt(tokens, at, text, language, nowMs) ?? timeAt(tokens, at, text, language)
    if (value !== undefined) add(value)
  }
  for (let at = 0; at < tokens.length; ) {
    const digits = digitsAt(tokens, at)
    if (digits !== undefined) {
      add(digits.value)
      at = digits.next
      continue
    }
    const number = numberAt(tokens, at, language)
    if (number !== undefined) {
      add(number.value)
      at = number.next
      continue
    }
    const token = tokens[at] as Token
    if (/\d/.test(token.raw)) {
      add({ kind: 'code', said: token.raw, value: token.raw, start: token.start, end: token.end })
    }
    at++
  }
  return found.sort((a, b) => a.start - b.start)
}

function tokensOf(text: string, { code }: Language): Token[] {
  return [...text.matchAll(TOKEN)].map(({ 0: raw, index }) => {
    const word = numberWord(fold(raw.toLowerCase()).replace(/['’]/g, ''))
    return { ...word, raw, number: numberFrom([word], code)?.value, start: index, end: index + raw.length }
  })
}

/** "anna dot smith at example dot com". */
function spelledEmail(text: string, language: Language): SpokenValue | undefined {
  const { at, dot } = language.calling.spelled
  const written = text.replace(at, '@').replace(dot, '.')
  if (written === text) return undefined
  const [address] = written.match(EMAIL) ?? []
  if (address === undefined || text.includes(address)) return undefined
  const first = address.split(/[@.]/)[0] ?? ''
  const last = address.split('.').at(-1) ?? ''
  const start = text.indexOf(first)
  const end = text.indexOf(last, start + first.length) + last.length
  if (start < 0 || end <= start) return undefined
  return { kind: 'email', said: text.slice(start, end), value: address.toLowerCase(), start, end }
}

function dateAt(
  tokens: readonly Token[],
  at: number,
  text: string,
  { calling, code }: Language,
  nowMs: number,
): SpokenValue | undefined {
  const token = tokens[at] as Token
  const spanned = (count: number, ms: number, isDay: boolean): SpokenValue => {
    const last = tokens[at + count - 1] as Token
    const { start } = token
    const { end } = last
    const value = new Date(ms).toISOString().slice(0, 10)
    return { kind: 'date', said: text.slice(start, end), value, start, end, ...(isDay ? { isDay } : {}) }
  }
  for (const [inDays, words] of calling.days.entries()) {
    if (matches(tokens, at, words)) return spanned(words.split(' ').length, nowMs + inDays * DAY_MS, true)
  }
  // "segunda-feira", and the plural of a weekday.
  const { months, weekdays } = spokenFormsOf(code)
  const weekday = weekdays.findIndex((names) =>
    names.some((day) => [day, `${day}s`, `${day}-feira`].includes(token.word)),
  )
  if (weekday >= 0) {
    const today = (new Date(nowMs).getUTCDay() + 6) % 7
    return spanned(1, nowMs + ((weekday - today + 7) % 7) * DAY_MS, true)
  }
  const iso = /^(\d{4})-(\d\d)-(\d\d)$/.exec(token.word)
  if (iso !== null) {
    const ms = Date.parse(token.word)
    return Number.isNaN(ms) ? undefined : spanned(1, ms, false)
  }
  const numeric = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4})$/.exec(token.word)
  if (numeric !== null) {
    const [first, second, year] = numeric.slice(1).map(Number) as [number, number, number]
    // English writes either of the two first: where both may be the month, nothing is guessed.
    if (code === 'en' && first <= 12 && second <= 12 && first !== second) return undefined
    const [day, month] = second > 12 ? [second, first] : [first, second]
    return month >= 1 && month <= 12 ? spanned(1, Date.UTC(year, month - 1, day), false) : undefined
  }
  const day = dayOfMonth(token)
  const month = months.findIndex((names) => names.includes(token.word))
  const behind = tokens[at + 1]
  if (month >= 0 && behind !== undefined) {
    const number = dayOfMonth(behind)
    return number === undefined ? undefined : spanned(2, nextOf(month, number, nowMs), false)
  }
  if (day === undefined) return undefined
  for (const skipped of [1, 2]) {
    const word = tokens[at + skipped]?.word
    if (skipped === 2 && !['de', 'of', 'du'].includes(tokens[at + 1]?.word ?? '')) break
    const named = word === undefined ? -1 : months.findIndex((names) => names.includes(word))
    if (named >= 0) return spanned(skipped + 1, nextOf(named, day, nowMs), false)
  }
  return undefined
}

function dayOfMonth({ word, number: said }: Token): number | undefined {
  const number = /^\d{1,2}(?:st|nd|rd|th)?$/.test(word) ? Number.parseInt(word, 10) : said
  return number !== undefined && number >= 1 && number <= 31 ? number : undefined
}

/** The next such day, today included. */
function nextOf(month: number, day: number, nowMs: number): number {
  const today = new Date(nowMs)
  const year = today.getUTCFullYear()
  const ms = Date.UTC(year, month, day)
  return ms < Date.UTC(year, today.getUTCMonth(), today.getUTCDate()) ? Date.UTC(year + 1, month, day) : ms
}

function timeAt(tokens: readonly Token[], at: number, text: string, language: Language): SpokenValue | undefined {
  const token = tokens[at] as Token
  const { before, after, afternoon } = language.calling.time
  const clock = /^(\d{1,2})[:.h](\d{2})$/.exec(token.word)
  const short = /^(\d{1,2})(am|pm|h)$/.exec(token.word)
  let hour = clock ? Number(clock[1]) : short ? Number(short[1]) : token.number
  if (hour === undefined || !Number.isInteger(hour) || hour > 24) return undefined
  let minutes = clock ? Number(clock[2]) : 0
  if (clock?.[0].includes('.') && minutes > 59) return undefined
  let start = token.start
  let end = token.end
  let isLoose = clock === null && short === null
  const behind = byLength(after).find(([words]) => matches(tokens, at + 1, words))
  if (behind !== undefined) {
    minutes += behind[1]
    end = (tokens[at + behind[0].split(' ').length] as Token).end
    isLoose = false
  }
  if (isLoose && isGermanArticle(token.word)) return undefined
  const inFront = byLength(before).find(([words]) => matches(tokens, at - words.split(' ').length, words))
  if (inFront !== undefined) {
    minutes += inFront[1]
    start = (tokens[at - inFront[0].split(' ').length] as Token).start
    if (inFront[1] !== 0) isLoose = false
  } else if (isLoose) return undefined
  const rest = fold(text.slice(token.end, token.end + 40).toLowerCase()).replace(/[^\p{L}\p{N}]+/gu, ' ')
  if (hour >= 1 && hour < 12 && (short?.[2] === 'pm' || (short?.[2] !== 'am' && afternoon.test(rest)))) hour += 12
  const all = (hour * 60 + minutes + 1_440) % 1_440
  return {
    kind: 'time',
    said: text.slice(start, end),
    value: clockOf(all),
    start,
    end,
    ...(isLoose ? { isLoose } : {}),
  }
}

const byLength = (words: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(words).sort(([a], [b]) => b.length - a.length)

function matches(tokens: readonly Token[], at: number, words: string): boolean {
  if (at < 0) return false
  const wanted = words.split(' ')
  const said = tokens
    .slice(at, at + wanted.length)
    .map(({ word }) => word)
    .join(' ')
  return said === words
}

/** Three digits and more, said one by one: "one two three four" is "1234". */
function digitsAt(tokens: readonly Token[], at: number): { value: SpokenValue; next: number } | undefined {
  let next = at
  let digits = ''
  for (; next < tokens.length; next++) {
    const digit = tokens[next]?.number
    if (digit === undefined || digit > 9 || !Number.isInteger(digit)) break
    digits += digit
  }
  if (next - at < 3) return undefined
  const start = (tokens[at] as Token).start
  const end = (tokens[next - 1] as Token).end
  const said = tokens.slice(at, next).map(({ raw }) => raw)
  return { value: { kind: 'code', said: said.join(' '), value: digits, start, end }, next }
}

function numberAt(
  tokens: readonly Token[],
  at: number,
  { code }: Language,
): { value: SpokenValue; next: number } | undefined {
  const number = numberFrom(tokens.slice(at, at + MAX_NUMBER_WORDS), code)
  const first = tokens[at] as Token
  if (number === undefined || (number.count === 1 && isAlsoArticle(first.word))) return undefined
  const words = tokens.slice(at, at + number.count)
  const said = words.map(({ raw }) => raw).join(' ')
  const value = /^\d+$/.test(said) ? said : String(number.value)
  const { end } = words.at(-1) as Token
  return { value: { kind: 'number', said, value, start: first.start, end }, next: at + number.count }
}
