import { type Static, Type } from 'typebox'
import { fitsMetadata, metadataKeyOf } from '../../runtime/call/types/metadata.ts'
import { fitsVariables } from '../../runtime/conversation/variables.ts'
import { judgePlace, Moment } from '../../runtime/dialing/eligibility.ts'
import { HOLDS, holdOf } from '../../runtime/dialing/hold.ts'
import { readProspectNumber } from '../../runtime/dialing/prospect-number.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { MAX_VARIABLES } from '../../runtime/lib/variable-bounds.ts'
import { readSipUri } from '../../runtime/plugin-sdk/telephony/destination.ts'
import { bucketsOf } from '../../store/campaigns/campaign-status.ts'
import { campaignById } from '../../store/campaigns/campaigns.ts'
import { windowGroupOf, windowGroupsById } from '../../store/campaigns/window-groups.ts'
import type { Campaign, Prospect } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { ownColumnOf } from '../../store/prospects/prospect-columns.ts'
import { listById } from '../../store/prospects/prospect-lists.ts'
import { REFUSALS } from '../../store/prospects/prospect-row.ts'
import {
  attemptsOf,
  changeProspect,
  deleteProspect,
  eachProspect,
  expiryOf,
  insertProspect,
  type ProspectFilter,
  prospectById,
  prospectsPage,
} from '../../store/prospects/prospects.ts'
import { type Cell, csvRecord } from '../../store/uploads/csv-export.ts'
import { policyOf } from '../../workers/dialer/policy.ts'
import { hasCampaign, requireCampaign } from '../campaigns/access.ts'
import { slug } from '../campaigns/routes.ts'
import {
  CursorPage,
  CursorQuery,
  cursorPageOf,
  instantIn,
  orderIn,
  partOf,
  placeIn,
  placeOf,
  SortQuery,
  UpdatedSince,
} from '../cursor.ts'
import { isUuid } from '../ids.ts'
import { readPhoneNumber } from '../phone-number.ts'
import { defineRoute, Reply } from '../route.ts'
import { Nullable, parseInstant, ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'
import { Detail } from '../workspaces/schema.ts'
import { hasList } from './lists.ts'
import {
  attemptBody,
  ProspectBody,
  ProspectWithAttempts,
  prospectBody,
  prospectExample,
  prospectWithAttemptsExample,
} from './schema.ts'

const tag = 'Prospects'
const prospectUuid = {
  description: 'The prospect.',
  notFound: 'prospect_not_found',
  example: prospectExample.uuid,
} as const
const Text = (maxLength = 500) => Type.Optional(Type.String({ maxLength }))

const add = defineRoute({
  method: 'POST',
  path: '/api/v/prospect/{uuid}/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  params: {
    uuid: {
      description: 'The list (`list_uuid`).',
      notFound: 'prospect_list_not_found',
      example: prospectExample.list_uuid,
    },
  },
  isThere: hasList,
  form: Type.Object({
    primary_phone: Text(64),
    first_name: Text(),
    last_name: Text(),
    email: Text(),
    state: Text(100),
    postal_code: Text(20),
    timezone: Text(100),
    consent_at: Type.Optional(Type.String({ format: 'date-time' })),
    external_id: Text(),
  }),
  success: { status: 201, schema: ProspectBody },
  errors: [
    'wrong_content_type',
    'malformed_body',
    'invalid_phone_number',
    'prospect_list_not_found',
    'prospect_exists',
    'do_not_call',
  ],
  tag,
  summary: 'Add one prospect',
  description:
    'As a form, multipart or urlencoded. Fields named `metadata[key]` are metadata, others beyond those named become dynamic variables.',
  examples: {
    body: { primary_phone: '+14155550199', first_name: 'Ada', last_name: 'Lovelace' },
    success: {
      ...prospectExample,
      attempts: 0,
      disposition: null,
      last_attempt_at: null,
      next_attempt_at: null,
      held: null,
    },
  },
  handler: async (request, services) => {
    const { params, tenant } = request
    const { fields, others } = await request.form(async (file) => {
      for await (const _ of file.content) throw new PatchbayError('malformed_body', { cause: new Error('A file') })
    })
    const list = await listById(tenant, params.uuid)
    const campaign = list && (await campaignById(tenant, list.campaign_id))
    const { rules, places } = services.calling
    const country = rules.locales.get(campaign?.locale_name ?? 'USCA')?.default_country ?? 'US'
    const text = fields.primary_phone ?? ''
    const number = (text.startsWith(' ') ? readPhoneNumber(text) : undefined) ?? readProspectNumber(text, country)
    const phone = number ?? readSipUri(text)
    if (phone === undefined) throw new PatchbayError('invalid_phone_number')
    if (list === undefined || campaign === undefined) throw new PatchbayError('prospect_list_not_found')
    const { primary_phone: _, consent_at, ...own } = fields
    const where = places.whereaboutsOf({
      number: phone,
      state: own.state ?? null,
      postalCode: own.postal_code ?? null,
      timezone: own.timezone ?? null,
    })
    const variables = Object.fromEntries(
      Object.entries(others).filter(
        ([name]) => name !== '' && ownColumnOf(name) === undefined && metadataKeyOf(name) === undefined,
      ),
    )
    const metadata = Object.fromEntries(
      Object.entries(others).flatMap(([name, value]) => {
        const key = metadataKeyOf(name)
        return key === undefined ? [] : [[key, value]]
      }),
    )
    if (!fitsMetadata(metadata)) {
      throw new ValidationError([{ loc: ['form', 'metadata'], msg: REFUSALS.invalid_metadata, type: 'value_error' }])
    }
    if (!fitsVariables(variables)) {
      const msg = `must have at most ${MAX_VARIABLES} further fields and 64 KiB of them in all`
      throw new ValidationError([{ loc: ['form'], msg, type: 'value_error' }])
    }
    const group = await windowGroupOf(services.store, where)
    const made = await insertProspect(
      tenant,
      { campaign, listId: list.id },
      {
        ...own,
        phone,
        variables: JSON.stringify(variables),
        metadata: JSON.stringify(metadata),
        consent_at: consent_at === undefined ? null : (parseInstant(consent_at) ?? null),
        window_group: group.id,
      },
      new Date(services.clock.nowMs()),
    )
    if (made === 'duplicate') throw new PatchbayError('prospect_exists')
    if (made === 'do_not_call') throw new PatchbayError('do_not_call')
    const [body] = await bodiesOf(services, tenant, campaign, [made])
    return body!
  },
})

