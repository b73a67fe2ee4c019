import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { piecesOf } from '../../plugin-sdk/speech/sentences.ts'
import { digitGroups, phoneGroups } from '../collecting/spoken-value.ts'
import { URL_LIKE } from '../guarding/grounds.ts'
import { languageOf } from '../languages/index.ts'
import type { Reading } from '../languages/language.ts'
import { localeOf } from './spoken-markup.ts'

/** Words that may belong to what comes; more are given out. */
const MAX_HELD_WORDS = 12
const MAX_HELD_CHARS = 200
const MAX_PIECE_CHARS = 600
/** More of an address is left out: nobody remembers it. */
const MAX_PATH_CHARS = 24
/** As many digits in one run are a number of something, said one by one. */
const MIN_SPELT_DIGITS = 8
/** A word that the next may join: figures, signs, short abbreviations. */
const MAY_JOIN = /[\d\p{Sc}@]|^\(?\p{L}{1,3}\.$|^[A-Z]{3}$|^R\$$/u

const NUMBER = String.raw`\d{1,3}(?:[.,'’\u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?`
const SIGNS: Readonly<Record<string, string>> = {
  $: 'USD',
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₹': 'INR',
  '₺': 'TRY',
  R$: 'BRL',
  zł: 'PLN',
}
const CURRENCY = String.raw`R\$|[$€£¥₹₺]|zł(?!\p{L})|(?:EUR|USD|GBP|CHF|BRL|CAD|AUD|MXN|PLN|SEK|TRY|JPY|INR)(?!\p{L})`
/** Not `$5 million`, `$5k` and `$5–10`, which a voice reads better as they are. */
const MONEY = new RegExp(
  `(?<![\\p{L}\\p{N}.,])(?:(${CURRENCY})\\s?(${NUMBER})(?![\\d.,]?\\d|\\s?(?:[mbk]n?|mi|bi|tri|mrd|mld|tho|tau|mil)\\p{L}*|\\s?[-–]\\d)|(${NUMBER})\\s?(${CURRENCY}))`,
  'giu',
)
const ISO_DATE = /(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d-])/g
const LOCAL_DATE = /(?<![\d./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?![\d/-])/g
const CLOCK = /(?<![\d:.,])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])(?:\s?(?:Uhr|uur|h)(?!\p{L}))?/gu
const PHONE = /(?<![\p{L}\p{N}.,:/+-])(?:\+|\()?\d[\d\s()./-]{5,22}\d(?![\p{L}\p{N}]|[.,:/-]\d)/gu
const DIGITS = new RegExp(`(?<![\\p{L}\\p{N}.,:/-])\\d{${MIN_SPELT_DIGITS},}(?![\\p{L}\\p{N}]|[.,:/-]\\d)`, 'gu')
const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/g
const GROUPED = /(?<![\p{L}\p{N}.,])\d{1,3}(?:([.,'’\u00a0\u202f])\d{3})(?:\1\d{3})*(?!\d)/gu

interface Rules {
  locale: string
  country: string
  reading: Reading
  inFull: RegExp | undefined
  /** 3/4 is the fourth of March. */
  isMonthFirst: boolean
  /** Parts thousands. */
  group: string
  plurals: Intl.PluralRules
}

/**
 * Writes figures, amounts, dates, telephone numbers, addresses and abbreviations as people of the language say them, for the voice
 * alone: the record keeps them as they are written. Takes the text in pieces.
 */
export class ReadAloud {
  readonly #rules: Rules
  #held = ''

  /** @param tag the language that is spoken */
  constructor(tag: string) {
    this.#rules = rulesOf(tag)
  }

  /** Takes more text; returns what can be spoken of it by now. */
  push(text: string): string {
    let said = ''
    for (const piece of piecesOf(text, MAX_PIECE_CHARS)) said += this.#push(piece)
    return said
  }

  #push(text: string): string {
    this.#held += text
    const from = heldFrom(this.#held)
    const ready = this.#held.slice(0, from)
    this.#held = this.#held.slice(from)
    return read(ready, this.#rules)
  }

  /** What is left. */
  flush(): string {
    const rest = this.#held
    this.#held = ''
    return read(rest, this.#rules)
  }
}

/** A whole text as people say it. */
export function readAloud(text: string, tag: string): string {
  const reading = new ReadAloud(tag)
  return reading.push(text) + reading.flush()
}

/** Where the words begin that more text may belong to. A paragraph's end (\u2029) is known to end a sentence. */
function heldFrom(text: string): number {
  const over = text.lastIndexOf('\u2029') + 1
  let from = text.length
  for (let words = 0; words < MAX_HELD_WORDS && from > over; words++) {
    const end = text.slice(over, from).trimEnd().length + over
    const start = Math.max(over, text.slice(over, end).search(/\S+$/) + over)
    if (end === over) break
    const isLast = from === text.length
    // The last word may go on; of those before it the ones that a figure or an abbreviation joins to it.
    if (!(isLast && end === text.length) && !MAY_JOIN.test(text.slice(start, end))) break
    from = start
  }
  return text.length - from > MAX_HELD_CHARS ? text.length : from
}

function read(text: string, rules: Rules): string {
  if (!/[\d@.]|\p{Sc}|º|Mme|Mlle/u.test(text)) return text
  const { reading, inFull } = rules
  let said = text
  if (reading.marks.at !== '') {
    said = said
      .replace(EMAIL, (address) => emailSaid(address, reading))
      .replace(URL_LIKE, (address) => urlSaid(address, reading))
  }
  said = said
    .replace(ISO_DATE, (all, year, month, day) => dateSaid(all, Number(year), Number(month), Number(day), rules))
    .replace(LOCAL_DATE, (all, a, mark, b, year) => {
      const isMonthFirst = rules.isMonthFirst && mark !== '.'
      const [day, month] = isMonthFirst ? [b, a] : [a, b]
      return dateSaid(all, Number(year), Number(month), Number(day), rules)
    })
    .replace(MONEY, (all, before, after, amount, sign) => moneySaid(all, amount ?? after, sign ?? before, rules))
    .replace(PHONE, (found) => phoneSaid(found, rules))
    .replace(DIGITS, (found) => digitGroups(found).map(spaced).join(', '))
    .replace(GROUPED, (all: string, mark: string) =>
      mark === rules.group || /['’\s]/u.test(mark) ? all.replace(/\D/g, '') : all,
    )
  if (reading.clock.full !== '') {
    said = said.replace(CLOCK, (_all, hour: string, minute: string) => {
      const { full, minutes } = reading.clock
      const form = minute === '00' ? full : minutes
      return form.replace('{h}', String(Number(hour))).replace('{m}', String(Number(minute)))
    })
  }
  return inFull === undefined
    ? said
    : said.replace(inFull, (abbreviation) => reading.inFull[abbreviation] ?? abbreviation)
}

const spaced = (digits: string): string => [...digits].join(' ')

function dateSaid(written: string, year: number, month: number, day: number, { locale }: Rules): string {
  const date = new Date(Date.UTC(year, month - 1, day))
  if (month < 1 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return written
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(date)
}

function moneySaid(written: string, amount: string, sign: string, { locale, reading, plurals }: Rules): string {
  const currency = SIGNS[sign] ?? SIGNS[sign.toLowerCase()] ?? sign.toUpperCase()
  const [, hundredths = ''] = /[.,](\d{1,2})$/.exec(amount) ?? []
  const whole = Number(amount.slice(0, hundredths === '' ? undefined : -hundredths.length - 1).replace(/\D/g, ''))
  if (reading.money === '' || !Number.isSafeInteger(whole)) return written
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'name',
    useGrouping: false,
    maximumFractionDigits: 0,
  })
  const named = sign === '$' ? reading.dollars : sign === '£' ? reading.pounds : undefined
  const name = named && (named[plurals.select(whole)] ?? named.other)
  const said = format
    .formatToParts(whole)
    .map(({ type, value }) => (type === 'currency' && name !== undefined ? name : value))
    .join('')
  if (Number(hundredths) === 0) return said
  return reading.money.replace('{whole}', said).replace('{hundredths}', hundredths.padEnd(2, '0'))
}

function phoneSaid(written: string, { country, reading }: Rules): string {
  const digits = written.replace(/\D/g, '')
  const looksLikeOne = /^[+(0]/.test(written) || /\d[\s)/-]+\d/.test(written)
  if (digits.length < 7 || digits.length > 15 || !looksLikeOne) return written
  const number = parsePhoneNumberFromString(
    written,
    country as Parameters<typeof parsePhoneNumberFromString>[1] & string,
  )
  if (number?.isValid() !== true) return written
  const { plus, groups } = phoneGroups(number.number, country)
  return `${plus ? `${reading.marks.plus || '+'} ` : ''}${groups.map(spaced).join(', ')}`
}

function emailSaid(address: string, { marks }: Reading): string {
  const names: Readonly<Record<string, string>> = {
    '@': marks.at,
    '.': marks.dot,
    '-': marks.dash,
    _: marks.underscore,
    '+': marks.plus,
  }
  return address
    .split(/([@._+-])/)
    .filter(Boolean)
    .map((part) => names[part] ?? part)
    .join(' ')
}

/** Host and a short path; what stands behind `?` nobody says. */
function urlSaid(address: string, { marks }: Reading): string {
  const [, end = ''] = /([.,;:!?]*)$/.exec(address) ?? []
  const bare = address
    .slice(0, address.length - end.length)
    .replace(/^https?:\/\//i, '')
    .replace(/^www\./i, '')
  const [host = '', ...path] = bare.split('/')
  const rest = path.filter(Boolean).join('/')
  const isShort = rest !== '' && rest.length <= MAX_PATH_CHARS && /^[\w./-]+$/.test(rest)
  const names: Readonly<Record<string, string>> = {
    '/': marks.slash,
    '.': marks.dot,
    '-': marks.dash,
    _: marks.underscore,
  }
  const said = (isShort ? `${host}/${rest}` : host)
    .split(/([./_-])/)
    .filter(Boolean)
    .map((part) => names[part] ?? part)
    .join(' ')
  return `${said}${end}`
}

const MAX_RULES = 64
const known = new Map<string, Rules>()

function rulesOf(tag: string): Rules {
  const kept = known.get(tag)
  if (kept !== undefined) return kept
  const rules = makeRules(tag)
  if (known.size < MAX_RULES) known.set(tag, rules)
  return rules
}

function makeRules(tag: string): Rules {
  const { reading } = languageOf(tag)
  const locale = tag === 'multi' ? 'en' : localeOf(tag)
  const { region = 'US' } = new Intl.Locale(locale).maximize()
  const order = new Intl.DateTimeFormat(locale).formatToParts(0).map(({ type }) => type)
  const abbreviations = Object.keys(reading.inFull)
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replaceAll('.', '\\.').replaceAll(' ', '\\s'))
  return {
    locale,
    country: region,
    reading,
    inFull:
      abbreviations.length === 0
        ? undefined
        : new RegExp(`(?<![\\p{L}\\p{N}.])(?:${abbreviations.join('|')})(?![\\p{L}\\p{N}])`, 'gu'),
    isMonthFirst: order.indexOf('month') < order.indexOf('day'),
    group: new Intl.NumberFormat(locale).formatToParts(1e6).find(({ type }) => type === 'group')?.value ?? '',
    plurals: new Intl.PluralRules(locale),
  }
}
