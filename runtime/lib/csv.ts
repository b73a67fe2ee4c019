import { parse } from 'csv-parse/sync'
import { PatchbayError } from './errors.ts'
import { cleanText } from './text.ts'

const SEPARATORS = [',', ';', '\t', '|'] as const
/** `sep=;`, its end of line and a character more. */
const LONGEST_TOLD = 8
/** A record longer than this is no row of a table: most often an unclosed quote. */
const MAX_RECORD_CHARS = 64 * 1024

/**
 * Reads a CSV file piece by piece into records of trimmed cells, the header first. The first line decides the separator
 * (comma, semicolon, tab or bar; or names it: `sep=;`) and the line ending; the byte order mark, or the first bytes that are no UTF-8, decide the
 * encoding (UTF-8, UTF-16, else Windows-1252). Empty records are left out. Faults throw `malformed_body`, a record over 64 Ki
 * characters `csv_row_too_long`. Every step is linear in the text.
 */
interface CsvReader {
  push(bytes: Uint8Array): string[][]
  /** The records of what is left. */
  end(): string[][]
}

export function createCsvReader(): CsvReader {
  const decode = createDecoder()
  let rest = ''
  let separator: string | undefined
  let isTold = false
  let toldSeparator: string | undefined
  let lineEnd = '\n'

  function read(text: string, last: boolean): string[][] {
    // A first line that goes on is not looked through again.
    const goesOn = separator === undefined && isTold && !last && !/[\r\n]/.test(text) && !rest.endsWith('\r')
    rest += text
    if (goesOn) return checked([])
    if (separator === undefined && !isTold) {
      // A spreadsheet's own line, which names the separator.
      const told = /^sep=(.)(?:\r\n|\n|\r(?=[\s\S]))/i.exec(rest)
      if (told === null && !last && rest.length < LONGEST_TOLD && 'sep='.startsWith(rest.slice(0, 4).toLowerCase()))
        return checked([])
      isTold = true
      toldSeparator = SEPARATORS.find((one) => one === told?.[1])
      if (toldSeparator !== undefined) rest = rest.slice(told?.[0].length)
    }
    if (separator === undefined) {
      const firstLine = /^[^\r\n]*(\r\n|\n|\r(?=[\s\S]))/.exec(rest)
      if (firstLine === null && !last) return checked([])
      lineEnd = firstLine?.[1] === '\r' ? '\r' : '\n'
      separator = toldSeparator ?? sniffSeparator(firstLine?.[0] ?? rest)
    }
    const lines = rest.split(lineEnd)
    rest = last ? '' : lines.pop()!
    return checked(toRecords(lines, last, separator))
  }

  /** Lines to records; a quoted record that is still open goes back to `rest`. */
  function toRecords(lines: string[], last: boolean, separator: string): string[][] {
    const records: string[][] = []
    const quoted: string[] = []
    const quotedAt: number[] = []
    let open: string[] = []
    let openChars = 0
    for (const line of lines) {
      openChars = open.length === 0 ? line.length : openChars + line.length + 1
      if (openChars > MAX_RECORD_CHARS) throw new PatchbayError('csv_row_too_long')
      if (open.length === 0 && !line.includes('"')) {
        const record = splitPlain(line, separator)
        if (record !== undefined) records.push(record)
        continue
      }
      const simple = open.length === 0 ? splitQuoted(line, separator) : undefined
      if (simple !== undefined) {
        records.push(simple)
        continue
      }
      const isOpen = endsInsideQuotes(line, separator, open.length > 0)
      open.push(line)
      if (isOpen) continue
      quotedAt.push(records.length)
      quoted.push(open.join(lineEnd))
      records.push([])
      open = []
    }
    if (open.length > 0) {
      if (last) throw malformed('CSV ends inside a quoted cell')
      rest = `${open.join(lineEnd)}${lineEnd}${rest}`
    }
    if (quoted.length > 0) {
      for (const [i, record] of parseQuoted(quoted, separator).entries()) records[quotedAt[i]!] = record
    }
    return records
  }

  function checked(records: string[][]): string[][] {
    if (rest.length > MAX_RECORD_CHARS) throw new PatchbayError('csv_row_too_long')
    return records
  }

  return {
    push: (bytes) => read(decode(bytes, false), false),
    end: () => read(decode(new Uint8Array(0), true), true),
  }
}

/** A line without quotes: nothing of RFC 4180 but the separator applies, which spares it the parser. */
function splitPlain(line: string, separator: string): string[] | undefined {
  const cells = line.split(separator)
  let filled = false
  for (let i = 0; i < cells.length; i++) {
    let cell = cells[i]!
    if (cell === '') continue
    if (isMargin(cell.charCodeAt(0)) || isMargin(cell.charCodeAt(cell.length - 1))) {
      cell = cell.trim()
      cells[i] = cell
    }
    if (cell !== '') filled = true
  }
  return filled ? cells : undefined
}

