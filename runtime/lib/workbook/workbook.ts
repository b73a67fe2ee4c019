import { posix } from 'node:path'
import { PatchbayError } from '../errors.ts'
import { unpack, unpacking, type ZipEntry, ZipError, zipEntries } from '../zip.ts'
import { type CellFormat, cellFormat } from './cell-format.ts'
import { SheetParser } from './sheet-parser.ts'
import { type XmlAttributes, XmlError, XmlReader } from './xml-reader.ts'

/** Of the file as it comes, which stays in memory. */
const MAX_FILE_BYTES = 32 * 1024 * 1024
/** Of a part that says how the others hang together, and of the formats. */
const MAX_PART_BYTES = 4 * 1024 * 1024
const PIECE_BYTES = 64 * 1024
/** Of the sheet, and of the table of texts, which are read piece by piece. */
const MAX_SHEET_BYTES = 256 * 1024 * 1024
/** A cell of some bytes may name a text of many: its records are handed on after each step. */
const STEP_BYTES = 2 * 1024
/** Texts of the table, which stay in memory. */
const MAX_TEXTS = 1_000_000
const MAX_TEXT_CHARS = 16 * 1024 * 1024

const ZIP_MARK = Buffer.from('PK\x03\x04', 'latin1')
/** The container of .xls files, and of .xlsx files with a password ([MS-CFB], 2.2). */
const COMPOUND_MARK = Buffer.from('d0cf11e0a1b11ae1', 'hex')
/** Bytes by which a workbook is told from a CSV. */
export const WORKBOOK_MARK_BYTES = COMPOUND_MARK.length

/** Whether a file that begins with these bytes is a workbook, or anything else of its kind that is no text. */
export function isWorkbook(head: Uint8Array): boolean {
  return [ZIP_MARK, COMPOUND_MARK].some((mark) => mark.equals(head.subarray(0, mark.length)))
}

/**
 * Reads the first sheet of an .xlsx file that people can see (ECMA-376) into records of trimmed cells, some at a time, empty rows left
 * out: texts, the results of formulas as they were saved, dates by ISO 8601, numbers in full. What is refused of a CSV is refused here.
 * @throws PatchbayError workbook_unreadable, workbook_too_large, csv_row_too_long, csv_too_many_columns
 */
export async function* workbookRecords(source: AsyncIterable<Uint8Array>): AsyncGenerator<string[][]> {
  try {
    const book = await openBook(await wholeFile(source))
    const sheet = new SheetParser(book)
    for await (const piece of unpacking(book.sheet, MAX_SHEET_BYTES)) {
      for (let at = 0; at < piece.length; at += STEP_BYTES) {
        sheet.write(piece.subarray(at, at + STEP_BYTES))
        const records = sheet.take()
        if (records.length > 0) yield records
      }
    }
    sheet.end()
    yield sheet.take()
  } catch (cause) {
    if (cause instanceof XmlError) throw new PatchbayError('workbook_unreadable', { cause })
    if (!(cause instanceof ZipError)) throw cause
    throw new PatchbayError(cause.isTooLarge ? 'workbook_too_large' : 'workbook_unreadable', { cause })
  }
}

async function wholeFile(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of source) {
    size += piece.length
    if (size > MAX_FILE_BYTES) throw new PatchbayError('workbook_too_large')
    pieces.push(Uint8Array.from(piece))
  }
  return Buffer.concat(pieces)
}

interface Book {
  sheet: ZipEntry
  texts: readonly string[]
  /** By the number that a cell names. */
  formats: readonly CellFormat[]
  calendar: 1900 | 1904
}

