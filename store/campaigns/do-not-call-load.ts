import type { Client } from 'pg'
import { checkColumns } from '../../runtime/lib/csv-columns.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { numberFault, numberInCell, parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import { cutText } from '../../runtime/lib/text.ts'
import type { Loader } from '../uploads/bulk-copy.ts'
import { copyInto, copyText } from '../uploads/csv-copy.ts'
import { fileRecords } from '../uploads/file-records.ts'

export interface DoNotCallFileParams {
  workspaceId: string
  createdAt: Date
}

export interface DoNotCallFileResult {
  rows: number
  added: number
  known: number
  invalid: number
  /** The first lines whose number could not be read. */
  invalid_lines: InvalidLine[]
}

interface InvalidLine {
  line: number
  phone_number: string
  /** Why, and the cure. */
  reason: string
}

const MAX_REASON_CHARS = 500
const MAX_INVALID_LINES = 100
const MAX_SHOWN_CHARS = 40

/** Adds the numbers of a file to the do-not-call list, and resolves the prospects that wait with them. */
export const load: Loader<DoNotCallFileParams, Record<string, never>, DoNotCallFileResult> = async (
  client,
  { workspaceId, createdAt },
  source,
) => {
  await client.query('create temp table staging (phone text, reason text) on commit drop')
  const { rows, invalid, lines } = await copyNumbers(client, source)
  return async () => {
    const { rowCount } = await client.query(
      `insert into do_not_call (workspace_id, phone, reason, source, created_at)
       select distinct on (phone) $1::uuid, phone, reason, 'upload', $2::timestamptz from staging order by phone
       on conflict do nothing`,
      [workspaceId, createdAt],
    )
    await client.query(
      `update prospects set status = 'resolved', resolution = 'do_not_call', next_attempt_at = null, call_back_at = null
       where workspace_id = $1 and status = 'waiting' and phone in (select phone from staging)`,
      [workspaceId],
    )
    const added = rowCount ?? 0
    return { rows, added, known: rows - invalid - added, invalid, invalid_lines: lines }
  }
}

async function copyNumbers(client: Client, source: AsyncIterable<Uint8Array>) {
  let at: { phone: number; reason: number } | undefined
  let rows = 0
  let invalid = 0
  const unread: InvalidLine[] = []
  const add = (records: readonly string[][]): string => {
    let text = ''
    for (const record of records) {
      if (at === undefined) {
        at = readHeader(record)
        continue
      }
      rows++
      const cell = record[at.phone] ?? ''
      const phone = parsePhoneNumber(numberInCell(cell))
      if (phone === undefined) {
        invalid++
        // The header is line 1.
        if (unread.length < MAX_INVALID_LINES)
          unread.push({ line: rows + 1, phone_number: cutText(cell, MAX_SHOWN_CHARS), reason: numberFault(cell) })
      } else text += `${phone}\t${copyText(cutText(record[at.reason] ?? '', MAX_REASON_CHARS))}\n`
    }
    return text
  }
  const lines = async function* () {
    for await (const records of fileRecords(source)) yield add(records)
    if (at === undefined) throw new PatchbayError('csv_without_phone_number')
    if (rows === 0) throw new PatchbayError('csv_without_rows')
  }
  await copyInto(client, 'staging (phone, reason)', lines())
  return { rows, invalid, lines: unread }
}

function readHeader(record: readonly string[]): { phone: number; reason: number } {
  checkColumns(record)
  const names = record.map((name) => name.toLowerCase().replace(/[\s_-]+/g, '_'))
  const phone = names.findIndex((name) => ['phone_number', 'primary_phone', 'phone'].includes(name))
  if (phone === -1) throw new PatchbayError('csv_without_phone_number')
  return { phone, reason: names.indexOf('reason') }
}
