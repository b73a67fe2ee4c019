import type { Ground } from '../../call/types/guardrails.ts'
import { spokenFormsOf } from '../collecting/languages/index.ts'
import { numberAt } from '../collecting/numbers.ts'
import { saidDate } from '../collecting/read-date.ts'
import type { SpokenForms } from '../collecting/spoken-forms.ts'
import { asciiDigits, isMark, phraseAt, type Token, tokensOf } from '../collecting/tokens.ts'

/** Of a long prompt or a tool's long answer so much is read. */
const MAX_SOURCE_CHARS = 400_000
const MAX_KEPT = 64
const NUMBER = /\d+(?:[.,'’\u00a0\u202f ]\d{3})*(?:[.,]\d+)?/g
const SIGNS = '€$£¥₹'
const CODES = 'EUR|USD|GBP|CHF|BRL|CAD|AUD|MXN|PLN|SEK|TRY|JPY|INR'
const WITH_SIGN = new RegExp(
  `(?:[${SIGNS}]|R\\$|\\b(?:${CODES}))\\s?(${NUMBER.source})|(${NUMBER.source})\\s?(?:[${SIGNS}]|(?:${CODES})\\b)`,
  'g',
)
export const URL_LIKE =
  /(?<![@\w.-])(?:https?:\/\/|www\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*\.(?:com|org|net|info|biz|io|dev|app|gov|edu|eu|de|at|ch|fr|es|it|pt|br|uk|nl|be|pl|se|tr|jp|in|us|ca|mx|ar)\b(?![@.]\w)(?:\/[^\s"'<>)\]]*)?/gi

/** What the sources of an answer say: numbers, dates and addresses that it may repeat. */
export class Grounds {
  readonly #known = new Map<string, Facts>()

  /** What of these kinds a sentence says that none of the sources does; undefined: nothing. */
  ungrounded(
    sentence: string,
    kinds: readonly Ground[],
    sources: readonly string[],
    tag: string,
  ): { kind: Ground; found: string } | undefined {
    const forms = spokenFormsOf(tag)
    const facts = sources.map((source) => this.#factsOf(source, forms))
    for (const kind of kinds) {
      const said = SAID[kind](asciiDigits(sentence), forms)
      const found = said.find(({ fact }) => !facts.some((one) => one[kind].has(fact)))
      if (found !== undefined) return { kind, found: found.text }
    }
    return undefined
  }

  #factsOf(source: string, forms: SpokenForms): Facts {
    const key = `${forms.code}:${source}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const facts = factsOf(asciiDigits(source.slice(-MAX_SOURCE_CHARS)), forms)
    const [oldest] = this.#known.keys()
    if (this.#known.size >= MAX_KEPT && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(key, facts)
    return facts
  }
}

/** Of money every number of a source; dates by month and day, and with the year where it is named: `3-14`, `2027-3-14`. */
type Facts = Readonly<Record<Ground, ReadonlySet<string>>>

interface Said {
  readonly fact: string
  readonly text: string
}

/** What a sentence says of each kind. */
const SAID: Readonly<Record<Ground, (sentence: string, forms: SpokenForms) => Said[]>> = {
  money: moneyIn,
  date: datesSaid,
  url: urlsIn,
}

function factsOf(source: string, forms: SpokenForms): Facts {
  const tokens = tokensOf(source, MAX_SOURCE_CHARS)
  const money = new Set<string>()
  for (const [text] of source.matchAll(NUMBER)) for (const value of valuesOf(text)) money.add(value)
  for (const { fact } of moneyIn(source, forms, tokens)) money.add(fact)
  return {
    money,
    date: new Set(datesIn(source, forms, tokens)),
    url: new Set(urlsIn(source).map(({ fact }) => fact)),
  }
}

/** What a written number may be: of `1.250` one thousand two hundred and fifty, and one and a quarter. */
function valuesOf(text: string): string[] {
  const plain = text.replace(/['’\u00a0\u202f ]/g, '')
  const readings = [plain.replaceAll(',', ''), plain.replaceAll('.', '').replace(',', '.')]
  return [...new Set(readings.map(Number).filter(Number.isFinite).map(String))]
}

/** A number in the way of the language. */
function amountOf(text: string, { code }: SpokenForms): string {
  const plain = text.replace(/['’\u00a0\u202f ]/g, '')
  const [group, point] = code === 'en' ? [',', '.'] : ['.', ',']
  const isGrouped = new RegExp(`^\\d{1,3}(?:\\${group}\\d{3})+(?:\\${point}\\d+)?$`).test(plain)
  const isForeign = !isGrouped && new RegExp(`\\${group}\\d+$`).test(plain)
  const written = isForeign
    ? plain.replaceAll(point, '').replace(group, '.')
    : plain.replaceAll(group, '').replace(point, '.')
  return String(Number(written))
}

/** Amounts of money, with a sign or in words. */
function moneyIn(text: string, forms: SpokenForms, tokens: readonly Token[] = tokensOf(text)): Said[] {
  const found: Said[] = []
  for (const [whole, behind, before] of text.matchAll(WITH_SIGN))
    found.push({ fact: amountOf(behind ?? before ?? '', forms), text: whole })
  for (const [at, { plain }] of tokens.entries()) {
    const amount = forms.money.includes(plain) ? amountBefore(tokens, at, forms) : undefined
    if (amount === undefined) continue
    const behind = at + 1
    const cents = numberAt(tokens, behind + phraseAt(tokens, behind, [...forms.and, 'con', 'com']), forms)
    const adds = cents !== undefined && cents.value < 100 && !amount.fact.includes('.') && !isMark(tokens[behind]!)
    found.push(adds ? { fact: String(Number(amount.fact) + cents.value / 100), text: amount.text } : amount)
  }
  return found
}

/** The number right before the name of a currency. */
function amountBefore(tokens: readonly Token[], at: number, forms: SpokenForms): Said | undefined {
  let text = ''
  for (let from = at - 1; from >= 0 && at - from <= 12; from--) {
    const { raw, plain, glued } = tokens[from]!
    if (!/^\p{N}+$/u.test(plain) && !/^[.,'’]$/.test(raw)) break
    text = `${raw}${text}`
    if (!glued) break
  }
  const written = /\d.*/.exec(text)?.[0]
  if (written !== undefined && phraseAt(tokens, at - 1, [...forms.thousand, ...forms.million]) === 0)
    return { fact: amountOf(written.replace(/[.,]$/, ''), forms), text: `${written} ${tokens[at]!.raw}` }
  for (let from = Math.max(0, at - 12); from < at; from++) {
    const number = isMark(tokens[from]!) ? undefined : numberAt(tokens, from, forms)
    if (number === undefined || from + number.length !== at) continue
    if (number.length === 1 && forms.looseDigits.has(tokens[from]!.plain)) continue
    const said = tokens
      .slice(from, at + 1)
      .map(({ raw }) => raw)
      .join(' ')
    return { fact: String(number.value), text: said }
  }
  return undefined
}

/** The date of a sentence, day and month at least. */
function datesSaid(sentence: string, forms: SpokenForms): Said[] {
  const tokens = tokensOf(sentence)
  const { year, month, day } = saidDate(tokens, forms)
  if (month === undefined || day === undefined || !namesDate(sentence, tokens, forms)) return []
  return [{ fact: year === undefined ? `${month}-${day}` : `${year}-${month}-${day}`, text: sentence.slice(0, 200) }]
}

const namesDate = (text: string, tokens: readonly Token[], { months }: SpokenForms): boolean =>
  /\d{1,4}[./-]\d{1,2}[./-]/.test(text) ||
  /\d{1,2}\/\d{1,2}/.test(text) ||
  tokens.some(({ plain }) => months.some((names) => names.includes(plain)))

function* datesIn(text: string, forms: SpokenForms, tokens: readonly Token[]): Generator<string> {
  const both = function* (year: string | undefined, month: number, day: number): Generator<string> {
    if (month < 1 || month > 12 || day < 1 || day > 31) return
    yield `${month}-${day}`
    if (year !== undefined) yield `${year.length === 2 ? `20${year}` : year}-${month}-${day}`
  }
  for (const [, year, month, day] of text.matchAll(/\b(\d{4})-(\d{2})-(\d{2})(?!\d)/g))
    yield* both(year, Number(month), Number(day))
  for (const [, one, two, year] of text.matchAll(/\b(\d{1,2})[./](\d{1,2})(?:[./](\d{4}|\d{2})\b)?/g)) {
    yield* both(year, Number(one), Number(two))
    yield* both(year, Number(two), Number(one))
  }
  const names = new Set(forms.months.flat())
  const months = [...tokens.keys()].filter((at) => names.has(tokens[at]!.plain))
  for (const [i, at] of months.entries()) {
    const [before = -1, next = tokens.length] = [months[i - 1], months[i + 1]]
    const to = Math.min(at + 8, next)
    const around = [tokens.slice(Math.max(before + 1, at - 6), to)]
    // In "March 3 to April 4" the 3 may be the day of either.
    if (i > 0 && before >= at - 6) around.push(tokens.slice(at, to))
    for (const said of around) {
      const { year, month, day } = saidDate(said, forms)
      if (month !== undefined && day !== undefined) yield* both(year?.toString(), month, day)
    }
  }
}

function urlsIn(text: string): Said[] {
  return [...text.matchAll(URL_LIKE)].map(([found]) => ({
    fact: found
      .toLowerCase()
      .replace(/^https?:\/\//, '')
      .replace(/^www\./, '')
      .replace(/[/.,;:!?]+$/, ''),
    text: found,
  }))
}

/** Where in a sentence begins what only its end decides on; -1: nowhere. */
export function opensFact(sentence: string, kinds: readonly Ground[], tag: string): number {
  const forms = spokenFormsOf(tag)
  const places = [sentence.search(/[\p{Nd}€$£¥₹]/u)]
  if (kinds.includes('url'))
    places.push(sentence.search(/\b(?:https?|www\b|[\w-]+\.\w*$)/iu), sentence.search(/\S+\.[a-z]{2,}/iu))
  let at = 0
  const tokens = tokensOf(sentence)
  for (const [i, token] of tokens.entries()) {
    const place = sentence.indexOf(token.raw, at)
    if (place < 0) continue
    at = place + token.raw.length
    if (isMark(token)) continue
    const isLast = i === tokens.length - 1
    const isNumber = numberAt(tokens, i, forms) !== undefined && !forms.looseDigits.has(token.plain)
    const isMonth =
      kinds.includes('date') &&
      forms.months.some((names) =>
        names.some((name) => name === token.plain || (isLast && name.startsWith(token.plain))),
      )
    if (isNumber || isMonth) {
      places.push(place)
      break
    }
  }
  const found = places.filter((place) => place >= 0)
  return found.length === 0 ? -1 : Math.min(...found)
}