const FILTERS = {
  status: Type.Optional(
    Type.Enum(['waiting', 'calling', 'resolved'], { description: 'Only prospects in this state.' }),
  ),
  resolution: Type.Optional(
    Type.Enum(ProspectBody.properties.resolution.anyOf[0].enum, { description: 'Only prospects resolved like this.' }),
  ),
  held: Type.Optional(Type.Enum([...HOLDS], { description: 'Waiting ones that are held for this reason now.' })),
  q: Type.Optional(Type.String({ maxLength: 100, description: 'A part of the number, the name or the external id.' })),
}

const list = defineRoute({
  method: 'GET',
  path: '/api/v/campaign/{slug}/prospects/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'member',
  params: { slug },
  isThere: hasCampaign,
  query: Type.Object({
    ...{ ...FILTERS, ...CursorQuery, updated_since: UpdatedSince },
    ...SortQuery(['name', 'attempts', 'next_attempt_at']),
  }),
  success: { status: 200, schema: CursorPage(ProspectBody) },
  errors: ['campaign_not_found'],
  tag,
  summary: 'The prospects of a campaign, in the order they came; with `updated_since` in that in which they changed',
  examples: {
    query: { status: 'waiting' },
    success: { items: [prospectExample], total: 1, page: 1, page_size: 25, total_pages: 1 },
  },
  handler: async ({ params, query, tenant }, services) => {
    const campaign = await requireCampaign(tenant, params.slug)
    const filter = await filterOf(services, tenant, campaign, query)
    const { prospects, total } = await prospectsPage(
      tenant,
      { ...filter, updatedSince: instantIn(query.updated_since) },
      partOf(query, placeIn(query)),
      orderIn(query),
    )
    const last = prospects.at(-1)
    const bodies = await bodiesOf(services, tenant, campaign, prospects)
    return cursorPageOf(bodies, total, query, last && placeOf(query, last))
  },
})

