import { numberInCell, parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import { readSipUri } from '../../runtime/plugin-sdk/telephony/destination.ts'
import type { Loader } from '../uploads/bulk-copy.ts'
import {
  doNotCallAmong,
  type PreviewedFile,
  type PreviewRow,
  type PreviewSkip,
  previewCsv,
  SkippedRows,
} from '../uploads/csv-preview.ts'
import { numberColumnOf, numberOf, rowCheck, variablesIn } from './batch-load.ts'

/** What a batch of a file would call. Reads alone: nothing of the file is kept. */

export interface BatchPreviewParams {
  workspaceId: string
  /** The column with the numbers, where it is not called `phone_number`. */
  phoneColumn: string | undefined
}

const REFUSALS = ['invalid_number', 'do_not_call'] as const
type Refusal = (typeof REFUSALS)[number]

export interface BatchPreview extends PreviewedFile {
  phoneColumn: string | null
  called: number
  refused: Record<Refusal, number>
  /** Numbers that an earlier row has; they are called like the others. */
  duplicates: number
  skipped: PreviewSkip<Refusal>[]
}

export const load: Loader<BatchPreviewParams, null, BatchPreview> = async (client, params, source) => {
  const left = new SkippedRows(REFUSALS)
  /** As numbers: a text cut out of the file keeps the piece that it came in. */
  const seen = new Set<number>()
  let called = 0
  let duplicates = 0
  let phoneColumn: string | null = null
  const file = await previewCsv(source, (columns) => {
    const at = numberColumnOf(columns, params.phoneColumn)
    phoneColumn = columns[at] ?? null
    if (at === -1) return undefined
    const places = [...variablesIn(columns, at).entries()]
    const check = rowCheck(places.map(([name]) => name))
    return async (rows: readonly PreviewRow[]) => {
      for (const { cells } of rows) check(places.map(([, place]) => cells[place] ?? ''))
      const read = rows.map(({ cells }) => {
        const cell = cells[at] ?? ''
        return parsePhoneNumber(numberInCell(cell)) ?? readSipUri(cell)
      })
      const numbers = read.filter((phone) => phone !== undefined)
      const doNotCall = await doNotCallAmong(client, params.workspaceId, numbers)
      for (const [i, phone] of read.entries()) {
        const { line, cells } = rows[i]!
        if (phone === undefined) {
          left.skip(line, 'invalid_number', cells[at] ?? '')
          continue
        }
        if (seen.has(numberOf(phone))) duplicates++
        seen.add(numberOf(phone))
        if (doNotCall.has(phone)) left.skip(line, 'do_not_call', phone)
        else called++
      }
    }
  })
  return async () => ({ ...file, phoneColumn, called, refused: left.refused, duplicates, skipped: left.skipped })
}
