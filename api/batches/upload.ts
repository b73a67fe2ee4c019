import type { Static } from 'typebox'
import { uuidv7 } from 'uuidv7'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { hasAgent } from '../../store/agents/agents.ts'
import type { BatchDetails, BatchLoadParams, BatchLoadResult } from '../../store/batches/batch-load.ts'
import { batchById } from '../../store/batches/batches.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { openBulkCopy } from '../../store/uploads/bulk-copy.ts'
import type { ReceiveFile } from '../http/multipart.ts'
import { receiveOneFile } from '../http/receive-one-file.ts'
import { keyedBy, onceUnderId } from '../idempotency.ts'
import { isUuid } from '../ids.ts'
import { requirePhoneNumber } from '../phone-number.ts'
import { metadataCells, rowsCsv } from '../rows-csv.ts'
import { ValidationError } from '../schema.ts'
import { type BatchBody, type BatchInput, batchBody, readSchedule, type UploadForm } from './schema.ts'

const LOADER = new URL('../../store/batches/batch-load.ts', import.meta.url)
const FILE_FIELD = 'file'
const NUMBER_COLUMN = 'phone_number'

/**
 * Makes a batch of an upload: the file is kept while it arrives, and loaded and committed once the form is whole and right.
 * The same file and form under the same `Idempotency-Key` are the same batch. On any fault nothing is kept.
 */
export async function receiveBatch(
  request: {
    tenant: Tenant
    signal: AbortSignal
    idempotencyKey: string
    answeredBefore(): void
    form(receive: ReceiveFile): Promise<{ fields: Static<typeof UploadForm> }>
  },
  options: { databaseUrl: string; nowMs: number },
): Promise<Static<typeof BatchBody>> {
  const { tenant, signal } = request
  const { workspaceId } = tenant
  const { databaseUrl } = options
  const copy = await openBulkCopy<BatchLoadParams, BatchDetails, BatchLoadResult>({
    databaseUrl,
    workspaceId,
    loader: LOADER,
    signal,
  })
  const bodyOf = async (id: string) => {
    const batch = await batchById(tenant, id)
    return batch && batchBody(batch)
  }
  try {
    const { fields } = await receiveOneFile(request, FILE_FIELD, (content) => copy.feed(content))
    const input = [fields, copy.digest()]
    return await onceUnderId(
      keyedBy(request, tenant, 'POST /batch/upload', input),
      async (batchId) => {
        await copy.commit({ batchId, workspaceId, phoneColumn: fields.phone_column }, () =>
          detailsOf(tenant, fields, options.nowMs),
        )
        const body = await bodyOf(batchId)
        if (body === undefined) throw new PatchbayError('batch_not_found')
        return body
      },
      bodyOf,
    )
  } finally {
    await copy.discard()
  }
}

/** Makes a batch of rows that came as JSON. On any fault nothing is kept. */
export async function batchOfRows(
  tenant: Tenant,
  { rows, ...fields }: Static<typeof BatchInput>,
  options: { databaseUrl: string; nowMs: number; signal: AbortSignal },
): Promise<Static<typeof BatchBody>> {
  const { workspaceId } = tenant
  const { databaseUrl, nowMs, signal } = options
  const details = await detailsOf(tenant, fields, nowMs, 'body')
  const open = { databaseUrl, workspaceId, loader: LOADER, signal }
  const copy = await openBulkCopy<BatchLoadParams, BatchDetails, BatchLoadResult>(open)
  const batchId = uuidv7()
  try {
    const cells = rows.map(({ phone_number, dynamic_variables = {}, external_id, metadata }) => ({
      ...dynamic_variables,
      ...metadataCells(metadata),
      ...(external_id === undefined ? {} : { external_id }),
      [NUMBER_COLUMN]: phone_number,
    }))
    await copy.feed(rowsCsv([NUMBER_COLUMN], cells))
    await copy.commit({ batchId, workspaceId, phoneColumn: NUMBER_COLUMN }, details)
  } finally {
    await copy.discard()
  }
  const batch = await batchById(tenant, batchId)
  if (batch === undefined) throw new PatchbayError('batch_not_found')
  return batchBody(batch)
}

async function detailsOf(
  tenant: Tenant,
  fields: Omit<Static<typeof UploadForm>, 'phone_column'>,
  nowMs: number,
  place: 'form' | 'body' = 'form',
): Promise<BatchDetails> {
  const schedule = readSchedule(fields, nowMs, place)
  if ('loc' in schedule) throw new ValidationError([schedule])
  const agentPhoneNumber = requirePhoneNumber(fields.agent_phone_number)
  const agentExists = isUuid(fields.agent_id) && (await hasAgent(tenant, fields.agent_id))
  const number = await tenant.db
    .selectFrom('phone_numbers')
    .select('phone_number')
    .where('phone_number', '=', agentPhoneNumber)
    .executeTakeFirst()
  if (!agentExists || number === undefined) throw new PatchbayError('agent_not_found')
  return {
    name: fields.name,
    agentId: fields.agent_id,
    agentPhoneNumber,
    status: schedule.scheduledTime === null ? 'pending' : 'scheduled',
    ...schedule,
  }
}
