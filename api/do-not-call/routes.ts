import { type Static, Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { readSipUri } from '../../runtime/plugin-sdk/telephony/destination.ts'
import { addDoNotCall, doNotCallPage, removeDoNotCall } from '../../store/campaigns/do-not-call.ts'
import type { DoNotCallFileParams, DoNotCallFileResult } from '../../store/campaigns/do-not-call-load.ts'
import type { DoNotCall } from '../../store/database/schema.ts'
import { openBulkCopy } from '../../store/uploads/bulk-copy.ts'
import { AddedSince, CursorPage, CursorQuery, cursorOf, cursorPageOf, instantIn, partOf, timed } from '../cursor.ts'
import { receiveOneFile } from '../http/receive-one-file.ts'
import { readPhoneNumber } from '../phone-number.ts'
import { defineRoute } from '../route.ts'
import { Id, Instant, Nullable } from '../schema.ts'
import { Detail } from '../workspaces/schema.ts'

const tag = 'Do not call'
const LOADER = new URL('../../store/campaigns/do-not-call-load.ts', import.meta.url)

const DoNotCallBody = Type.Object({
  phone_number: Type.String(),
  reason: Type.String(),
  source: Type.Enum(['api', 'upload', 'call'], {
    description: '`call`: the callee asked for it, or declined the call.',
  }),
  call_log_id: Nullable(Id),
  words: Nullable(Type.String({ description: 'What the callee said.' })),
  created_at: Instant,
})

const example: Static<typeof DoNotCallBody> = {
  phone_number: '+14155550199',
  reason: 'Asked by letter',
  source: 'api',
  call_log_id: null,
  words: null,
  created_at: '2026-01-31T09:00:00.000Z',
}

const readListed = (text: string): string | undefined => readPhoneNumber(text) ?? readSipUri(text)
const isListed = (text: string): boolean => readListed(text) === text

/** A number, or a SIP URI. A mere word is a number that somebody mistyped. */
function requireListed(text: string): string {
  const phone = readListed(text)
  if (phone === undefined) throw new PatchbayError('invalid_phone_number')
  return phone
}

const bodyOf = (entry: DoNotCall): Static<typeof DoNotCallBody> => ({
  phone_number: entry.phone,
  reason: entry.reason,
  source: entry.source,
  call_log_id: entry.call_id,
  words: entry.words,
  created_at: entry.created_at.toISOString(),
})

const list = defineRoute({
  method: 'GET',
  path: '/do-not-call',
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'member',
  query: Type.Object({
    q: Type.Optional(Type.String({ maxLength: 100, description: 'A part of the number or of the reason.' })),
    ...CursorQuery,
    updated_since: AddedSince,
  }),
  success: { status: 200, schema: CursorPage(DoNotCallBody) },
  tag,
  summary: 'Numbers that nobody of the workspace calls, newest first',
  examples: { success: { items: [example], total: 1, page: 1, page_size: 25, total_pages: 1 } },
  handler: async ({ query, tenant }) => {
    const filter = { q: query.q, since: instantIn(query.updated_since) }
    const part = partOf(query, timed(cursorOf(query, isListed)))
    const { entries, total } = await doNotCallPage(tenant, filter, part)
    const last = entries.at(-1)
    return cursorPageOf(entries.map(bodyOf), total, query, last && { id: last.phone, at: last.sorted_by })
  },
})

const add = defineRoute({
  method: 'POST',
  path: '/do-not-call',
  madeIsPersonal: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  body: Type.Object({
    phone_number: Type.Optional(Type.String({ maxLength: 64 })),
    reason: Type.String({ maxLength: 500, default: '' }),
  }),
  success: { status: 201, schema: DoNotCallBody },
  errors: ['invalid_phone_number'],
  tag,
  summary: 'Never call a number again',
  description:
    'Binds campaigns, batches and outbound calls from the moment of the answer. Prospects that wait with this number are resolved. A number that is listed already keeps its entry.',
  examples: { body: { phone_number: '+14155550199', reason: 'Asked by letter' }, success: example },
  handler: async ({ body, tenant }, { clock }) => {
    const phone = requireListed(body.phone_number ?? '')
    const now = new Date(clock.nowMs())
    const [entry] = await addDoNotCall(tenant, [{ phone, reason: body.reason, source: 'api' }], now)
    return bodyOf(entry!)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/do-not-call/{phone_number}',
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  params: {
    phone_number: {
      description: 'E.164, with or without its plus.',
      example: example.phone_number,
      isPersonal: true,
    },
  },
  success: { status: 200, schema: Detail },
  errors: ['invalid_phone_number', 'do_not_call_not_found'],
  tag,
  summary: 'Let a number be called again',
  description: 'Prospects that only its entry had resolved wait again.',
  examples: { success: { detail: 'Phone number removed from the do-not-call list' } },
  handler: async ({ params, tenant }) => {
    const text = params.phone_number
    const phone = requireListed(/^\d/.test(text) ? `+${text}` : text)
    if (!(await removeDoNotCall(tenant, phone))) throw new PatchbayError('do_not_call_not_found')
    return { detail: 'Phone number removed from the do-not-call list' }
  },
})

const upload = defineRoute({
  method: 'POST',
  path: '/do-not-call/upload',
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  files: {
    file: {
      description: 'CSV or .xlsx with a `phone_number` column and, if you like, `reason`.',
      required: true,
      many: false,
    },
  },
  success: {
    status: 201,
    schema: Type.Object({
      complete: Type.Boolean({ description: 'False: some rows are not on the list, and their numbers may be called.' }),
      message: Type.String({ description: 'What became of the file, for a person to read.' }),
      rows: Type.Integer(),
      added: Type.Integer(),
      known: Type.Integer({ description: 'Listed already, or twice in the file.' }),
      invalid: Type.Integer({ description: 'Rows whose number could not be read: these numbers are not on the list.' }),
      invalid_lines: Type.Array(
        Type.Object({
          line: Type.Integer({ description: 'The header is line 1.' }),
          phone_number: Type.String(),
          reason: Type.String({ description: 'Why, and the cure.' }),
        }),
        { description: 'The first hundred of them.' },
      ),
    }),
  },
  errors: [
    'csv_without_phone_number',
    'csv_without_rows',
    'csv_too_many_columns',
    'csv_row_too_long',
    'workbook_unreadable',
    'workbook_too_large',
    'unavailable',
  ],
  tag,
  summary: 'Add every number of a CSV or .xlsx file to the do-not-call list',
  examples: {
    body: { file: 'phone_number,reason\n+14155550199,Asked by letter\n' },
    success: {
      complete: true,
      message: 'All 1 numbers of the file are on the do-not-call list',
      ...{ rows: 1, added: 1, known: 0, invalid: 0, invalid_lines: [] },
    },
  },
  handler: async (request, { clock, databaseUrl }) => {
    const { tenant, signal } = request
    const params: DoNotCallFileParams = { workspaceId: tenant.workspaceId, createdAt: new Date(clock.nowMs()) }
    const copy = await openBulkCopy<DoNotCallFileParams, Record<string, never>, DoNotCallFileResult>({
      databaseUrl,
      workspaceId: tenant.workspaceId,
      loader: LOADER,
      signal,
    })
    try {
      await receiveOneFile(request, 'file', (content) => copy.feed(content))
      const loaded = await copy.commit(params, {})
      const { rows, invalid } = loaded
      const message =
        invalid === 0
          ? `All ${rows} numbers of the file are on the do-not-call list`
          : `${invalid} of ${rows} rows are NOT on the do-not-call list, because their number could not be read: they may still be called. Mend the lines of invalid_lines and upload them again.`
      return { complete: invalid === 0, message, ...loaded }
    } finally {
      await copy.discard()
    }
  },
})

export const doNotCallRoutes = [list, add, upload, remove]
