import { type Static, Type } from 'typebox'
import { uuidv7 } from 'uuidv7'
import { MetadataMap } from '../../runtime/call/types/metadata.ts'
import { DynamicVariables } from '../../runtime/conversation/variables.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { ProspectUpload } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { OWN_COLUMNS } from '../../store/prospects/prospect-columns.ts'
import { listBySlug } from '../../store/prospects/prospect-lists.ts'
import type {
  ProspectFileDetails,
  ProspectFileParams,
  ProspectFileResult,
} from '../../store/prospects/prospect-load.ts'
import { eachReject, retryUpload, uploadById } from '../../store/prospects/prospect-uploads.ts'
import { openBulkCopy } from '../../store/uploads/bulk-copy.ts'
import { csvRecord } from '../../store/uploads/csv-export.ts'
import { receiveOneFile } from '../http/receive-one-file.ts'
import { keyedBy, onceUnderId } from '../idempotency.ts'
import { isUuid } from '../ids.ts'
import { defineRoute, Reply } from '../route.ts'
import { metadataCells, rowsCsv } from '../rows-csv.ts'
import { Id } from '../schema.ts'
import { hasList, requireList } from './lists.ts'
import { Mapping, readMapping } from './mapping.ts'
import { UploadBody, uploadBody, uploadExample } from './schema.ts'

const tag = 'Prospects'
const LOADER = new URL('../../store/prospects/prospect-load.ts', import.meta.url)
const FILE_FIELD = 'original_data'

const uploadId = { description: 'The upload.', notFound: 'upload_not_found', example: uploadExample.uuid } as const

export const Dedupe = Type.Boolean({
  default: true,
  description: 'Leaves out numbers that came to the campaign within its `dupe_days`.',
})
export const Attested = Type.Boolean({
  default: false,
  description:
    'The uploader declares that everybody in the file agreed to be called. Rows without a `consent_at` get the time of the upload; the upload stores who declared it.',
})

const hasUpload = async ({ uuid }: { uuid: string }, tenant: Tenant) =>
  isUuid(uuid) && (await uploadById(tenant, uuid)) !== undefined

const UploadAnswer = Type.Object({ message: Type.String(), uuid: Id, list_uuid: Id, upload: UploadBody })
const uploadedExample: Static<typeof UploadAnswer> = {
  message: 'Loading 500 rows in 1 batch',
  uuid: uploadExample.uuid,
  list_uuid: '0197f3a2-7c1e-7000-8000-000000000022',
  upload: { ...uploadExample, status: 'loading', batches: { total: 1, done: 0 }, finished_at: null },
}
const Text = () => Type.Optional(Type.String({ maxLength: 500 }))

