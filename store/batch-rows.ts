import type { PhoneNumber } from '../runtime/phone-number.ts'

/**
 * The rows of a batch as batch_rows keeps them: JSON of up to ROWS_PER_BLOCK rows, each `[number, …cells]`, or
 * `[null, text, …cells]` where the text is no phone number. A row's `seq` counts from 0 over the file.
 */
export const ROWS_PER_BLOCK = 32

type StoredRow = readonly [PhoneNumber, ...string[]] | readonly [null, ...string[]]

export interface BatchRow {
  seq: number
  /** E.164, or the text of the file where `valid` is false. */
  phoneNumber: string
  valid: boolean
  variables: Record<string, string>
}

/** @param columns names of the variables, in the order of the cells */
export function decodeBlock(block: number, rows: string, columns: readonly string[]): BatchRow[] {
  return (JSON.parse(rows) as StoredRow[]).map((row, i) => {
    const valid = row[0] !== null
    const cells = row.slice(valid ? 1 : 2)
    return {
      seq: block * ROWS_PER_BLOCK + i,
      phoneNumber: (valid ? row[0] : row[1]) ?? '',
      valid,
      variables: Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? ''])),
    }
  })
}

/** The id of a row: its batch's, with the row's number in the last 32 bits. */
export function itemId(batchId: string, seq: number): string {
  return batchId.slice(0, -8) + seq.toString(16).padStart(8, '0')
}
