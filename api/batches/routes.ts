import { Type } from 'typebox'
import { type ErrorCode, PatchbayError } from '../../runtime/lib/errors.ts'
import { cancelBatch, pauseBatch, resumeBatch, retryBatch } from '../../store/batches/batch-control.ts'
import {
  type BatchWithProgress,
  batchById,
  batchItems,
  countBatches,
  countRunningBatches,
  deleteBatch,
  listBatches,
  sendBatch,
  settleItems,
} from '../../store/batches/batches.ts'
import type { BatchStatus } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { queueBatch } from '../../workers/batch/queue.ts'
import { ChangedSince, cursorOf, instantIn, timed } from '../cursor.ts'
import { ListQuery, LongListOf, LongListQuery, listBody, windowOf } from '../paging.ts'
import { defineRoute, Reply } from '../route.ts'
import { Page } from '../schema.ts'
import type { Services } from '../services.ts'
import { Detail } from '../workspaces/schema.ts'
import {
  BatchBody,
  BatchInput,
  BatchItemBody,
  batchBody,
  batchExample,
  batchItemExample,
  batchItemText,
  UploadForm,
} from './schema.ts'
import { batchOfRows, receiveBatch } from './upload.ts'

const tag = 'Batch calling'
const JSON_HEADERS = [['content-type', 'application/json']] as const

const batch_id = { description: 'The batch.', notFound: 'batch_not_found', example: batchExample.batch_id } as const

const upload = defineRoute({
  method: 'POST',
  path: '/batch/upload',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'batches',
  idempotent: true,
  form: UploadForm,
  files: {
    file: {
      description:
        'CSV or .xlsx with a `phone_number` column; the other columns become dynamic variables. Comma, semicolon, tab or bar; UTF-8, UTF-16 or Windows-1252.',
      required: true,
      many: false,
    },
  },
  success: { status: 201, schema: BatchBody },
  errors: [
    'malformed_body',
    'file_too_large',
    'csv_without_phone_number',
    'csv_without_rows',
    'csv_too_many_columns',
    'csv_row_too_long',
    'workbook_unreadable',
    'workbook_too_large',
    'metadata_too_large',
    'csv_without_column',
    'invalid_phone_number',
    'agent_not_found',
  ],
  tag,
  summary: 'Make a batch that calls every number of a CSV or .xlsx file',
  description:
    'With `scheduled_time` it starts by itself, else it waits for send. A row whose number is none is `failed` at once and holds up no other.',
  examples: {
    body: {
      file: 'phone_number,first_name\n+14155550199,Ada\n',
      name: batchExample.name,
      agent_id: batchExample.agent_id,
      agent_phone_number: batchExample.agent_phone_number,
      timezone: batchExample.timezone,
    },
    success: batchExample,
  },
  handler: async (request, { clock, databaseUrl }) => {
    return receiveBatch(request, { databaseUrl, nowMs: clock.nowMs() })
  },
})

const create = defineRoute({
  method: 'POST',
  path: '/batch',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'batches',
  body: BatchInput,
  success: { status: 201, schema: BatchBody },
  errors: [
    'csv_too_many_columns',
    'csv_row_too_long',
    'metadata_too_large',
    'invalid_phone_number',
    'agent_not_found',
    'unavailable',
  ],
  tag,
  summary: 'Make a batch of rows of JSON',
  description:
    'As an upload of a file with these rows, and with its bounds. A name that a row leaves out is empty there.',
  examples: {
    body: {
      name: 'Renewals of March',
      agent_id: batchExample.agent_id,
      agent_phone_number: batchExample.agent_phone_number,
      rows: [
        {
          phone_number: '+14155550199',
          dynamic_variables: { first_name: 'Ada' },
          external_id: 'crm-1815',
          metadata: { deal: '4711' },
        },
      ],
    },
    success: { ...batchExample, status: 'pending', scheduled_time: null },
  },
  handler: ({ body, tenant, signal }, { clock, databaseUrl }) =>
    batchOfRows(tenant, body, { databaseUrl, nowMs: clock.nowMs(), signal }),
})