const csv = defineRoute({
  method: 'GET',
  path: '/api/v/campaign/{slug}/prospects.csv',
  auth: 'jwt_or_scope',
  audit: [],
  scope: 'campaigns',
  role: 'member',
  params: { slug },
  isThere: hasCampaign,
  query: Type.Object(FILTERS),
  success: { status: 200, schema: Type.String(), contentType: 'text/csv; charset=utf-8' },
  errors: ['campaign_not_found'],
  tag,
  summary: 'The prospects of a campaign with their outcomes, as CSV',
  handler: async ({ params, query, tenant, signal }, services) => {
    const campaign = await requireCampaign(tenant, params.slug)
    const filter = await filterOf(services, tenant, campaign, query)
    return new Reply({
      stream: csvOf(services, tenant, campaign, filter, signal),
      headers: [
        ['content-type', 'text/csv; charset=utf-8'],
        ['content-disposition', `attachment; filename="${campaign.slug}.csv"`],
      ],
    })
  },
})

const CSV_COLUMNS = [
  'uuid',
  'primary_phone',
  'first_name',
  'last_name',
  'email',
  'state',
  'postal_code',
  'external_id',
  'consent_at',
  'status',
  'resolution',
  'disposition',
  'attempts',
  'last_attempt_at',
  'next_attempt_at',
  'held',
  'expires_at',
  'created_at',
  'variables',
] as const
const PHONE_COLUMN = new Set([CSV_COLUMNS.indexOf('primary_phone')])

async function* csvOf(
  services: Services,
  tenant: Tenant,
  campaign: Campaign,
  filter: ProspectFilter,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield `${CSV_COLUMNS.join(',')}\r\n`
  for await (const prospects of eachProspect(tenant, filter, signal)) {
    let text = ''
    for (const body of await bodiesOf(services, tenant, campaign, prospects)) {
      const row = { ...body, held: body.held?.reason ?? null, variables: JSON.stringify(body.variables) }
      const cells: Cell[] = CSV_COLUMNS.map((column) => row[column])
      text += csvRecord(cells, PHONE_COLUMN)
    }
    yield text
  }
}

const read = defineRoute({
  method: 'GET',
  path: '/api/v/prospect/{uuid}/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'member',
  params: { uuid: prospectUuid },
  isThere: async ({ uuid }, tenant) => isUuid(uuid) && (await prospectById(tenant, uuid)) !== undefined,
  success: { status: 200, schema: ProspectWithAttempts },
  tag,
  summary: 'One prospect, with its attempts and the checks each passed',
  examples: { success: prospectWithAttemptsExample },
  handler: async ({ params, tenant }, services) => withAttempts(services, tenant, params.uuid),
})

