import type { Client } from 'pg'
import { createCsvReader } from '../runtime/csv.ts'
import { checkColumns } from '../runtime/csv-columns.ts'
import { createDistinctCounter } from '../runtime/distinct-counter.ts'
import { PatchbayError } from '../runtime/errors.ts'
import { parsePhoneNumber } from '../runtime/phone-number.ts'
import type { Loader } from './bulk-copy-messages.ts'
import { openCopy } from './copy-writer.ts'
import { ROWS_PER_BLOCK } from './rows-per-block.ts'

/** The id is the caller's, so that nothing has to be asked of the thread before the end. */
export interface BatchLoadParams {
  batchId: string
  workspaceId: string
  /** The column with the numbers, where it is not called `phone_number`. */
  phoneColumn?: string | undefined
}

/** What the form's fields say; they may come after the file. */
export interface BatchDetails {
  name: string
  agentId: string
  agentPhoneNumber: string
  status: 'pending' | 'scheduled'
  scheduledTime: Date | null
  timezone: string
}

export interface BatchLoadResult {
  total: number
  /** Rows whose number is none; they count among the total. */
  invalid: number
  /** Rows whose number an earlier row has; they are kept. */
  duplicates: number
}

const NUMBER_COLUMN = 'phone_number'
const COPY_BYTES = 64 * 1024

/**
 * Makes a batch of a CSV file: a column `phone_number` (whatever its case, spaces or hyphens), the others become variables.
 * Throws `csv_without_phone_number`, `csv_without_rows`, `csv_too_many_columns`, `csv_row_too_long`, or `malformed_body`.
 */
export const load: Loader<BatchLoadParams, BatchDetails, BatchLoadResult> = async (client, params, source) => {
  await client.query(
    `insert into batches (id, workspace_id, name, agent_phone_number, status, timezone, columns)
     values ($1, $2, '', '', 'pending', 'UTC', '[]')`,
    [params.batchId, params.workspaceId],
  )
  const rows = createRowWriter(params.batchId, params.phoneColumn)
  const result = await copyRows(client, rows, source)
  return async (details) => {
    await client.query(
      `update batches set name = $2, agent_id = $3, agent_phone_number = $4, status = $5, scheduled_time = $6,
         timezone = $7, columns = $8, total = $9, invalid = $10, failed = $10, duplicates = $11 where id = $1`,
      [
        params.batchId,
        details.name,
        details.agentId,
        details.agentPhoneNumber,
        details.status,
        details.scheduledTime,
        details.timezone,
        JSON.stringify(rows.columns()),
        result.total,
        result.invalid,
        result.duplicates,
      ],
    )
    return result
  }
}

async function copyRows(client: Client, rows: RowWriter, source: AsyncIterable<Uint8Array>): Promise<BatchLoadResult> {
  const reader = createCsvReader()
  const copy = openCopy(client, 'copy batch_rows (batch_id, block, rows) from stdin')
  try {
    for await (const bytes of source) {
      rows.add(reader.push(bytes))
      const text = rows.take(false)
      if (text !== undefined) await copy.write(text)
    }
    rows.add(reader.end())
    const text = rows.take(true)
    if (text !== undefined) await copy.write(text)
    // Counted while Postgres still works.
    const result = rows.result()
    await copy.end()
    return result
  } catch (error) {
    copy.fail()
    throw error
  }
}

type RowWriter = ReturnType<typeof createRowWriter>

/** Records to lines of COPY's text format, one a block. */
function createRowWriter(batchId: string, phoneColumn: string | undefined) {
  const numbers = createDistinctCounter()
  let header: { numberAt: number; cellsAt: number[]; columns: string[] } | undefined
  let block: (string | null)[][] = []
  let blocks = 0
  let lines = ''
  let total = 0
  let invalid = 0

  function addRow(record: readonly string[], { numberAt, cellsAt }: NonNullable<typeof header>): void {
    const text = record[numberAt] ?? ''
    const number = parsePhoneNumber(text)
    const row: (string | null)[] = number === undefined ? [null, text] : [number]
    for (let i = 0; i < cellsAt.length; i++) row.push(record[cellsAt[i]!] ?? '')
    total++
    if (number === undefined) invalid++
    else numbers.add(Number(number))
    if (block.push(row) === ROWS_PER_BLOCK) closeBlock()
  }

  function closeBlock(): void {
    const json = JSON.stringify(block)
    lines += `${batchId}\t${blocks}\t${json.includes('\\') ? json.replaceAll('\\', '\\\\') : json}\n`
    blocks++
    block = []
  }

  return {
    add(records: readonly string[][]): void {
      for (const record of records) {
        if (header === undefined) header = readHeader(record, phoneColumn)
        else addRow(record, header)
      }
    },
    /** What is worth a write, or all of it. */
    take(last: boolean): string | undefined {
      if (last && block.length > 0) closeBlock()
      if (lines === '' || (!last && lines.length < COPY_BYTES)) return undefined
      const taken = lines
      lines = ''
      return taken
    },
    columns: () => header?.columns ?? [],
    result(): BatchLoadResult {
      if (header === undefined) throw new PatchbayError('csv_without_phone_number')
      if (total === 0) throw new PatchbayError('csv_without_rows')
      return { total, invalid, duplicates: numbers.total - numbers.distinct() }
    },
  }
}

/** Of columns with the same name the last counts; one without a name is left out. */
function readHeader(record: readonly string[], phoneColumn: string | undefined) {
  checkColumns(record)
  const numberAt = numberColumnOf(record, phoneColumn)
  if (numberAt === -1) throw new PatchbayError('csv_without_phone_number')
  const byName = new Map<string, number>()
  for (const [at, name] of record.entries()) if (name !== '' && at !== numberAt) byName.set(name, at)
  return { numberAt, cellsAt: [...byName.values()], columns: [...byName.keys()] }
}

/** Where the numbers stand; -1: no column is called `phone_number`. Throws `csv_without_column` where the named one lacks. */
export function numberColumnOf(columns: readonly string[], phoneColumn: string | undefined): number {
  if (phoneColumn === undefined) {
    return columns.findIndex((name) => name.toLowerCase().replace(/[\s_-]+/g, '_') === NUMBER_COLUMN)
  }
  const at = columns.indexOf(phoneColumn)
  if (at === -1) throw new PatchbayError('csv_without_column')
  return at
}