const upload = defineRoute({
  method: 'POST',
  path: '/api/v/upload/{uuid}/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  idempotent: true,
  params: { uuid: { description: 'The slug of the list.', example: 'renewals' } },
  isThere: async ({ uuid }, tenant) => (await listBySlug(tenant, uuid)) !== undefined,
  form: Type.Object({ dedupe: Dedupe, mapping: Mapping, consent_attested: Attested }),
  files: {
    original_data: {
      description:
        'CSV or .xlsx with a `primary_phone` column. Of its own a prospect has `first_name`, `last_name`, `email`, `state`, `postal_code`, `timezone`, `consent_at` and `external_id`; columns named `metadata[key]` are metadata, others become dynamic variables.',
      required: true,
      many: false,
    },
  },
  success: {
    status: 201,
    schema: UploadAnswer,
  },
  errors: [
    'malformed_body',
    'file_too_large',
    'csv_without_primary_phone',
    'csv_without_rows',
    'csv_too_many_columns',
    'csv_row_too_long',
    'csv_without_column',
    'workbook_unreadable',
    'workbook_too_large',
    'prospect_list_not_found',
    'unavailable',
  ],
  tag,
  summary: 'Load prospects from a CSV or .xlsx file',
  description:
    'The answer comes once the file is kept; its batches are loaded one after the other, whatever dies meanwhile. Rows that were not loaded are listed with their reasons under `rejects`.',
  examples: {
    body: { original_data: 'primary_phone,first_name\n+14155550199,Ada\n', dedupe: true },
    success: uploadedExample,
  },
  handler: async (request, { clock, databaseUrl }) => {
    const { params, tenant, signal, user, key } = request
    const list = await requireList(tenant, params.uuid)
    const file: Omit<ProspectFileParams, 'uploadId' | 'mapping'> = {
      workspaceId: tenant.workspaceId,
      campaignId: list.campaign_id,
      listId: list.id,
      createdAt: new Date(clock.nowMs()),
    }
    const copy = await openBulkCopy<ProspectFileParams, ProspectFileDetails, ProspectFileResult>({
      databaseUrl,
      workspaceId: tenant.workspaceId,
      loader: LOADER,
      signal,
    })
    const answerOf = async (id: string) => {
      const found = await uploadById(tenant, id)
      return found && uploadedBody(found)
    }
    try {
      const { fields, filename } = await receiveOneFile(request, FILE_FIELD, (content) => copy.feed(content))
      const mapping = readMapping(fields.mapping)
      const who = user?.name ?? `API key ${key?.name}`
      const attestedBy = fields.consent_attested ? who : null
      const details = { filename, dedupe: fields.dedupe, attestedBy }
      return await onceUnderId(
        keyedBy(request, tenant, 'POST /api/v/upload', [list.id, details, mapping, copy.digest()]),
        async (id) => {
          await copy.commit({ ...file, mapping, uploadId: id }, details)
          return uploadedBody(await requireUpload(tenant, id))
        },
        answerOf,
      )
    } finally {
      await copy.discard()
    }
  },
})

const ROWS = Type.Array(
  Type.Object({
    primary_phone: Type.String({ maxLength: 500 }),
    first_name: Text(),
    last_name: Text(),
    email: Text(),
    state: Text(),
    postal_code: Text(),
    timezone: Text(),
    consent_at: Text(),
    external_id: Text(),
    variables: Type.Optional(DynamicVariables({})),
    metadata: Type.Optional(MetadataMap()),
  }),
  {
    minItems: 1,
    maxItems: 1_000,
    description: 'At most 1,000, within the bounds of a JSON body; more come as a file.',
  },
)

const uploadRows = defineRoute({
  method: 'POST',
  path: '/api/v/upload/{uuid}/rows/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  params: { uuid: { description: 'The slug of the list.', example: 'renewals' } },
  isThere: async ({ uuid }, tenant) => (await listBySlug(tenant, uuid)) !== undefined,
  body: Type.Object({ dedupe: Dedupe, consent_attested: Attested, rows: ROWS }),
  success: { status: 201, schema: UploadAnswer },
  errors: ['csv_too_many_columns', 'csv_row_too_long', 'prospect_list_not_found', 'unavailable'],
  tag,
  summary: 'Load prospects from rows of JSON',
  description:
    'As an upload of a file with these rows, and with its bounds: a row that is not loaded is among the `rejects`.',
  examples: {
    body: {
      dedupe: true,
      consent_attested: false,
      rows: [{ primary_phone: '+14155550199', first_name: 'Ada', external_id: 'crm-17', metadata: { deal: '4711' } }],
    },
    success: uploadedExample,
  },
  handler: async ({ body, params, tenant, signal, user, key }, { clock, databaseUrl }) => {
    const list = await requireList(tenant, params.uuid)
    const copy = await openBulkCopy<ProspectFileParams, ProspectFileDetails, ProspectFileResult>({
      databaseUrl,
      workspaceId: tenant.workspaceId,
      loader: LOADER,
      signal,
    })
    const uploadId = uuidv7()
    try {
      const cells = body.rows.map(({ variables = {}, metadata, ...own }) => ({
        ...variables,
        ...metadataCells(metadata),
        ...own,
      }))
      await copy.feed(rowsCsv(OWN_COLUMNS, cells))
      const file = { workspaceId: tenant.workspaceId, campaignId: list.campaign_id, listId: list.id }
      const attestedBy = body.consent_attested ? (user?.name ?? `API key ${key?.name}`) : null
      await copy.commit(
        { ...file, uploadId, createdAt: new Date(clock.nowMs()) },
        { filename: 'rows.json', dedupe: body.dedupe, attestedBy },
      )
    } finally {
      await copy.discard()
    }
    return uploadedBody(await requireUpload(tenant, uploadId))
  },
})