const change = defineRoute({
  method: 'PATCH',
  path: '/api/v/prospect/{uuid}/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  params: { uuid: prospectUuid },
  isThere: async ({ uuid }, tenant) => isUuid(uuid) && (await prospectById(tenant, uuid)) !== undefined,
  body: Type.Object({
    next_attempt_at: Type.Optional(
      Nullable(
        Type.String({
          format: 'date-time',
          description: 'Call then, within the legal hours; null: as soon as may be.',
        }),
      ),
    ),
    resolution: Type.Optional(Type.Enum(['canceled'])),
  }),
  success: { status: 200, schema: ProspectWithAttempts },
  errors: ['prospect_calling', 'prospect_resolved'],
  tag,
  summary: 'Call a waiting prospect at a time, or give it up',
  examples: { body: { next_attempt_at: '2026-02-02T18:00:00.000Z' }, success: prospectWithAttemptsExample },
  handler: async ({ body, params, tenant }, services) => {
    const at = body.next_attempt_at
    if (body.resolution !== undefined && at !== undefined) {
      throw new ValidationError([
        {
          loc: ['body', 'next_attempt_at'],
          msg: 'A prospect that is given up has no next attempt',
          type: 'value_error',
        },
      ])
    }
    await requireProspect(tenant, params.uuid)
    if (body.resolution !== undefined || at !== undefined) {
      const wanted =
        body.resolution !== undefined
          ? { resolution: body.resolution }
          : { nextAttemptAt: at === null || at === undefined ? null : (parseInstant(at) ?? null) }
      if (!(await changeProspect(tenant, params.uuid, wanted))) {
        const { status } = await requireProspect(tenant, params.uuid)
        throw new PatchbayError(status === 'calling' ? 'prospect_calling' : 'prospect_resolved')
      }
    }
    return withAttempts(services, tenant, params.uuid)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/v/prospect/{uuid}/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  params: { uuid: prospectUuid },
  isThere: async ({ uuid }, tenant) => isUuid(uuid) && (await prospectById(tenant, uuid)) !== undefined,
  success: { status: 200, schema: Detail },
  errors: ['prospect_calling'],
  tag,
  summary: 'Delete a prospect; its calls stay in the log',
  examples: { success: { detail: 'Prospect deleted' } },
  handler: async ({ params, tenant }) => {
    await requireProspect(tenant, params.uuid)
    if (!(await deleteProspect(tenant, params.uuid))) throw new PatchbayError('prospect_calling')
    return { detail: 'Prospect deleted' }
  },
})

async function requireProspect(tenant: Tenant, id: string): Promise<Prospect> {
  const prospect = await prospectById(tenant, id)
  if (prospect === undefined) throw new PatchbayError('prospect_not_found')
  return prospect
}

async function withAttempts(
  services: Services,
  tenant: Tenant,
  id: string,
): Promise<Static<typeof ProspectWithAttempts>> {
  const prospect = await requireProspect(tenant, id)
  const campaign = await campaignById(tenant, prospect.campaign_id)
  if (campaign === undefined) throw new PatchbayError('prospect_not_found')
  const [[body], attempts] = await Promise.all([
    bodiesOf(services, tenant, campaign, [prospect]),
    attemptsOf(tenant, id),
  ])
  return { ...body!, history: attempts.map(attemptBody) }
}

/** `held` is a matter of the moment: the groups it is true of are found first. */
async function filterOf(
  services: Services,
  tenant: Tenant,
  campaign: Campaign,
  query: { status?: Prospect['status']; resolution?: string; held?: (typeof HOLDS)[number]; q?: string },
): Promise<ProspectFilter> {
  const { held, status, resolution, q } = query
  const filter: ProspectFilter = { campaignId: campaign.id, status, resolution, q }
  if (held === undefined) return filter
  const { rules, places } = services.calling
  const now = new Date(services.clock.nowMs())
  const policy = policyOf(campaign, places)
  const groups = await windowGroupsById(services.store, [
    ...new Set((await bucketsOf(tenant, campaign.id)).map(({ windowGroup }) => windowGroup)),
  ])
  const moment = new Moment(now.getTime())
  const windowGroups = [...groups].flatMap(([id, where]) => {
    const verdict = judgePlace(where, policy, rules, moment)
    return (verdict.open ? 'open' : verdict.reason) === (PLACE_HOLDS.has(held) ? held : 'open') ? [id] : []
  })
  return {
    ...filter,
    status: query.status ?? 'waiting',
    windowGroups,
    ...(held === 'consent' ? { unasked: policy.consentRequired } : {}),
    ...(held === 'retry_wait' || held === 'attempt_cap' ? { notBefore: now } : {}),
    ...(held === 'attempt_cap' || held === 'number_cap' || held === 'do_not_call' ? { heldReason: held } : {}),
    ...(held === 'list_inactive' ? { inactiveList: true } : {}),
  }
}

const PLACE_HOLDS: ReadonlySet<string> = new Set(['unknown_zone', 'state', 'holiday', 'window'])

async function bodiesOf(
  { store, calling, clock }: Services,
  tenant: Tenant,
  campaign: Campaign,
  prospects: readonly Prospect[],
): Promise<Static<typeof ProspectBody>[]> {
  const { rules, places } = calling
  const policy = policyOf(campaign, places)
  const groups = await windowGroupsById(store, [...new Set(prospects.map((prospect) => prospect.window_group))])
  const lists = await tenant.db
    .selectFrom('prospect_lists')
    .select(['id', 'active'])
    .where('campaign_id', '=', campaign.id)
    .execute()
  const active = new Map(lists.map((row) => [row.id, row.active]))
  return prospects.map((prospect) => {
    const group = groups.get(prospect.window_group)
    const hold =
      prospect.status !== 'waiting'
        ? undefined
        : holdOf(
            {
              where: group ?? { zones: [], regions: [] },
              listActive: active.get(prospect.list_id) ?? false,
              consentAtMs: prospect.consent_at?.getTime(),
              nextAttemptMs: prospect.next_attempt_at?.getTime(),
              noted:
                prospect.held_reason === null
                  ? undefined
                  : { reason: prospect.held_reason, sentence: prospect.held_sentence ?? '' },
            },
            policy,
            rules,
            clock.nowMs(),
          )
    const expiresAt = expiryOf(campaign.expire_days, prospect.created_at)
    return prospectBody(prospect, { campaign: campaign.slug, group, hold, expiresAt })
  })
}

export const prospectRoutes = [add, list, csv, read, change, remove]