const send = defineRoute({
  method: 'POST',
  path: '/batch/{batch_id}/send',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'batches',
  params: { batch_id },
  success: { status: 200, schema: BatchBody },
  errors: ['batch_not_found', 'batch_sent'],
  tag,
  summary: 'Start a batch now',
  examples: { success: { ...batchExample, status: 'running' } },
  handler: async ({ params, tenant }, services) => {
    const sent = await sendBatch(tenant, params.batch_id, new Date(services.clock.nowMs()))
    const batch = await requireBatch(tenant, params.batch_id)
    if (!sent) throw new PatchbayError('batch_sent')
    await advanceNow(services, tenant, batch)
    return batchBody(batch)
  },
})

/** One of the actions on a batch that was uploaded; `act` answers false when its state forbids it. */
function actionRoute(action: {
  name: 'pause' | 'resume' | 'cancel'
  summary: string
  description: string
  forbidden: ErrorCode
  status: BatchStatus
  act(tenant: Tenant, id: string, at: Date): Promise<boolean>
}) {
  return defineRoute({
    method: 'POST',
    path: `/batch/{batch_id}/${action.name}`,
    auth: 'jwt_or_scope',
    role: 'developer',
    scope: 'batches',
    params: { batch_id },
    success: { status: 200, schema: BatchBody },
    errors: ['batch_not_found', action.forbidden],
    tag,
    summary: action.summary,
    description: action.description,
    examples: { success: { ...batchExample, status: action.status } },
    handler: async ({ params, tenant }, services) => {
      const done = await action.act(tenant, params.batch_id, new Date(services.clock.nowMs()))
      if (done) await settleItems(tenant, params.batch_id)
      const batch = await requireBatch(tenant, params.batch_id)
      if (!done) throw new PatchbayError(action.forbidden)
      if (batch.status === 'running') await advanceNow(services, tenant, batch)
      return batchBody(batch)
    },
  })
}

const pause = actionRoute({
  name: 'pause',
  summary: 'Stop calling for now',
  description:
    'No call of the batch is placed after the answer; those that ring or talk go on. Pausing a paused batch changes nothing.',
  forbidden: 'batch_not_running',
  status: 'paused',
  act: pauseBatch,
})

const resume = actionRoute({
  name: 'resume',
  summary: 'Go on calling',
  description: 'Resuming a batch that runs changes nothing.',
  forbidden: 'batch_not_paused',
  status: 'running',
  act: resumeBatch,
})

const cancel = actionRoute({
  name: 'cancel',
  summary: 'End a batch for good',
  description:
    'No call of the batch is placed after the answer; those that ring or talk go on, and their rows get their result. Rows never called stay `pending`.',
  forbidden: 'batch_over',
  status: 'canceled',
  act: cancelBatch,
})

