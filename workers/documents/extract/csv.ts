import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import type { Block } from '../../../runtime/knowledge/blocks.ts'
import { MAX_CSV_COLUMNS } from '../../../runtime/lib/csv-columns.ts'
import { ExtractionError } from './extraction-error.ts'
import { labelled } from './text.ts'

const DELIMITERS = [',', ';', '\t', '|']

/** One record a row, each value under the name its column has in the first row. */
export function* csvBlocks(text: string): Generator<Block> {
  let rows: string[][]
  try {
    rows = parse(text, {
      delimiter: delimiterOf(text),
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      trim: true,
    })
  } catch (cause) {
    if (cause instanceof CsvError) throw new ExtractionError(`The CSV can't be read: ${cause.message}`, { cause })
    throw cause
  }
  const [names, ...records] = rows
  if (names === undefined) return
  if (names.length > MAX_CSV_COLUMNS) throw new ExtractionError(`The CSV has more than ${MAX_CSV_COLUMNS} columns`)
  if (records.length === 0) yield { kind: 'record', text: names.join('; ') }
  for (const record of records) {
    const line = labelled(names, record)
    if (line !== '') yield { kind: 'record', text: line }
  }
}

/** The separator that occurs most often in the first line, outside quotes. */
function delimiterOf(text: string): string {
  const firstLine = text.slice(0, Math.max(text.indexOf('\n'), 0) || 10_000).replace(/"[^"]*"/g, '')
  const count = (delimiter: string) => firstLine.split(delimiter).length
  return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best))
}
