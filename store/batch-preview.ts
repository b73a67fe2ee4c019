import { parsePhoneNumber } from '../runtime/phone-number.ts'
import { numberColumnOf } from './batch-load.ts'
import type { Loader } from './bulk-copy.ts'
import { MAX_SKIPPED, type PreviewedFile, type PreviewRow, type PreviewSkip, previewCsv } from './csv-preview.ts'

/** What a batch of a file would call. Reads alone: nothing of the file is kept. */

export interface BatchPreviewParams {
  workspaceId: string
  /** The column with the numbers, where it is not called `phone_number`. */
  phoneColumn: string | undefined
}

export interface BatchPreview extends PreviewedFile {
  phoneColumn: string | null
  called: number
  refused: Record<'invalid_number' | 'do_not_call', number>
  /** Numbers that an earlier row has; they are called like the others. */
  duplicates: number
  skipped: (PreviewSkip & { reason: 'invalid_number' | 'do_not_call' })[]
}

export const load: Loader<BatchPreviewParams, null, BatchPreview> = async (client, params, source) => {
  const refused: BatchPreview['refused'] = { invalid_number: 0, do_not_call: 0 }
  const skipped: BatchPreview['skipped'] = []
  const seen = new Set<string>()
  let called = 0
  let duplicates = 0
  let phoneColumn: string | null = null
  const skip = (line: number, reason: keyof typeof refused, phone: string) => {
    refused[reason]++
    if (skipped.length < MAX_SKIPPED) skipped.push({ line, reason, phone: phone.slice(0, MAX_SKIPPED) })
  }
  const file = await previewCsv(source, (columns) => {
    const at = numberColumnOf(columns, params.phoneColumn)
    phoneColumn = columns[at] ?? null
    if (at === -1) return undefined
    return async (rows: readonly PreviewRow[]) => {
      const read = rows.map(({ cells }) => parsePhoneNumber(cells[at] ?? ''))
      const { rows: listed } = await client.query<{ phone: string }>(
        'select phone from do_not_call where workspace_id = $1 and phone = any($2)',
        [params.workspaceId, read.filter((phone) => phone !== undefined)],
      )
      const doNotCall = new Set(listed.map(({ phone }) => phone))
      for (const [i, phone] of read.entries()) {
        const { line, cells } = rows[i]!
        if (phone === undefined) {
          skip(line, 'invalid_number', cells[at] ?? '')
          continue
        }
        if (seen.has(phone)) duplicates++
        seen.add(phone)
        if (doNotCall.has(phone)) skip(line, 'do_not_call', phone)
        else called++
      }
    }
  })
  return async () => ({ ...file, phoneColumn, called, refused, duplicates, skipped })
}
