import { hasWords, piecesOf } from '../../plugin-sdk/speech/sentences.ts'
import { HiddenMarkup } from './hidden-markup.ts'
import { inlineText, settledLength } from './inline-text.ts'

/** A line that holds no more is given out as it is: a caller waits. */
const MAX_HELD_CHARS = 600
/** Of what was given out so much is looked back at. */
const MAX_LAST_CHARS = 16
/** A table's rows, lists' marks and fences are looked at with their line. */
const TABLE_LINE = /^\s*\|/
const SEPARATOR = /^\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?)?\s*$/
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*)$/
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/
const HEADING = /^ {0,3}#{1,6}(?:\s+|$)/
const BULLET = /^\s*[-*+•–‣▪]\s+(?:\[[ xX]\]\s+)?/
const NUMBERED = /^\s*(\d{1,2})[.)]\s+(?=(\S+)(?:\s|$))/
const QUOTE = /^\s*(?:>\s?)+/
/** What a line may begin with that is no word of it: more of it is awaited. */
const MAY_BE_MARK = /^\s*(?:[-*+•–‣▪_=~`#>|<\s]*|\d{1,2}(?:[.)](?:\s+\S*)?)?)$/
/** Fences that hold words as often as code. */
const PLAIN_FENCE = /^(?:text|txt|markdown|md|plaintext|plain)?$/i
const ENDS = /[.!?…:;,。！？：；、]["'”’)\]]*\s*$/u
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u

/**
 * Takes the markup out of an answer as it streams: what is left is what a person would say of it. Code is left out, rows of tables and
 * items of lists become sentences. The same whatever pieces the text comes in.
 */
export class SpokenMarkup {
  /** The line from what is not given out yet. */
  #line = ''
  /** Nothing of the line is given out. */
  #atStart = true
  /** An item or a heading: it ends like a sentence. */
  #isItem = false
  #lastChars = ''
  /** The fence that code stands in. */
  #fence: { mark: string; isPlain: boolean } | undefined
  /** The last number of a list: the next is one more. */
  #number = 0
  /** What of HTML no page shows: it may go on over many lines. */
  readonly #hidden = new HiddenMarkup()
  /** Rows of a table, the header first. */
  #rows: string[][] = []
  #hasHeader = false
  readonly #months: ReadonlySet<string>

  /** @param language a tag: where `3.` stands before a month it is no item of a list */
  constructor(language = 'en') {
    this.#months = monthsOf(language)
  }

  /** What can be said by now. */
  push(text: string): string {
    let out = ''
    // A long line at once would be looked at whole for each mark in it.
    for (const piece of piecesOf(text, MAX_HELD_CHARS)) out += this.#push(piece)
    return out
  }

  #push(text: string): string {
    let out = ''
    let rest = text
    while (rest !== '') {
      // A line at a time: whether the next one is code depends on it.
      const end = rest.indexOf('\n') + 1 || rest.length
      const isCode = this.#fence !== undefined
      this.#line = isCode ? this.#line + rest.slice(0, end) : this.#hidden.shown(this.#line, rest.slice(0, end))
      rest = rest.slice(end)
      if (!this.#line.endsWith('\n')) continue
      this.#line = this.#line.slice(0, -1)
      out += this.#endLine('\n')
    }
    return out + this.#some()
  }

  /** What is left. */
  flush(): string {
    const last = this.#endLine('') + this.#endTable()
    this.#fence = undefined
    this.#hidden.end()
    return last
  }

  /** Of the running line what more text can't change. */
  #some(): string {
    if (this.#fence !== undefined || this.#line === '') return ''
    if (this.#atStart && this.#line.length <= MAX_HELD_CHARS) {
      if (MAY_BE_MARK.test(this.#line) || TABLE_LINE.test(this.#line) || FENCE.test(this.#line)) return ''
    }
    const begun = this.#begin(this.#line)
    const end = begun.length > MAX_HELD_CHARS ? begun.length : settledLength(begun)
    if (end === 0) {
      // The line's own mark is taken off again with more of it, but for a line that is nothing else.
      if (this.#line.length > MAX_HELD_CHARS) {
        this.#line = begun
        this.#atStart = false
      }
      return ''
    }
    const table = this.#atStart ? this.#endTable() : ''
    this.#atStart = false
    this.#line = begun.slice(end)
    return table + this.#given(inlineText(begun.slice(0, end)))
  }

  /** The line without the mark of its block. */
  #begin(line: string): string {
    if (!this.#atStart) return line
    let text = line.replace(QUOTE, '')
    const numbered = NUMBERED.exec(text)
    const isNumbered =
      numbered !== null &&
      (numbered[1] === '1' || Number(numbered[1]) === this.#number + 1) &&
      !this.#months.has((numbered[2] ?? '').toLowerCase().replace(/\P{L}/gu, ''))
    this.#isItem = HEADING.test(text) || BULLET.test(text) || isNumbered
    if (isNumbered) this.#number = Number(numbered[1])
    text = text.replace(HEADING, '').replace(BULLET, '')
    return isNumbered ? text.replace(NUMBERED, `${numbered[1]}, `) : text
  }

  #endLine(newline: string): string {
    const line = this.#line
    this.#line = ''
    const fence = FENCE.exec(line)
    if (this.#fence !== undefined) {
      const { mark, isPlain } = this.#fence
      if (fence !== null && fence[1]!.startsWith(mark) && fence[2]!.trim() === '') this.#fence = undefined
      else if (isPlain && hasWords(line)) return this.#given(`${inlineText(line)}${newline}`)
      return ''
    }
    if (this.#atStart && fence !== null && !fence[2]!.includes(fence[1]!)) {
      this.#fence = { mark: fence[1]!, isPlain: PLAIN_FENCE.test(fence[2]!.trim()) }
      return this.#endTable()
    }
    if (this.#atStart && (RULE.test(line) || SEPARATOR.test(line))) {
      if (SEPARATOR.test(line) && this.#rows.length > 0) this.#hasHeader = true
      return ''
    }
    if (this.#atStart && TABLE_LINE.test(line)) {
      const row = cellsOf(line)
      if (this.#rows.length === 0) {
        this.#rows.push(row)
        return ''
      }
      const header = this.#hasHeader ? this.#rows[0] : undefined
      const first = header === undefined ? this.#endTable() : ''
      return first + this.#given(`${rowText(row, header)}${newline || ' '}`)
    }
    const table = this.#atStart ? this.#endTable() : ''
    const said = this.#given(inlineText(this.#begin(line)))
    const isEmpty = this.#atStart && line.trim() === ''
    // An item is said as a sentence of its own.
    const mark = this.#isItem && !ENDS.test(this.#lastChars) ? (UNSPACED.test(this.#lastChars) ? '。' : '.') : ''
    this.#atStart = true
    this.#isItem = false
    return table + said + (hasWords(this.#lastChars) ? mark : '') + (isEmpty ? '' : newline)
  }

  /** A single row with bars was none of a table. */
  #endTable(): string {
    const [only] = this.#rows
    const wasTable = this.#hasHeader
    this.#rows = []
    this.#hasHeader = false
    return only === undefined || wasTable ? '' : this.#given(`${rowText(only, undefined)}\n`)
  }

  #given(text: string): string {
    const said = /\s$/.test(this.#lastChars) ? text.replace(/^ +/, '') : text
    if (said !== '') this.#lastChars = `${this.#lastChars}${said}`.slice(-MAX_LAST_CHARS)
    return said
  }
}

/** A whole text as a person would say it. */
export function spokenMarkup(text: string, language?: string): string {
  const markup = new SpokenMarkup(language)
  return `${markup.push(text)}${markup.flush()}`.trim()
}

/** The cells of a row. */
function cellsOf(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => inlineText(cell.replaceAll('\\|', '|')).trim())
}

