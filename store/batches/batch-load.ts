import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { fitsMetadata, metadataKeyOf } from '../../runtime/call/types/metadata.ts'
import { checkColumns, variableRows } from '../../runtime/lib/csv-columns.ts'
import { createDistinctCounter } from '../../runtime/lib/distinct-counter.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { numberInCell, parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import { readSipUri } from '../../runtime/plugin-sdk/telephony/destination.ts'
import type { Loader } from '../uploads/bulk-copy.ts'
import { copyInto, copyText } from '../uploads/csv-copy.ts'
import { fileRecords } from '../uploads/file-records.ts'
import { ROWS_PER_BLOCK } from './tables.ts'

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
  /** Rows with an invalid number; they count among the total. */
  invalid: number
  /** Rows whose number an earlier row has; they are kept. */
  duplicates: number
}

const NUMBER_COLUMN = 'phone_number'
const COPY_CHARS = 64 * 1024

/**
 * Makes a batch of a CSV file: a column `phone_number` (case, spaces and hyphens are ignored), the others become variables. A small one
 * is written at once, with its batch; of another the rows go to Postgres as they come.
 * Throws `csv_without_phone_number`, `csv_without_rows`, `csv_too_many_columns`, `csv_row_too_long`, or `malformed_body`.
 */
export const load: Loader<BatchLoadParams, BatchDetails, BatchLoadResult> = async (client, params, source) => {
  const rows = createRowWriter(params.phoneColumn)
  const { copied, result } = await copyRows(client, params, rows, source)
  return async (details) => {
    const values = [
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
    ]
    if (copied) await client.query(COMPLETE, values)
    else await client.query(MAKE, [...values, params.workspaceId, rows.take(true)?.blocks])
    return result
  }
}

const COMPLETE = `update batches set name = $2, agent_id = $3, agent_phone_number = $4, status = $5, scheduled_time = $6,
  timezone = $7, columns = $8, total = $9, invalid = $10, failed = $10, duplicates = $11 where id = $1`
const MAKE = `with made as (
    insert into batches (id, name, agent_id, agent_phone_number, status, scheduled_time, timezone, columns, total, invalid,
      failed, duplicates, workspace_id)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12) returning id
  )
  insert into batch_rows (batch_id, block, rows)
  select made.id, listed.place - 1, listed.rows from made, unnest($13::text[]) with ordinality as listed (rows, place)`

/** Not `copied`: they are few, and still with the writer. */
async function copyRows(
  client: Client,
  { batchId, workspaceId }: BatchLoadParams,
  rows: RowWriter,
  source: AsyncIterable<Uint8Array>,
): Promise<{ copied: boolean; result: BatchLoadResult }> {
  const pieces = piecesOf(batchId, rows, source)
  const first = await pieces.next()
  if (first.done) return { copied: false, result: rows.result() }
  await client.query(
    `insert into batches (id, workspace_id, name, agent_phone_number, status, timezone, columns)
     values ($1, $2, '', '', 'pending', 'UTC', '[]')`,
    [batchId, workspaceId],
  )
  const lines = async function* () {
    yield first.value
    yield* pieces
  }
  await copyInto(client, 'batch_rows (batch_id, block, rows)', lines())
  return { copied: true, result: rows.result() }
}

/** Lines of COPY as their blocks fill. Of a file too small for a write there are none, and its blocks stay with the writer. */
async function* piecesOf(batchId: string, rows: RowWriter, source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let isCopied = false
  for await (const records of fileRecords(source)) {
    rows.add(records)
    const full = rows.take(false)
    if (full === undefined) continue
    isCopied = true
    yield linesOf(batchId, full)
  }
  const rest = isCopied ? rows.take(true) : undefined
  if (rest !== undefined) yield linesOf(batchId, rest)
}

/** Blocks of a batch's rows, from the block `first` on, each as JSON. */
interface Blocks {
  first: number
  blocks: string[]
}

/** In COPY's text format, one a block. */
function linesOf(batchId: string, { first, blocks }: Blocks): string {
  let lines = ''
  for (const [i, json] of blocks.entries()) {
    lines += `${batchId}\t${first + i}\t${copyText(json)}\n`
  }
  return lines
}

type RowWriter = ReturnType<typeof createRowWriter>

/** Records to blocks. */
function createRowWriter(phoneColumn: string | undefined) {
  const numbers = createDistinctCounter()
  let header:
    | { numberAt: number; cellsAt: number[]; columns: string[]; check: ReturnType<typeof variableRows> }
    | undefined
  let block: (string | null)[][] = []
  let written: Blocks = { first: 0, blocks: [] }
  let chars = 0
  let total = 0
  let invalid = 0

  function addRow(record: readonly string[], { numberAt, cellsAt, check }: NonNullable<typeof header>): void {
    const text = record[numberAt] ?? ''
    const number = parsePhoneNumber(numberInCell(text)) ?? readSipUri(text)
    const row: (string | null)[] = number === undefined ? [null, text] : [number]
    for (let i = 0; i < cellsAt.length; i++) row.push(record[cellsAt[i]!] ?? '')
    check(row)
    total++
    if (number === undefined) invalid++
    else numbers.add(numberOf(number))
    if (block.push(row) === ROWS_PER_BLOCK) closeBlock()
  }

  function closeBlock(): void {
    const json = JSON.stringify(block)
    written.blocks.push(json)
    chars += json.length
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
    take(last: boolean): Blocks | undefined {
      if (last && block.length > 0) closeBlock()
      if (written.blocks.length === 0 || (!last && chars < COPY_CHARS)) return undefined
      const taken = written
      written = { first: taken.first + taken.blocks.length, blocks: [] }
      chars = 0
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

/** Destinations as numbers: a text cut out of the file would keep the piece that it came in. */
export function numberOf(destination: string): number {
  if (destination.startsWith('+')) return Number(destination)
  return -Number.parseInt(createHash('sha256').update(destination).digest('hex').slice(0, 12), 16)
}

function readHeader(record: readonly string[], phoneColumn: string | undefined) {
  checkColumns(record)
  const numberAt = numberColumnOf(record, phoneColumn)
  if (numberAt === -1) throw new PatchbayError('csv_without_phone_number')
  const byName = variablesIn(record, numberAt)
  const columns = [...byName.keys()]
  return { numberAt, cellsAt: [...byName.values()], columns, check: rowCheck(columns) }
}

/** Checks the cells of a row, the last of which are those of the columns. */
export function rowCheck(columns: readonly string[]): (cells: readonly (string | null)[]) => void {
  const check = variableRows(columns.filter((name) => metadataKeyOf(name) === undefined))
  const keys = columns.flatMap((name, at): [string, number][] => {
    const key = metadataKeyOf(name)
    return key === undefined ? [] : [[key, at - columns.length]]
  })
  return (cells) => {
    check(cells)
    if (!fitsMetadata(Object.fromEntries(keys.map(([key, at]) => [key, cells.at(at) ?? ''])))) {
      throw new PatchbayError('metadata_too_large')
    }
  }
}

/** Where each variable stands. Of columns with the same name the last counts; one without a name is left out. */
export function variablesIn(columns: readonly string[], numberAt: number): Map<string, number> {
  const byName = new Map<string, number>()
  for (const [at, name] of columns.entries()) if (name !== '' && at !== numberAt) byName.set(name, at)
  return byName
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
