import { PatchbayError } from './errors.ts'

/** Of one CSV. Each is looked at in every row, and a file of a few hundred kilobytes can name more than anybody reads. */
export const MAX_CSV_COLUMNS = 1_000

/** @throws PatchbayError csv_too_many_columns */
export function checkColumns(header: readonly unknown[]): void {
  if (header.length > MAX_CSV_COLUMNS) throw new PatchbayError('csv_too_many_columns')
}
