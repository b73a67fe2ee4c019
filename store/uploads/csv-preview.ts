import type { Client } from 'pg'
import { checkColumns } from '../../runtime/lib/csv-columns.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { cutText } from '../../runtime/lib/text.ts'
import { fileRecords } from './file-records.ts'

/** A file that is looked at before any of it is kept. */

/** So many rows are judged; those behind are counted. */
const JUDGED_ROWS = 50_000
/** Maximum rejected rows listed. */
const MAX_SKIPPED = 100
const ROWS_PER_QUERY = 2_000
/** Of cells, which stay in memory until they are judged: of wide rows fewer are judged at a time. */
const CHARS_PER_QUERY = 4_000_000
const SAMPLE_ROWS = 3
const SAMPLE_CHARS = 100

interface PreviewColumn {
  name: string
  /** Cells of the first rows. */
  samples: string[]
}

export interface PreviewRow {
  /** In the file; the header is line 1. */
  line: number
  cells: readonly string[]
}

export interface PreviewSkip<Reason> {
  line: number
  reason: Reason
  phone: string
}

/** The rejected rows: counted by reason, the first of them listed. */
export class SkippedRows<Reason extends string> {
  readonly refused: Record<Reason, number>
  readonly skipped: PreviewSkip<Reason>[] = []

  constructor(reasons: readonly Reason[]) {
    this.refused = Object.fromEntries(reasons.map((reason) => [reason, 0])) as Record<Reason, number>
  }

  skip(line: number, reason: Reason, phone: string): void {
    this.refused[reason]++
    if (this.skipped.length < MAX_SKIPPED) this.skipped.push({ line, reason, phone: cutText(phone, SAMPLE_CHARS) })
  }
}

/** Of these numbers those on the workspace's do-not-call list. */
export async function doNotCallAmong(
  client: Client,
  workspaceId: string,
  phones: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ phone: string }>(
    'select phone from do_not_call where workspace_id = $1 and phone = any($2)',
    [workspaceId, phones],
  )
  return new Set(rows.map(({ phone }) => phone))
}

export interface PreviewedFile {
  columns: PreviewColumn[]
  total: number
  judged: number
}

/** What a preview does with the rows, some thousand at a time; undefined: the header says already that none can be read. */
type Judge = ((rows: readonly PreviewRow[]) => Promise<void>) | undefined

/**
 * Reads a CSV file to its end. `open` gets the names of its columns. Throws `csv_without_rows`, `csv_too_many_columns`,
 * `csv_row_too_long`, `malformed_body`, and what `open` throws.
 */
export async function previewCsv(
  source: AsyncIterable<Uint8Array>,
  open: (columns: readonly string[]) => Judge,
): Promise<PreviewedFile> {
  let columns: PreviewColumn[] | undefined
  let judge: Judge
  let rows: PreviewRow[] = []
  let chars = 0
  let total = 0
  let judged = 0
  const flush = async () => {
    const taken = rows
    rows = []
    chars = 0
    judged += taken.length
    if (taken.length > 0) await judge?.(taken)
  }
  for await (const records of fileRecords(source)) {
    for (const record of records) {
      if (columns === undefined) {
        checkColumns(record)
        columns = record.map((name) => ({ name, samples: [] }))
        judge = open(record)
        continue
      }
      total++
      if (total <= SAMPLE_ROWS) {
        for (const [at, { samples }] of columns.entries()) samples.push(cutText(record[at] ?? '', SAMPLE_CHARS))
      }
      if (judge === undefined || total > JUDGED_ROWS) continue
      rows.push({ line: total + 1, cells: record })
      for (const cell of record) chars += cell.length
      if (rows.length === ROWS_PER_QUERY || chars >= CHARS_PER_QUERY) await flush()
    }
  }
  await flush()
  if (columns === undefined || total === 0) throw new PatchbayError('csv_without_rows')
  return { columns, total, judged }
}
