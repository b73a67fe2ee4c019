import { convert, type FormatCallback } from 'html-to-text'
import { type Block, documentText } from '../../../runtime/knowledge/blocks.ts'
import { decodeText } from './encoding.ts'

/** Private-use characters mark structure in the converter's output; a page's own ones are removed first. */
const HEADING = '\ue000'
const RECORD = '\ue001'
const CELL = '\ue002'
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
  walk(element.children, builder)
  builder.addInline(CELL)
}

/** The text a reader of the page sees: no scripts, styles, navigation or addresses of links. */
export function* htmlBlocks(html: string): Generator<Block> {
  const skipped = ['script', 'style', 'noscript', 'template', 'nav', 'svg', 'head', 'img', 'iframe', 'button', 'select']
  const converted = convert(html.replace(/[\ue000-\ue002]/g, ''), {
    wordwrap: false,
    limits: { maxInputLength: Number.POSITIVE_INFINITY, maxDepth: MAX_DEPTH },
    formatters: { heading, row, cell },
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      ...skipped.map((selector) => ({ selector, format: 'skip' })),
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
      { selector: 'table', format: 'block' },
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
  // No-break spaces and the like arise from entities.
  for (const paragraph of documentText(converted).split(/\n\s*\n|\n(?=\ue001)/)) {
    const trimmed = paragraph.trim()
    if (trimmed.startsWith(HEADING)) {
      const level = trimmed.lastIndexOf(HEADING) + 1
      yield { kind: 'heading', level: Math.min(level, 6), text: plain(trimmed).replace(/\s+/g, ' ') }
    } else if (trimmed.startsWith(RECORD)) {
      const cells = trimmed.split(CELL).map((part) => plain(part).replace(/\s+/g, ' '))
      const joined = cells.filter((part) => part !== '').join(' | ')
      if (joined !== '') yield { kind: 'record', text: joined }
    } else {
      const words = plain(trimmed)
      if (words !== '') yield { kind: 'text', text: words }
    }
  }
}

/** The text of an HTML file, whose encoding it may declare itself. */
export function decodeHtml(bytes: Uint8Array): string {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 1024))
  const declared = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]{1,40})/i.exec(start)?.[1]
  return documentText(decodeText(bytes, declared))
}

function plain(text: string): string {
  return text.replace(/[\ue000-\ue002]/g, '').trim()
}