/** `Single: 80 dollars.`; of a wider table with the names of its columns. */
function rowText(cells: readonly string[], header: readonly string[] | undefined): string {
  const [first = '', ...others] = cells
  const isWide = header !== undefined && cells.length > 2
  const parts = others.map((cell, i) => (isWide && cell !== '' ? `${header[i + 1] ?? ''} ${cell}`.trim() : cell))
  const rest = parts.filter((part) => part !== '').join(', ')
  const text =
    header === undefined ? [first, rest].filter(Boolean).join(', ') : [first, rest].filter(Boolean).join(': ')
  return text === '' || ENDS.test(text) ? text : `${text}.`
}

const MONTHS = new Map<string, ReadonlySet<string>>()
const MAX_MONTHS = 64

/** The names of the months, long and short, small letters. */
function monthsOf(tag: string): ReadonlySet<string> {
  const known = MONTHS.get(tag)
  if (known !== undefined) return known
  const names = new Set<string>()
  for (const month of ['long', 'short'] as const) {
    const format = new Intl.DateTimeFormat(localeOf(tag), { day: 'numeric', month, timeZone: 'UTC' })
    for (let i = 0; i < 12; i++) {
      const name = format.formatToParts(Date.UTC(2026, i, 15)).find(({ type }) => type === 'month')?.value ?? ''
      names.add(name.toLowerCase().replace(/\P{L}/gu, ''))
    }
  }
  if (MONTHS.size < MAX_MONTHS) MONTHS.set(tag, names)
  return names
}

/** A tag as Intl takes it; anything else is English. */
export function localeOf(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? 'en'
  } catch {
    return 'en'
  }
}
