import { PatchbayError } from './errors.ts'
import { MAX_VARIABLES, MAX_VARIABLES_BYTES } from './variable-bounds.ts'

/** Of one CSV. Each is looked at in every row, and a file of a few hundred kilobytes can name more than anybody reads. */
export const MAX_CSV_COLUMNS = 1_000

/** @throws PatchbayError csv_too_many_columns */
export function checkColumns(header: readonly unknown[]): void {
  if (header.length > MAX_CSV_COLUMNS) throw new PatchbayError('csv_too_many_columns')
}

/**
 * Checks the rows of a file whose cells become dynamic variables: no call takes more than the bounds of those.
 *
 * @param names the columns that become variables
 * @returns a check of the cells of a row, which throws PatchbayError csv_row_too_long
 * @throws PatchbayError csv_too_many_columns
 */
export function variableRows(names: readonly string[]): (cells: readonly (string | null)[]) => void {
  if (names.length > MAX_VARIABLES) throw new PatchbayError('csv_too_many_columns')
  const mostBytes = MAX_VARIABLES_BYTES - Buffer.byteLength(JSON.stringify(names)) - names.length
  if (mostBytes < 0) throw new PatchbayError('csv_row_too_long')
  return (cells) => {
    // A character has at most six bytes, as `\u0001`: most rows need no closer look.
    let chars = 0
    for (const cell of cells) chars += (cell?.length ?? 0) + 3
    if (chars * 6 > mostBytes && Buffer.byteLength(JSON.stringify(cells)) > mostBytes) {
      throw new PatchbayError('csv_row_too_long')
    }
  }
}
