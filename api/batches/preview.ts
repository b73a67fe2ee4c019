import { ERRORS } from '../../runtime/lib/errors.ts'
import type { BatchPreview, BatchPreviewParams } from '../../store/batches/batch-preview.ts'
import { receivePreview } from '../http/receive-preview.ts'
import { defineRoute } from '../route.ts'
import { BatchPreviewBody, batchPreviewExample, PreviewForm } from './schema.ts'

const LOADER = new URL('../../store/batches/batch-preview.ts', import.meta.url)
const REASONS = {
  invalid_number: ERRORS.invalid_phone_number.detail,
  do_not_call: ERRORS.do_not_call.detail,
} as const

const preview = defineRoute({
  method: 'POST',
  path: '/batch/preview',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'batches',
  audit: false,
  form: PreviewForm,
  files: { file: { description: 'The file of a batch, as for `/batch/upload`.', required: true, many: false } },
  success: { status: 200, schema: BatchPreviewBody },
  errors: [
    'malformed_body',
    'file_too_large',
    'csv_without_rows',
    'csv_without_column',
    'csv_too_many_columns',
    'csv_row_too_long',
    'workbook_unreadable',
    'workbook_too_large',
    'unavailable',
  ],
  tag: 'Batch calling',
  summary: 'What a batch of a file would call, and what it would leave out and why',
  description: 'Nothing is kept. A number that is put on the do-not-call list afterwards is still not called.',
  examples: {
    body: { file: 'phone_number,first_name\n+14155550199,Ada\nnone,Bob\n' },
    success: batchPreviewExample,
  },
  handler: async (request, { databaseUrl }) => {
    const { tenant } = request
    const { filename, result } = await receivePreview<{ phone_column?: string }, BatchPreviewParams, BatchPreview>(
      request,
      { databaseUrl, loader: LOADER, field: 'file' },
      ({ phone_column }) => ({ workspaceId: tenant.workspaceId, phoneColumn: phone_column }),
    )
    const { columns, total, judged, phoneColumn, called, duplicates, refused, skipped } = result
    return {
      filename,
      phone_column: phoneColumn,
      columns,
      rows: { total, judged, called, duplicates, invalid: refused.invalid_number, do_not_call: refused.do_not_call },
      skipped: skipped.map(({ line, reason, phone }) => ({
        line,
        code: reason,
        reason: REASONS[reason],
        phone_number: phone,
      })),
    }
  },
})

export const batchPreviewRoutes = [preview]
