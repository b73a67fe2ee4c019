import type { Static } from 'typebox'
import { uuidv7 } from 'uuidv7'
import { PatchbayError } from '../../runtime/errors.ts'
import { agentById } from '../../store/agents.ts'
import type { BatchDetails, BatchLoadParams, BatchLoadResult } from '../../store/batch-load.ts'
import { openBulkCopy } from '../../store/bulk-copy.ts'
import type { Tenant } from '../../store/tenant.ts'
import { isUuid } from '../ids.ts'
import type { ReceiveFile } from '../multipart.ts'
import { requirePhoneNumber } from '../phone-number.ts'
import { ValidationError } from '../schema.ts'
import { readSchedule, type UploadForm } from './schema.ts'

const LOADER = new URL('../../store/batch-load.ts', import.meta.url)
const FILE_FIELD = 'file'

/**
 * Makes a batch of an upload: the file is kept while it arrives, and loaded and committed once the form is whole and right. Returns the batch's id. On any fault nothing is kept.
 */
export async function receiveBatch(
  request: {
    tenant: Tenant
    signal: AbortSignal
    form(receive: ReceiveFile): Promise<{ fields: Static<typeof UploadForm> }>
  },
  options: { databaseUrl: string; nowMs: number },
): Promise<string> {
  const { tenant, signal } = request
  const params: BatchLoadParams = { batchId: uuidv7(), workspaceId: tenant.workspaceId }
  const { databaseUrl } = options
  const copy = await openBulkCopy<BatchDetails, BatchLoadResult>({
    databaseUrl,
    workspaceId: tenant.workspaceId,
    loader: LOADER,
    params,
    signal,
  })
  try {
    let fed = false
    const { fields } = await request.form(async (file) => {
      if (file.field !== FILE_FIELD) return
      if (fed) throw new PatchbayError('malformed_body', { cause: new Error('More than one file') })
      fed = true
      await copy.feed(file.content)
    })
    await copy.commit(() => detailsOf(tenant, fields, options.nowMs))
    return params.batchId
  } finally {
    await copy.discard()
  }
}

async function detailsOf(tenant: Tenant, fields: Static<typeof UploadForm>, nowMs: number): Promise<BatchDetails> {
  const schedule = readSchedule(fields, nowMs)
  if ('loc' in schedule) throw new ValidationError([schedule])
  const agentPhoneNumber = requirePhoneNumber(fields.agent_phone_number)
  const agent = isUuid(fields.agent_id) ? await agentById(tenant, fields.agent_id) : undefined
  const number = await tenant.db
    .selectFrom('phone_numbers')
    .select('phone_number')
    .where('phone_number', '=', agentPhoneNumber)
    .executeTakeFirst()
  if (agent === undefined) throw new PatchbayError('agent_not_found')
  if (number === undefined) {
    throw new PatchbayError('number_not_registered', { params: { phone_number: agentPhoneNumber } })
  }
  return {
    name: fields.name,
    agentId: agent.id,
    agentPhoneNumber,
    status: schedule.scheduledTime === null ? 'pending' : 'scheduled',
    ...schedule,
  }
}
