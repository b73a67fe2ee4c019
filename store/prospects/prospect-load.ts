import type { Client } from 'pg'
import { checkColumns, variableRows } from '../../runtime/lib/csv-columns.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Loader } from '../uploads/bulk-copy.ts'
import { copyInto, copyText } from '../uploads/csv-copy.ts'
import { fileRecords } from '../uploads/file-records.ts'
import { type ColumnMapping, checkMapping, fieldOf, headerOf } from './prospect-columns.ts'

/** Takes a file of prospects as it is and keeps it in batches, which workers/dialer loads one after the other. */

export interface ProspectFileParams {
  uploadId: string
  workspaceId: string
  campaignId: string
  listId: string
  createdAt: Date
  /** Default: columns are what their names say. */
  mapping?: ColumnMapping
}

/** What is known once the form is whole. */
export interface ProspectFileDetails {
  filename: string
  dedupe: boolean
  /** Who confirmed that everyone in the file agreed to be called. */
  attestedBy?: string | null
}

export interface ProspectFileResult {
  rows: number
  batches: number
}

/** A batch is loaded in one transaction: large enough for set operations, small enough to lose little. */
export const ROWS_PER_BATCH = 5_000
const BATCH_CHARS = 4 * 1024 * 1024
const MAX_ROW_CHARS = 64 * 1024

export const load: Loader<ProspectFileParams, ProspectFileDetails, ProspectFileResult> = async (
  client,
  params,
  source,
) => {
  const { uploadId, workspaceId, campaignId, listId, createdAt, mapping = {} } = params
  await client.query(
    `insert into prospect_uploads (id, workspace_id, campaign_id, list_id, filename, dedupe, columns, mapping, status, created_at)
     values ($1, $2, $3, $4, '', true, '[]', $6, 'loading', $5)`,
    [uploadId, workspaceId, campaignId, listId, createdAt, JSON.stringify(mapping)],
  )
  const { columns, result } = await copyBatches(client, uploadId, mapping, source)
  return async (details) => {
    await client.query(
      `update prospect_uploads set filename = $2, dedupe = $3, columns = $4, total = $5, batches_total = $6,
         attested_by = $7, attested_at = $8 where id = $1`,
      [
        uploadId,
        details.filename,
        details.dedupe,
        JSON.stringify(columns),
        result.rows,
        result.batches,
        details.attestedBy ?? null,
        details.attestedBy ? createdAt : null,
      ],
    )
    return result
  }
}

async function copyBatches(
  client: Client,
  uploadId: string,
  mapping: ColumnMapping,
  source: AsyncIterable<Uint8Array>,
) {
  const batches = createBatchWriter(uploadId, mapping)
  const lines = async function* () {
    for await (const records of fileRecords(source)) yield batches.add(records)
    yield batches.close()
    // A file without rows fails before the copy ends.
    batches.result()
  }
  await copyInto(client, 'prospect_upload_rows (upload_id, block, rows)', lines())
  return batches.result()
}

/** Records to rows of COPY, a row a batch: JSON of the records as they are in the file, given out in parts as they come. */
function createBatchWriter(uploadId: string, mapping: ColumnMapping) {
  let columns: string[] | undefined
  let check: ReturnType<typeof variableRows>
  let rows = 0
  let chars = 0
  let total = 0
  let batches = 0

  const close = (): string => {
    if (rows === 0) return ''
    rows = 0
    chars = 0
    batches++
    return ']\n'
  }

  return {
    add(records: readonly string[][]): string {
      let text = ''
      for (const record of records) {
        if (columns === undefined) {
          columns = readHeader(record, mapping)
          check = variableRows(headerOf(columns, mapping).variables.map(([name]) => name))
          continue
        }
        const cells = record.slice(0, columns.length)
        check(cells)
        const row = JSON.stringify(cells)
        if (row.length > MAX_ROW_CHARS) throw new PatchbayError('csv_row_too_long')
        text += rows === 0 ? `${uploadId}\t${batches}\t[` : ','
        text += copyText(row)
        rows++
        chars += row.length
        total++
        if (rows === ROWS_PER_BATCH || chars >= BATCH_CHARS) text += close()
      }
      return text
    },
    /** The end of the last batch. */
    close,
    result() {
      if (columns === undefined) throw new PatchbayError('csv_without_primary_phone')
      if (total === 0) throw new PatchbayError('csv_without_rows')
      return { columns, result: { rows: total, batches } }
    },
  }
}

function readHeader(record: readonly string[], mapping: ColumnMapping): string[] {
  checkColumns(record)
  checkMapping(record, mapping)
  if (!record.some((name) => fieldOf(name, mapping).own === 'primary_phone')) {
    throw new PatchbayError('csv_without_primary_phone')
  }
  return [...record]
}
