import { convert, type DomNode, type FormatCallback } from 'html-to-text'
import { type Block, documentText } from '../../../runtime/knowledge/blocks.ts'
import { decodeText } from './encoding.ts'
import { labelled } from './text.ts'

/** Private-use characters mark structure in the converter's output; a page's own ones are removed first. */
const HEADING = '\ue000'
const RECORD = '\ue001'
const CELL = '\ue002'
/** Before the text of a cell: that it names a column, and over how many rows and columns it reaches. */
const NAMES = '\ue003'
const SPAN = '\ue004'
const TABLE = '\ue005'
const MARKS = /[\ue000-\ue005]/g
const MAX_SPAN = 1_000
const MAX_DEPTH = 500

const heading: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 })
  builder.addInline(HEADING.repeat(Number((element.name ?? 'h6').slice(1))))
  walk(element.children, builder)
  builder.closeBlock({ trailingLineBreaks: 2 })
}

const row: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1 })
  builder.addInline(RECORD)
  walk(element.children, builder)
  builder.closeBlock({ trailingLineBreaks: 1 })
}

const cell: FormatCallback = (element, walk, builder) => {
  const { rowspan = '1', colspan = '1' } = (element.attribs ?? {}) as Record<string, string>
  builder.addInline(`${element.name === 'th' || isBold(element) ? NAMES : ''}${rowspan},${colspan}${SPAN}`)
  walk(element.children, builder)
  builder.addInline(CELL)
}

/** A cell whose words are all set in bold, as heads of tables are that are not marked as such. */
function isBold({ children = [] }: DomNode): boolean {
  const [only, ...others] = children.filter(({ type, data }) => type !== 'text' || data?.trim() !== '')
  if (only === undefined || others.length > 0 || only.type !== 'tag') return false
  return only.name === 'strong' || only.name === 'b' || (only.name === 'p' && isBold(only))
}

const table: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 })
  builder.addInline(TABLE)
  builder.closeBlock({ trailingLineBreaks: 2 })
  builder.openBlock({ leadingLineBreaks: 2 })
  walk(element.children, builder)
  builder.closeBlock({ trailingLineBreaks: 2 })
}

/** What a page holds and doesn't show, and the question for consent that lies over it. */
const HIDDEN = [
  ...['[hidden]', '[style*="display:none"]', '[style*="display: none"]', '[style*="visibility:hidden"]'],
  ...['[style*="visibility: hidden"]', '[type="hidden"]', '#onetrust-consent-sdk', '#CybotCookiebotDialog'],
  ...['cookie-banner', 'cookie-consent', 'cookie-notice', 'cookie-bar', 'cookiebanner', 'cookieconsent'].flatMap(
    (name) => [`[id*="${name}"]`, `[class*="${name}"]`],
  ),
]

/** The text a reader of the page sees: no scripts, styles, navigation or addresses of links. */
export function* htmlBlocks(html: string): Generator<Block> {
  const skipped = ['script', 'style', 'noscript', 'template', 'nav', 'svg', 'head', 'img', 'iframe', 'button', 'select']
  const converted = convert(html.replace(MARKS, ''), {
    wordwrap: false,
    limits: { maxInputLength: Number.POSITIVE_INFINITY, maxDepth: MAX_DEPTH },
    formatters: { heading, row, cell, table },
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      ...[...skipped, ...HIDDEN].map((selector) => ({ selector, format: 'skip' })),
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
      { selector: 'table', format: 'table' },
      { selector: 'tr', format: 'row' },
      ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
      // Paragraphs of a cell stay on the line of their row.
      ...['td > p', 'td > div', 'th > p', 'th > div'].map((selector) => ({
        selector,
        format: 'inlineSurround',
        options: { suffix: ' ' },
      })),
    ],
  })
  let rows = new TableRows()
  // No-break spaces and the like arise from entities.
  for (const paragraph of documentText(converted).split(/\n\s*\n|\n(?=\ue001)/)) {
    const trimmed = paragraph.trim()
    if (trimmed.startsWith(HEADING)) {
      const level = trimmed.lastIndexOf(HEADING) + 1
      yield { kind: 'heading', level: Math.min(level, 6), text: plain(trimmed).replace(/\s+/g, ' ') }
    } else if (trimmed === TABLE) {
      yield* rows.end()
      rows = new TableRows()
    } else if (trimmed.startsWith(RECORD)) {
      const text = rows.take(trimmed)
      if (text !== '') yield { kind: 'record', text }
    } else {
      const words = plain(trimmed)
      if (words === '') continue
      yield* rows.end()
      yield { kind: 'text', text: words }
    }
  }
  yield* rows.end()
}

/** The text of an HTML file, whose encoding it may declare itself. */
export function decodeHtml(bytes: Uint8Array): string {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 1024))
  const declared = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]{1,40})/i.exec(start)?.[1]
  return documentText(decodeText(bytes, declared))
}

/** The rows of one table: a value is under the name of its column, and in each row that its cell reaches over. */
class TableRows {
  #names: string[] | undefined
  #isEmpty = true
  /** Cells of rows before that reach into the next, by column. */
  readonly #reaching = new Map<number, { text: string; rows: number }>()

  take(row: string): string {
    const cells = row.split(CELL).slice(0, -1)
    const values: string[] = []
    const reach = (): void => {
      for (
        let above = this.#reaching.get(values.length);
        above !== undefined;
        above = this.#reaching.get(values.length)
      ) {
        if (--above.rows === 0) this.#reaching.delete(values.length)
        values.push(above.text)
      }
    }
    for (const cell of cells) {
      reach()
      const [span = '', ...rest] = cell.split(SPAN)
      const text = plain(rest.join('')).replace(/\s+/g, ' ')
      const [rows, columns] = plain(span)
        .split(',')
        .map((count) => Math.min(Number(count) || 1, MAX_SPAN)) as [number, number]
      if (rows > 1) this.#reaching.set(values.length, { text, rows: rows - 1 })
      values.push(text, ...Array.from({ length: Math.max(0, columns - 1) }, () => ''))
    }
    reach()
    const areNames = cells.length > 1 && cells.every((cell) => cell.includes(NAMES))
    if (areNames && this.#names === undefined && this.#isEmpty) {
      this.#names = values
      return ''
    }
    this.#isEmpty = false
    if (this.#names !== undefined) return labelled(this.#names, values)
    return values.filter((value) => value !== '').join(' | ')
  }

  /** Names of columns that no row is under. */
  *end(): Generator<Block> {
    if (this.#names !== undefined && this.#isEmpty)
      yield { kind: 'record', text: this.#names.filter(Boolean).join(' | ') }
    this.#isEmpty = false
  }
}

function plain(text: string): string {
  return text.replace(MARKS, '').trim()
}