/** What may be white space: asking costs less than trimming every cell. */
const isMargin = (charCode: number): boolean => charCode <= 32 || charCode >= 127

/** A line whose quoted cells are whole and plainly written; undefined for any other, which is the parser's. */
function splitQuoted(line: string, separator: string): string[] | undefined {
  const end = line.endsWith('\r') ? line.length - 1 : line.length
  const cells: string[] = []
  for (let at = 0; at <= end; ) {
    if (line[at] !== '"') {
      const next = line.indexOf(separator, at)
      const until = next === -1 || next > end ? end : next
      const cell = line.slice(at, until)
      if (cell.includes('"')) return undefined
      cells.push(cell.trim())
      at = until + 1
      continue
    }
    const close = line.indexOf('"', at + 1)
    if (close === -1 || (close + 1 < end && line[close + 1] !== separator)) return undefined
    cells.push(line.slice(at + 1, close))
    at = close + 2
  }
  return cells
}

function parseQuoted(records: readonly string[], separator: string): string[][] {
  let parsed: string[][]
  try {
    parsed = parse(records.join('\n'), {
      delimiter: separator,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_quotes: true,
      relax_column_count: true,
      trim: true,
    })
  } catch (cause) {
    throw new PatchbayError('malformed_body', { cause })
  }
  if (parsed.length !== records.length) {
    throw malformed('CSV quotes are not balanced')
  }
  return parsed
}

const QUOTE = 34

/** Whether a quoted cell is open at the end of the line. A quote opens a cell at its start alone; a doubled one is text. */
function endsInsideQuotes(line: string, separator: string, openBefore: boolean): boolean {
  const separatorCode = separator.charCodeAt(0)
  let open = openBefore
  /** Nothing but white space in the cell so far. */
  let blank = true
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code === QUOTE) {
      if (!open) open = blank
      else if (line.charCodeAt(at + 1) === QUOTE) at++
      else open = false
      blank = false
    } else if (!open) {
      if (code === separatorCode) blank = true
      else if (blank && !(isMargin(code) && line[at]!.trim() === '')) blank = false
    }
  }
  return open
}

function malformed(reason: string): PatchbayError {
  return new PatchbayError('malformed_body', { cause: new Error(reason) })
}

/** The separator that occurs most in the header, outside quotes; a comma when none does. */
function sniffSeparator(header: string): string {
  const plain = header.replace(/"[^"]*"/g, '')
  let best: string = ','
  let most = 0
  for (const separator of SEPARATORS) {
    const count = plain.split(separator).length - 1
    if (count > most) [best, most] = [separator, count]
  }
  return best
}

/** Bytes to text, without byte order mark, and clean. */
function createDecoder(): (bytes: Uint8Array, last: boolean) => string {
  let encoding: 'utf-8' | 'utf-16' | 'windows-1252' | undefined
  let utf16: ReturnType<typeof utf16Decoder>
  let held: Uint8Array = new Uint8Array(0)

  function decode(bytes: Uint8Array, last: boolean): string {
    const all = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    held = new Uint8Array(0)
    if (encoding === undefined) {
      if (all.length < LONGEST_MARK && !last) return hold(all, 0)
      utf16 = utf16Decoder(all)
      encoding = utf16 === undefined ? 'utf-8' : 'utf-16'
    }
    if (utf16 !== undefined) return utf16.decode(all, { stream: !last })
    // Pieces end in an ASCII byte, so that each decodes on its own, in either encoding.
    let end = all.length
    if (!last) while (end > 0 && all[end - 1]! >= 0x80) end--
    hold(all, end)
    const piece = all.subarray(0, end)
    if (encoding === 'utf-8') {
      try {
        return UTF8.decode(piece)
      } catch {
        encoding = 'windows-1252'
      }
    }
    return WINDOWS_1252.decode(piece)
  }

  function hold(bytes: Uint8Array, from: number): '' {
    if (bytes.length - from > MAX_RECORD_CHARS) throw new PatchbayError('csv_row_too_long')
    if (from < bytes.length) held = bytes.slice(from)
    return ''
  }

  let started = false
  return (bytes, last) => {
    let text = decode(bytes, last)
    if (!started && text !== '') {
      started = true
      if (text.startsWith('\ufeff')) text = text.slice(1)
    }
    return cleanText(text)
  }
}

const LONGEST_MARK = 3
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const WINDOWS_1252 = new TextDecoder('windows-1252')

function utf16Decoder([first, second]: Uint8Array): InstanceType<typeof TextDecoder> | undefined {
  const options = { ignoreBOM: true }
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return new TextDecoder('utf-16le', options)
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return new TextDecoder('utf-16be', options)
  return undefined
}
