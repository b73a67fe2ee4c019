import { MAX_CSV_COLUMNS } from '../csv-columns.ts'
import { PatchbayError } from '../errors.ts'
import { cleanText } from '../text.ts'
import { type CellFormat, numberText } from './cell-format.ts'
import { type XmlAttributes, XmlReader } from './xml-reader.ts'

/** Data rows of a sheet. More are better sent as CSV, which takes a fraction of the work. */
const MAX_ROWS = 100_000
/** As of a record of a CSV. */
const MAX_RECORD_CHARS = 64 * 1024
/** Of the whole sheet: its cells may name a long text over and over. */
const MAX_SHEET_CHARS = 128 * 1024 * 1024
/** A character that XML can't hold (ECMA-376, part 1, 22.9.2.19). */
const ESCAPED = /_x([0-9a-f]{4})_/gi

interface SheetOptions {
  texts: readonly string[]
  formats: readonly CellFormat[]
  calendar: 1900 | 1904
}

interface Cell {
  /** `s`: a number of the table of texts, `b`: 0 or 1, `n`: a number; others are texts. */
  type: string
  format: CellFormat
  text: string
}

/** Reads a sheet's XML piece by piece (ECMA-376, part 1, 18.3): only the records that nobody has taken yet stay in memory. */
export class SheetParser {
  readonly #options: SheetOptions
  readonly #reader: XmlReader
  #records: string[][] = []
  #rows = 0
  #row: string[] | undefined
  #rowChars = 0
  #sheetChars = 0
  /** Of the cell that is read or comes next, from 0. */
  #column = 0
  #cell: Cell | undefined
  #isText = false
  /** How a Japanese text is read aloud. */
  #isPhonetic = false

  constructor(options: SheetOptions) {
    this.#options = options
    this.#reader = new XmlReader({
      open: (name, attributes) => this.#open(name, attributes),
      text: (text) => this.#read(text),
      close: (name) => this.#close(name),
    })
  }

  /** @throws PatchbayError workbook_too_large, csv_row_too_long, csv_too_many_columns */
  write(piece: Uint8Array): void {
    this.#reader.write(piece)
  }

  end(): void {
    this.#reader.end()
  }

  /** The records since the last time. */
  take(): string[][] {
    const taken = this.#records
    this.#records = []
    return taken
  }

  #open(name: string, attributes: XmlAttributes): void {
    if (name === 'row') {
      this.#row = []
      this.#rowChars = 0
      this.#column = 0
    } else if (name === 'c' && this.#row !== undefined) {
      this.#column = columnOf(attributes.r) ?? this.#column
      this.#cell = {
        type: attributes.t ?? 'n',
        format: this.#options.formats[Number(attributes.s ?? -1)],
        text: '',
      }
    } else if (name === 'v' || name === 't') this.#isText = !this.#isPhonetic
    else if (name === 'rPh') this.#isPhonetic = true
  }

  #read(text: string): void {
    if (!this.#isText || this.#cell === undefined) return
    this.#cell.text += text
    if (this.#cell.text.length > MAX_RECORD_CHARS) throw new PatchbayError('csv_row_too_long')
  }

  #close(name: string): void {
    if (name === 'v' || name === 't') this.#isText = false
    else if (name === 'rPh') this.#isPhonetic = false
    else if (name === 'c') this.#closeCell()
    else if (name === 'row') this.#closeRow()
  }

  #closeCell(): void {
    const [cell, row, column] = [this.#cell, this.#row, this.#column++]
    this.#cell = undefined
    const text = cell === undefined ? '' : this.#textOf(cell)
    if (text === '' || row === undefined) return
    if (column >= MAX_CSV_COLUMNS) throw new PatchbayError('csv_too_many_columns')
    this.#rowChars += text.length
    if (this.#rowChars > MAX_RECORD_CHARS) throw new PatchbayError('csv_row_too_long')
    this.#sheetChars += text.length
    if (this.#sheetChars > MAX_SHEET_CHARS) throw new PatchbayError('workbook_too_large')
    while (row.length < column) row.push('')
    row[column] = text
  }

  #textOf({ type, format, text }: Cell): string {
    const { texts, calendar } = this.#options
    if (text === '') return ''
    if (type === 'n') return plainText(numberText(text, format, calendar))
    if (type === 'b') return text === '1' ? 'TRUE' : 'FALSE'
    return plainText(type === 's' ? (texts[Number(text)] ?? '') : text)
  }

  #closeRow(): void {
    const row = this.#row ?? []
    this.#row = undefined
    if (row.length === 0) return
    // The header is no row.
    if (this.#rows++ > MAX_ROWS) throw new PatchbayError('workbook_too_large')
    this.#records.push(row)
  }
}

function plainText(text: string): string {
  const escaped = text.includes('_x')
    ? text.replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
  return cleanText(escaped).trim()
}

/** The column of `AB12`, from 0; one that is beyond every bound where the letters are too many. */
function columnOf(place: string | undefined): number | undefined {
  const letters = /^[A-Z]+/i.exec(place ?? '')?.[0]
  if (letters === undefined) return undefined
  if (letters.length > 3) return MAX_CSV_COLUMNS
  let column = 0
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}
