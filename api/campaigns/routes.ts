import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import { hasAgent } from '../../store/agents/agents.ts'
import { progressOf } from '../../store/campaigns/campaign-status.ts'
import {
  type CampaignFields,
  type CampaignWithLists,
  campaignBySlug,
  deleteCampaign,
  insertCampaign,
  listCampaigns,
  updateCampaign,
} from '../../store/campaigns/campaigns.ts'
import type { Campaign } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { stateOf } from '../../workers/dialer/status.ts'
import { ChangedSince, cursorOf, instantIn, timed } from '../cursor.ts'
import { isUuid } from '../ids.ts'
import { LongListOf, LongListQuery, listBody, windowOf } from '../paging.ts'
import { defineRoute } from '../route.ts'
import { type Fault, ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'
import { Detail } from '../workspaces/schema.ts'
import { hasCampaign, requireCampaign, tenantOf, tenantsOf } from './access.ts'
import {
  CampaignBody,
  type CampaignChanges,
  type CampaignInput,
  ChangeCampaign,
  CreateCampaign,
  campaignBody,
  campaignExample,
  campaignFaults,
  columnsOf,
} from './schema.ts'

export const tag = 'Campaigns'
export const slug = { description: "The campaign's slug.", example: campaignExample.slug } as const

const createExample = {
  name: campaignExample.name,
  agent_id: campaignExample.agent_id,
  earliest_prospect_time: '10:00:00',
  latest_prospect_time: '19:00:00',
}

const list = defineRoute({
  method: 'GET',
  path: '/api/v/campaign/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'member',
  query: Type.Object({
    email: Type.Optional(Type.String({ maxLength: 254, description: "The owner's." })),
    workspace: Type.Optional(
      Type.String({ maxLength: 100, description: 'Default: all of the user’s; with an API key its own.' }),
    ),
    ...LongListQuery.properties,
    updated_since: ChangedSince,
  }),
  success: { status: 200, schema: LongListOf(CampaignBody) },
  tag,
  summary: 'The campaigns of a user’s workspaces, newest first; as pages when `page`, `page_size` or `after` is given',
  examples: { success: [campaignExample] },
  handler: async (request, services) => {
    const { query } = request
    const page = windowOf(query, timed(cursorOf(query)))
    const tenants = await tenantsOf(request, services, query.workspace)
    const filter = { email: query.email, updatedSince: instantIn(query.updated_since) }
    // Of each workspace as many as the page could hold if all came from there.
    const upTo = page && { ...page, offset: 0, limit: page.offset + page.limit }
    const found = await Promise.all(
      tenants.map(async (tenant) => ({ tenant, ...(await listCampaigns(tenant, filter, upTo)) })),
    )
    const all = await Promise.all(found.map(({ tenant, campaigns }) => placedBodiesOf(tenant, campaigns)))
    const age = ({ place }: (typeof all)[number][number]) => `${place.at} ${place.id}`
    const newestFirst = all.flat().sort((a, b) => (age(a) < age(b) ? 1 : -1))
    const shown = page ? newestFirst.slice(page.offset, page.offset + page.limit) : newestFirst
    const total = found.reduce((sum, one) => sum + one.total, 0)
    const items = shown.map(({ body }) => body)
    return listBody(items, total, query, shown.at(-1)?.place)
  },
})

const create = defineRoute({
  method: 'POST',
  path: '/api/v/campaign/',
  audit: ['name'],
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  body: CreateCampaign,
  success: { status: 201, schema: CampaignBody },
  errors: ['agent_not_found', 'invalid_phone_number', 'admin_required'],
  tag,
  summary: 'Make a campaign, with a list of the same slug',
  description:
    'Without an agent, or without a number to call from, it is kept and calls nobody; the status says why. It begins to call as soon as a list has prospects.',
  examples: { body: createExample, success: campaignExample },
  handler: async (request, services) => {
    const { body } = request
    const least = body.pacing === 'fixed' ? 'admin' : 'developer'
    const tenant = await tenantOf(request, services, body.workspace, least)
    await checkInput(tenant, body, undefined, services)
    const fields = columnsOf(body) as CampaignFields
    const campaign = await insertCampaign(tenant, fields, new Date(services.clock.nowMs()))
    return bodyOf(tenant, campaign)
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/api/v/campaign/{slug}/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'member',
  params: { slug },
  isThere: hasCampaign,
  success: { status: 200, schema: CampaignBody },
  errors: ['campaign_not_found'],
  tag,
  summary: 'One campaign',
  examples: { success: campaignExample },
  handler: async ({ params, tenant }) => bodyOf(tenant, await requireCampaign(tenant, params.slug)),
})

const change = (method: 'PUT' | 'PATCH') =>
  defineRoute({
    method,
    path: '/api/v/campaign/{slug}/',
    audit: ['name'],
    trailingSlash: true,
    auth: 'jwt_or_scope',
    scope: 'campaigns',
    role: 'developer',
    params: { slug },
    isThere: hasCampaign,
    body: ChangeCampaign,
    success: { status: 200, schema: CampaignBody },
    errors: ['campaign_not_found', 'agent_not_found', 'invalid_phone_number', 'admin_required'],
    tag,
    summary: 'Change some fields of a campaign; the others stay',
    description:
      'The change holds for every call that is dialled after the answer. The slug stays when the name changes.',
    examples: { body: { latest_prospect_time: '18:00:00' }, success: campaignExample },
    handler: async ({ body, params, tenant, role }, services) => {
      if (body.pacing === 'fixed' && role !== 'admin') throw new PatchbayError('admin_required')
      const stored = await campaignBySlug(tenant, params.slug)
      await checkInput(tenant, body, stored, services)
      const before = stored ?? (await requireCampaign(tenant, params.slug))
      const fields = columnsOf(body)
      const paused = body.paused === undefined || body.paused === before.paused ? {} : { pause_reason: null }
      await updateCampaign(tenant, params.slug, { ...fields, ...paused }, new Date(services.clock.nowMs()))
      return bodyOf(tenant, await requireCampaign(tenant, params.slug))
    },
  })

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/v/campaign/{slug}/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'delete',
  role: 'admin',
  params: { slug },
  isThere: hasCampaign,
  success: { status: 200, schema: Detail },
  errors: ['campaign_not_found', 'campaign_running'],
  tag,
  summary: 'Delete a campaign with its lists and prospects; its calls stay in the log',
  description: 'Pause it first, and wait for its calls to end. How often each number was called is kept, for the law.',
  examples: { success: { detail: 'Campaign deleted' } },
  handler: async ({ params, tenant }, { clock }) => {
    const outcome = await deleteCampaign(tenant, params.slug, new Date(clock.nowMs()))
    if (outcome === 'unknown') throw new PatchbayError('campaign_not_found')
    if (outcome === 'running') throw new PatchbayError('campaign_running')
    return { detail: 'Campaign deleted' }
  },
})

