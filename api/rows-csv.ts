import { Readable } from 'node:stream'

/** Rows of JSON as the file that a CSV upload would be: what loads one loads both. */

/** A row: names of columns → cells. */
export type RowCells = Readonly<Record<string, string | undefined>>

/** Its first columns are `first`, the others come as rows name them. A cell that a row lacks is empty. */
export function rowsCsv(first: readonly string[], rows: readonly RowCells[]): AsyncIterable<Uint8Array> {
  const columns = [...new Set([...first, ...rows.flatMap((row) => Object.keys(row))])]
  const lines = function* () {
    yield lineOf(columns)
    for (const row of rows) yield lineOf(columns.map((name) => (Object.hasOwn(row, name) ? (row[name] ?? '') : '')))
  }
  return Readable.from(lines())
}

/** RFC 4180, every cell quoted. */
function lineOf(cells: readonly string[]): Buffer {
  return Buffer.from(`${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\r\n`)
}

/** `metadata` as the columns that hold it. */
export function metadataCells(metadata: Readonly<Record<string, string>> = {}): RowCells {
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata[${key}]`, value]))
}
