import { createCsvReader } from '../../runtime/lib/csv.ts'
import { isWorkbook, WORKBOOK_MARK_BYTES, workbookRecords } from '../../runtime/lib/workbook/workbook.ts'

/**
 * The records of a CSV file or an .xlsx workbook, some at a time; the first is the header. Its first bytes decide, not its name.
 * Throws `malformed_body`, `csv_row_too_long`, and what `workbookRecords` throws.
 */
export async function* fileRecords(source: AsyncIterable<Uint8Array>): AsyncGenerator<string[][]> {
  const pieces = source[Symbol.asyncIterator]()
  let head: Uint8Array = new Uint8Array(0)
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    head = Buffer.concat([head, next.value])
    if (head.length >= WORKBOOK_MARK_BYTES) break
  }
  const whole = async function* () {
    yield head
    yield* { [Symbol.asyncIterator]: () => pieces }
  }
  if (isWorkbook(head)) return yield* workbookRecords(whole())
  const reader = createCsvReader()
  for await (const bytes of whole()) yield reader.push(bytes)
  yield reader.end()
}