/** Throws what is wrong with the fields, in the order of all checks. */
async function checkInput(
  tenant: Tenant,
  input: CampaignChanges | CampaignInput,
  before: Campaign | undefined,
  { calling }: Pick<Services, 'calling'>,
): Promise<void> {
  const numbers = (input.from_numbers ?? []).map((text) => parsePhoneNumber(text))
  if (numbers.includes(undefined)) throw new PatchbayError('invalid_phone_number')
  const faults: Fault[] = campaignFaults(input, before, calling)
  if (before !== undefined && input.workspace != null && input.workspace !== tenant.workspaceId) {
    faults.push({ loc: ['body', 'workspace'], msg: 'A campaign stays in its workspace', type: 'value_error' })
  }
  if (numbers.length > 0) {
    const registered = await tenant.db
      .selectFrom('phone_numbers')
      .select('phone_number')
      .where('phone_number', 'in', numbers as string[])
      .execute()
    const known = new Set(registered.map((row) => row.phone_number))
    for (const [i, number] of numbers.entries()) {
      if (number !== undefined && !known.has(number)) {
        faults.push({
          loc: ['body', 'from_numbers', String(i)],
          msg: `${number} is not registered in the workspace; register it with POST /phone-numbers`,
          type: 'value_error',
        })
      }
    }
  }
  if (faults.length > 0) throw new ValidationError(faults)
  const { agent_id } = input
  if (agent_id != null && (!isUuid(agent_id) || !(await hasAgent(tenant, agent_id)))) {
    throw new PatchbayError('agent_not_found')
  }
}

export async function bodyOf(tenant: Tenant, campaign: CampaignWithLists) {
  const [body] = await bodiesOf(tenant, [campaign])
  return body!
}

/** With where each stands in the list. */
async function placedBodiesOf(tenant: Tenant, campaigns: readonly (CampaignWithLists & { sorted_by: string })[]) {
  const bodies = await bodiesOf(tenant, campaigns)
  return campaigns.map(({ id, sorted_by }, i) => ({ place: { id, at: sorted_by }, body: bodies[i]! }))
}

async function bodiesOf(tenant: Tenant, campaigns: readonly CampaignWithLists[]) {
  const progress = await progressOf(
    tenant,
    campaigns.map(({ id }) => id),
  )
  return campaigns.map((campaign) => {
    const own = progress.get(campaign.id) ?? { total: 0, live: 0, unresolved: 0 }
    return campaignBody(campaign, stateOf(campaign, own), own.total)
  })
}

export const campaignRoutes = [list, create, read, change('PUT'), change('PATCH'), remove]