async function openBook(file: Buffer): Promise<Book> {
  const parts = new Map(zipEntries(file).map((entry) => [entry.name, entry]))
  const part = (path: string): ZipEntry => {
    const found = parts.get(path)
    if (found === undefined) throw new ZipError(`The workbook has no part ${path}`)
    return found
  }
  const related = (path: string): Relation[] => {
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    const entry = parts.get(`${folder}_rels/${path.slice(folder.length)}.rels`)
    return entry === undefined ? [] : readRelations(entry, folder)
  }
  const path = related('').find(({ type }) => type === 'officeDocument')?.path
  if (path === undefined) throw new ZipError('The archive is no workbook')
  const { sheetId, calendar } = readWorkbook(part(path))
  const relations = related(path)
  const sheetPath = relations.find(({ id }) => id === sheetId)?.path
  if (sheetPath === undefined) throw new ZipError('The workbook has no sheet')
  const entryOf = (type: string) => parts.get(relations.find((one) => one.type === type)?.path ?? '')
  const texts = entryOf('sharedStrings')
  const styles = entryOf('styles')
  return {
    sheet: part(sheetPath),
    texts: texts === undefined ? [] : await readTexts(texts),
    formats: styles === undefined ? [] : readFormats(styles),
    calendar,
  }
}

function eachElement(entry: ZipEntry, open: (name: string, attributes: XmlAttributes) => void): void {
  const reader = new XmlReader({ open })
  const bytes = unpack(entry, MAX_PART_BYTES)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) reader.write(bytes.subarray(at, at + PIECE_BYTES))
  reader.end()
}

interface Relation {
  id: string
  /** The last part of its address, which is the same in both editions of the standard. */
  type: string
  path: string
}

function readRelations(entry: ZipEntry, folder: string): Relation[] {
  const found: Relation[] = []
  eachElement(entry, (name, { Id: id = '', Type: type = '', Target: target = '' }) => {
    if (name !== 'Relationship') return
    const path = posix.join('/', target.startsWith('/') ? '' : folder, target).slice(1)
    found.push({ id, type: type.slice(type.lastIndexOf('/') + 1), path })
  })
  return found
}

/** Its first sheet that is not hidden, and where its calendar begins. */
function readWorkbook(entry: ZipEntry): { sheetId: string | undefined; calendar: Book['calendar'] } {
  let sheetId: string | undefined
  let calendar: Book['calendar'] = 1900
  eachElement(entry, (name, attributes) => {
    if (name === 'workbookPr' && ['1', 'true'].includes(attributes.date1904 ?? '')) calendar = 1904
    if (name !== 'sheet' || sheetId !== undefined || /hidden/i.test(attributes.state ?? '')) return
    sheetId = Object.entries(attributes).find(([key]) => /:id$/.test(key))?.[1]
  })
  return { sheetId, calendar }
}

function readFormats(entry: ZipEntry): CellFormat[] {
  const codes = new Map<number, string>()
  const formats: CellFormat[] = []
  let isOfCells = false
  eachElement(entry, (name, { numFmtId: id = '0', formatCode: code }) => {
    if (name === 'numFmt' && code !== undefined) codes.set(Number(id), code)
    if (name === 'cellXfs' || name === 'cellStyleXfs' || name === 'cellStyles') isOfCells = name === 'cellXfs'
    if (name === 'xf' && isOfCells) formats.push(cellFormat(Number(id), codes.get(Number(id))))
  })
  return formats
}

/** The table of texts, of which cells name the number. */
async function readTexts(entry: ZipEntry): Promise<string[]> {
  const texts: string[] = []
  let text = ''
  let isText = false
  /** How a Japanese text is read aloud. */
  let isPhonetic = false
  let chars = 0
  const reader = new XmlReader({
    open(name) {
      if (name === 'si') text = ''
      else if (name === 'rPh') isPhonetic = true
      else if (name === 't') isText = !isPhonetic
    },
    text(piece) {
      if (!isText) return
      text += piece
      chars += piece.length
      if (chars > MAX_TEXT_CHARS) throw new PatchbayError('workbook_too_large')
    },
    close(name) {
      if (name === 't') isText = false
      else if (name === 'rPh') isPhonetic = false
      else if (name === 'si') {
        if (texts.length >= MAX_TEXTS) throw new PatchbayError('workbook_too_large')
        // A copy: a text cut out of the piece that it came in would keep all of it.
        texts.push(Buffer.from(text).toString())
      }
    },
  })
  for await (const piece of unpacking(entry, MAX_SHEET_BYTES)) reader.write(piece)
  reader.end()
  return texts
}