/** The answer to an upload. */
function uploadedBody(found: ProspectUpload) {
  const { id, list_id, total, batches_total } = found
  return {
    message: `Loading ${counted(total, 'row')} in ${counted(batches_total, 'batch', 'es')}`,
    uuid: id,
    list_uuid: list_id,
    upload: uploadBody(found),
  }
}

const counted = (n: number, one: string, plural = 's'): string =>
  `${n.toLocaleString('en-US')} ${one}${n === 1 ? '' : plural}`

const read = defineRoute({
  method: 'GET',
  path: '/api/v/upload/{uuid}/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'member',
  params: { uuid: uploadId },
  isThere: hasUpload,
  success: { status: 200, schema: UploadBody },
  tag,
  summary: 'How far an upload is loaded',
  examples: { success: uploadExample },
  handler: async ({ params, tenant }) => uploadBody(await requireUpload(tenant, params.uuid)),
})

const rejects = defineRoute({
  method: 'GET',
  path: '/api/v/upload/{uuid}/rejects/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  audit: [],
  scope: 'campaigns',
  role: 'member',
  params: { uuid: uploadId },
  isThere: hasUpload,
  success: { status: 200, schema: Type.String(), contentType: 'text/csv; charset=utf-8' },
  tag,
  summary: 'The rows that were not loaded, as CSV, each with its line and the reason',
  description: 'Correct it and upload it again. The header is line 1; empty lines of the file do not count.',
  handler: async ({ params, tenant, signal }) => {
    const found = await requireUpload(tenant, params.uuid)
    return new Reply({
      stream: rejectsCsv(tenant, found, signal),
      headers: [
        ['content-type', 'text/csv; charset=utf-8'],
        ['content-disposition', `attachment; filename="rejects-${found.id}.csv"`],
      ],
    })
  },
})

async function* rejectsCsv(tenant: Tenant, upload: ProspectUpload, signal: AbortSignal): AsyncGenerator<string> {
  const phones = new Set(
    [...upload.columns.keys()].filter((at) => /phone/i.test(upload.columns[at] ?? '')).map((at) => at + 2),
  )
  yield csvRecord(['line', 'reason', ...upload.columns], new Set())
  for await (const rows of eachReject(tenant, upload.id, signal)) {
    let text = ''
    for (const { line, reason, cells } of rows) {
      const values = JSON.parse(cells) as string[]
      text += csvRecord([line, reason, ...upload.columns.map((_, at) => values[at] ?? '')], phones)
    }
    yield text
  }
}

const retry = defineRoute({
  method: 'POST',
  path: '/api/v/upload/{uuid}/retry/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  params: { uuid: { ...uploadId, description: 'An upload, or a list, whose last failed upload is meant.' } },
  isThere: async (params, tenant) => (await hasUpload(params, tenant)) || (await hasList(params, tenant)),
  success: { status: 200, schema: Type.Object({ success: Type.Boolean() }) },
  tag,
  summary: 'Load what is left of a failed upload; `false`: nothing had failed',
  examples: { success: { success: true } },
  handler: async ({ params, tenant }) => {
    const outcome = await retryUpload(tenant, params.uuid)
    if (outcome === 'unknown') throw new PatchbayError('upload_not_found')
    return { success: outcome === 'retried' }
  },
})

async function requireUpload(tenant: Tenant, id: string): Promise<ProspectUpload> {
  const found = await uploadById(tenant, id)
  if (found === undefined) throw new PatchbayError('upload_not_found')
  return found
}

export const prospectUploadRoutes = [upload, uploadRows, read, rejects, retry]