const retry = defineRoute({
  method: 'POST',
  path: '/batch/{batch_id}/retry',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'batches',
  params: { batch_id },
  success: { status: 200, schema: BatchBody },
  errors: ['batch_not_found', 'batch_not_retryable', 'batch_without_failures'],
  tag,
  summary: 'Call the failed rows of a batch again',
  description:
    'A batch that was completed runs again. Rows whose number is none stay failed; the earlier calls stay in the log.',
  examples: { success: { ...batchExample, status: 'running' } },
  handler: async ({ params, tenant }, services) => {
    const again = await retryBatch(tenant, params.batch_id)
    const batch = await requireBatch(tenant, params.batch_id)
    if (again === undefined) throw new PatchbayError('batch_not_retryable')
    if (again === 0) throw new PatchbayError('batch_without_failures')
    if (batch.status === 'running') await advanceNow(services, tenant, batch)
    return batchBody(batch)
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/batch/{batch_id}',
  auth: 'jwt_or_key',
  role: 'member',
  params: { batch_id },
  success: { status: 200, schema: BatchBody },
  errors: ['batch_not_found'],
  tag,
  summary: 'One batch',
  examples: { success: batchExample },
  handler: async ({ params, tenant }) => batchBody(await requireBatch(tenant, params.batch_id)),
})

const list = defineRoute({
  method: 'GET',
  path: '/batch',
  auth: 'jwt_or_key',
  role: 'member',
  query: Type.Object({ ...LongListQuery.properties, updated_since: ChangedSince }),
  success: { status: 200, schema: LongListOf(BatchBody) },
  tag,
  summary: 'The batches of the workspace, newest first; as pages when `page`, `page_size` or `after` is given',
  examples: { success: [batchExample] },
  handler: async ({ query, tenant }) => {
    const since = instantIn(query.updated_since)
    const part = windowOf(query, timed(cursorOf(query)))
    const batches = await listBatches(tenant, part, since)
    const last = batches.at(-1)
    const total = part === undefined ? batches.length : await countBatches(tenant, since)
    return listBody(batches.map(batchBody), total, query, last && { id: last.id, at: last.sorted_by })
  },
})

const items = defineRoute({
  method: 'GET',
  path: '/batch/{batch_id}/items',
  auth: 'jwt_or_key',
  role: 'member',
  params: { batch_id },
  query: ListQuery,
  success: {
    status: 200,
    schema: Type.Union([Type.Object({ items: Type.Array(BatchItemBody) }), Page(BatchItemBody)]),
  },
  errors: ['batch_not_found'],
  tag,
  summary: 'What became of each row, in the order of the file; as pages when `page` or `page_size` is given',
  examples: { success: { items: [batchItemExample] } },
  handler: async ({ params, query, tenant, signal }) => {
    const batch = await requireBatch(tenant, params.batch_id)
    const part = windowOf(query)
    if (part === undefined) return new Reply({ stream: allItems(tenant, batch, signal), headers: JSON_HEADERS })
    const text = await itemsText(tenant, batch, part.offset, part.limit)
    const envelope = JSON.stringify(listBody([], batch.total, query))
    return new Reply({ body: envelope.replace('"items":[]', () => `"items":[${text}]`), headers: JSON_HEADERS })
  },
})

/** Rows a query; a million of them are never in memory at once. */
const ROWS_PER_QUERY = 256
const MAX_ITEM_BYTES = 32 * 1024
const MAX_PAGE_BYTES = 4 * 1024 * 1024

async function itemsText(tenant: Tenant, batch: BatchWithProgress, from: number, limit: number): Promise<string> {
  const mostBytes = Math.min(MAX_ITEM_BYTES, Math.floor(MAX_PAGE_BYTES / limit))
  const found = await batchItems(tenant, batch, from, limit, mostBytes)
  return found.map((item) => batchItemText(batch.id, item)).join(',')
}

async function* allItems(tenant: Tenant, batch: BatchWithProgress, signal: AbortSignal): AsyncGenerator<string> {
  yield '{"items":['
  for (let from = 0; from < batch.total; from += ROWS_PER_QUERY) {
    signal.throwIfAborted()
    const text = await itemsText(tenant, batch, from, ROWS_PER_QUERY)
    yield from === 0 ? text : `,${text}`
  }
  yield ']}'
}

const remove = defineRoute({
  method: 'DELETE',
  path: '/batch/{batch_id}',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'batches',
  params: { batch_id },
  success: { status: 200, schema: Detail },
  errors: ['batch_not_found', 'batch_running'],
  tag,
  summary: 'Delete a batch that does not run; its calls stay in the log',
  examples: { success: { detail: 'Batch deleted' } },
  handler: async ({ params, tenant }, { clock }) => {
    if (!(await deleteBatch(tenant, params.batch_id, new Date(clock.nowMs())))) {
      await requireBatch(tenant, params.batch_id)
      throw new PatchbayError('batch_running')
    }
    return { detail: 'Batch deleted' }
  },
})

/** A batch that has something to call waits for no sweep. */
async function advanceNow({ batchJobs, log }: Services, tenant: Tenant, batch: BatchWithProgress): Promise<void> {
  try {
    await queueBatch(batchJobs, batch, Math.max(0, (await countRunningBatches(tenant)) - 1))
  } catch (err) {
    log.warn({ err, batchId: batch.id }, 'Batch could not be queued; the job worker will find it')
  }
}

async function requireBatch(tenant: Tenant, id: string): Promise<BatchWithProgress> {
  const batch = await batchById(tenant, id)
  if (batch === undefined) throw new PatchbayError('batch_not_found')
  return batch
}

export const batchRoutes = [upload, create, send, pause, resume, cancel, retry, read, list, items, remove]
