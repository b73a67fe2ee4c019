import { getDocumentProxy } from 'unpdf'
import { type Block, documentText } from '../../../runtime/knowledge/blocks.ts'
import { ExtractionError } from './extraction-error.ts'
import { type PageLine, type Piece, readingOrder } from './reading-order.ts'
import { labelled } from './text.ts'

const MAX_PAGES = 10_000

/** Paragraphs by their distance on the page; a short line in clearly larger type is a heading. */
export async function* pdfBlocks(bytes: Uint8Array): AsyncGenerator<Block> {
  let pdf: Awaited<ReturnType<typeof getDocumentProxy>>
  try {
    pdf = await getDocumentProxy(bytes, { stopAtErrors: false, verbosity: 0 })
  } catch (cause) {
    const name = (cause as Error).name
    if (name === 'PasswordException') throw new ExtractionError('The PDF is protected by a password', { cause })
    throw new ExtractionError('The PDF is damaged or not a PDF file', { cause })
  }
  if (pdf.numPages > MAX_PAGES) throw new ExtractionError(`The PDF has more than ${MAX_PAGES} pages`)
  let found = false
  for (let number = 1; number <= pdf.numPages; number++) {
    for (const block of blocksOf(await linesOf(pdf, number))) {
      found = true
      yield block
    }
  }
  if (!found) throw new ExtractionError('The PDF has no text; its pages are probably scanned images')
}

async function linesOf(pdf: Awaited<ReturnType<typeof getDocumentProxy>>, number: number): Promise<PageLine[]> {
  const rows: Piece[][] = [[]]
  try {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    for (const item of items) {
      if (!('str' in item)) continue
      const { str: text, width, height, fontName: font } = item
      rows.at(-1)?.push({ text, x: Number(item.transform[4]), y: Number(item.transform[5]), width, height, font })
      if (item.hasEOL) rows.push([])
    }
    page.cleanup()
  } catch {
    // A damaged page costs its own text, not the document's.
  }
  return readingOrder(rows)
    .map((line) => ({ ...line, text: documentText(line.text).trim() }))
    .filter((line) => line.text !== '')
}

function* blocksOf(lines: readonly PageLine[]): Generator<Block> {
  const body = median(lines.map((line) => line.height))
  let paragraph: PageLine[] = []
  for (const line of lines) {
    if (line.cells !== undefined) {
      if (paragraph.length > 0) yield { kind: 'text', text: joinLines(paragraph) }
      paragraph = []
      const { names, values } = line.cells
      yield { kind: 'record', text: documentText(names ? labelled(names, values) : values.join(' | ')) }
      continue
    }
    const last = paragraph.at(-1)
    const isHeading = line.height > body * 1.2 && line.text.length < 120
    if (last !== undefined && (isHeading || Math.abs(last.y - line.y) > Math.max(last.height, line.height) * 2)) {
      yield { kind: 'text', text: joinLines(paragraph) }
      paragraph = []
    }
    if (isHeading) yield { kind: 'heading', level: line.height > body * 1.6 ? 1 : 2, text: line.text }
    else paragraph.push(line)
  }
  if (paragraph.length > 0) yield { kind: 'text', text: joinLines(paragraph) }
}

/** Words broken at the end of a line become one again. */
function joinLines(lines: readonly PageLine[]): string {
  return lines
    .map((line) => line.text)
    .join('\n')
    .replace(/(\p{L})-\n(?=\p{Ll})/gu, '$1')
    .replace(/\n/g, ' ')
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >>> 1] ?? 0
}
