import { type Static, Type } from 'typebox'
import { MAX_EXTERNAL_ID_CHARS, MetadataMap } from '../../runtime/call/types/metadata.ts'
import { DynamicVariables } from '../../runtime/conversation/variables.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { agentById } from '../../store/agents/agents.ts'
import { insertCall } from '../../store/calls/calls.ts'
import { countWaitingTestCalls } from '../../store/calls/outbound-calls.ts'
import { sourceNumbersOf } from '../../store/campaigns/campaign-status.ts'
import { type CampaignFields, insertCampaign, pauseCampaign } from '../../store/campaigns/campaigns.ts'
import { isOnDoNotCall } from '../../store/campaigns/do-not-call.ts'
import { copyUnresolved } from '../../store/prospects/prospect-copies.ts'
import { queueCall, requireQueues } from '../../workers/calls/queue.ts'
import { campaignStatus } from '../../workers/dialer/status.ts'
import { CallBody, callBody, callExample } from '../calls/schema.ts'
import { requireDestination, requireDialTarget } from '../dial-target.ts'
import { keyedBy, once } from '../idempotency.ts'
import { requireServed } from '../quota.ts'
import { agentSpec } from '../realtime/agent-spec.ts'
import { defineRoute } from '../route.ts'
import { NameInput } from '../schema.ts'
import { hasCampaign, requireCampaign } from './access.ts'
import { bodyOf, slug, tag } from './routes.ts'
import { CampaignBody, campaignExample } from './schema.ts'
import { StatusBody } from './status-schema.ts'

/** What is done with a campaign beside changing it. */

const statusExample: Static<typeof StatusBody> = {
  slug: campaignExample.slug,
  status: 'Stopped',
  reason: 'outside_calling_hours',
  active_calls: 0,
  calls: { placing: 0, ringing: 0, talking: 0, waiting: 0 },
  ready_agents: 20,
  prospects: {
    total: 500,
    unresolved: 320,
    resolved: 180,
    by_resolution: { reached: 150, invalid_number: 12, opted_out: 3, exhausted: 15 },
    callable_now: 0,
    by_zone: [
      {
        zones: ['America/New_York'],
        regions: ['US', 'US-NY'],
        waiting: 318,
        callable_now: 0,
        opens_at: '2026-02-02T14:00:00.000Z',
      },
      { zones: [], regions: [], waiting: 2, callable_now: 0, opens_at: null },
    ],
    held: { window: 318, unknown_zone: 2 },
    call_backs: { promised: 2, missed: 0 },
  },
  reason_after_start: null,
  next_call_at: '2026-02-02T14:00:00.000Z',
  today: { attempts: 410, answered: 190, humans: 160, machines: 30, abandoned: 0 },
  answer_rate: 0.463,
  abandoned_rate_30d: 0,
  pacing: { call_ratio: 1, effective_ratio: 1, why: 'Every call has its seat before it is dialled' },
  cost: 12.34,
  updated_at: '2026-01-31T22:00:00.000Z',
}

const status = defineRoute({
  method: 'GET',
  path: '/api/v/campaign/{slug}/status/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'member',
  params: { slug },
  isThere: hasCampaign,
  success: { status: 200, schema: StatusBody },
  errors: ['campaign_not_found'],
  tag,
  summary: 'What a campaign does now, and if nothing, why',
  examples: { success: statusExample },
  handler: async ({ params, tenant }, services) => {
    const campaign = await requireCampaign(tenant, params.slug)
    return campaignStatus(services, tenant, campaign, new Date(services.clock.nowMs()))
  },
})

const pausing = (action: 'pause' | 'resume') =>
  defineRoute({
    method: 'POST',
    path: `/api/v/campaign/{slug}/${action}/`,
    trailingSlash: true,
    auth: 'jwt_or_scope',
    scope: 'campaigns',
    role: 'developer',
    params: { slug },
    isThere: hasCampaign,
    success: { status: 200, schema: CampaignBody },
    errors: ['campaign_not_found'],
    tag,
    summary: action === 'pause' ? 'Place nothing new; running calls end as they would' : 'Go on calling',
    examples: { success: { ...campaignExample, paused: action === 'pause' } },
    handler: async ({ params, tenant }, { clock }) => {
      const now = new Date(clock.nowMs())
      const found = await pauseCampaign(tenant, params.slug as string, action === 'pause', now)
      if (!found) throw new PatchbayError('campaign_not_found')
      return bodyOf(tenant, await requireCampaign(tenant, params.slug as string))
    },
  })

/** Each is a person waiting for their phone to ring. */
const MOST_WAITING_TEST_CALLS = 20

const testCall = defineRoute({
  method: 'POST',
  path: '/api/v/campaign/{slug}/test-call/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  idempotent: true,
  params: { slug },
  isThere: hasCampaign,
  body: Type.Object({
    phone_number: Type.Optional(Type.String({ maxLength: 64 })),
    dynamic_variables: DynamicVariables({ default: {} }),
    external_id: Type.Optional(Type.String({ maxLength: MAX_EXTERNAL_ID_CHARS })),
    metadata: MetadataMap({ default: {} }),
  }),
  success: { status: 201, schema: CallBody },
  errors: [
    'invalid_phone_number',
    'agent_text_too_long',
    'campaign_not_found',
    'campaign_without_agent',
    'campaign_without_number',
    'do_not_call',
    'quota_reached',
  ],
  tag,
  summary: "Call one number with the campaign's agent; touches no prospect",
  examples: {
    body: { phone_number: '+14155550199', dynamic_variables: { first_name: 'Ada' }, metadata: {} },
    success: { ...callExample, campaign_slug: campaignExample.slug },
  },
  handler: async (request, { clock, config, carriers, outbound, store, stores }) => {
    const { body, params, tenant, log } = request
    await requireQueues(stores)
    requireDestination(body.phone_number)
    const campaign = await requireCampaign(tenant, params.slug)
    const now = new Date(clock.nowMs())
    const agent = campaign.agent_id === null ? undefined : await agentById(tenant, campaign.agent_id)
    if (agent === undefined) throw new PatchbayError('campaign_without_agent')
    agentSpec(await requireServed({ store }, tenant, agent), body.dynamic_variables, false, {
      nowMs: clock.nowMs(),
      dialled: true,
    })
    const [from] = await sourceNumbersOf(tenant, campaign, now)
    if (from === undefined) throw new PatchbayError('campaign_without_number')
    const to = await requireDialTarget(tenant, carriers, from.number, body.phone_number)
    if (await isOnDoNotCall(tenant, to)) throw new PatchbayError('do_not_call')
    if ((await countWaitingTestCalls(tenant)) >= MOST_WAITING_TEST_CALLS) {
      throw new PatchbayError('quota_reached', { params: { quota: `${MOST_WAITING_TEST_CALLS} test calls that wait` } })
    }
    const keyed = keyedBy(request, tenant, 'POST /api/v/campaign/test-call', [campaign.id, body])
    const { answer, isNew } = await once(keyed, async (within) => {
      const call = await insertCall(within, {
        agent_id: agent.id,
        agent_name: agent.agent_name,
        call_type: 'phone',
        direction: 'outbound',
        status: 'queued',
        from_number: from.number,
        to_number: to,
        campaign_slug: campaign.slug,
        dynamic_variables: JSON.stringify(body.dynamic_variables),
        external_id: body.external_id ?? null,
        metadata: JSON.stringify(body.metadata),
        created_at: now,
      })
      return callBody({ ...call, turns: [] }, config.publicUrl)
    })
    if (isNew) {
      const queued = { id: answer.call_log_id, workspace_id: answer.workspace_id }
      await queueCall(outbound.queue, queued, config.queueWaitMs).catch((err) => {
        log.warn({ err, callId: queued.id }, 'The call could not be queued; the sweep of the job workers will')
      })
    }
    return answer
  },
})

const duplicate = defineRoute({
  method: 'POST',
  path: '/api/v/campaign/{slug}/duplicate/',
  trailingSlash: true,
  auth: 'jwt_or_scope',
  scope: 'campaigns',
  role: 'developer',
  params: { slug },
  isThere: hasCampaign,
  body: Type.Object({
    name: NameInput,
    with_unresolved: Type.Boolean({ default: false, description: 'Copies prospects that are not resolved.' }),
  }),
  success: { status: 201, schema: CampaignBody },
  errors: ['campaign_not_found'],
  tag,
  summary: 'Make a campaign like this one, paused',
  examples: {
    body: { name: 'Renewals, second wave', with_unresolved: true },
    success: { ...campaignExample, slug: 'renewals-second-wave', name: 'Renewals, second wave', paused: true },
  },
  handler: async ({ body, params, tenant }, { clock }) => {
    const of = await requireCampaign(tenant, params.slug)
    const now = new Date(clock.nowMs())
    const json = <T>(value: T) => (value === null ? null : JSON.stringify(value))
    const {
      id: _,
      slug: __,
      lists: ___,
      version: ____,
      created_at,
      updated_at,
      deleted_at,
      workspace_id,
      ...fields
    } = of
    const made = await insertCampaign(
      tenant,
      {
        ...fields,
        name: body.name,
        // A copy starts inactive, for review.
        paused: true,
        from_numbers: json(fields.from_numbers),
        retry: json(fields.retry),
        holidays: json(fields.holidays),
        calling_days: json(fields.calling_days),
        stop_when: json(fields.stop_when),
        agent_tools: json(fields.agent_tools),
      } as CampaignFields,
      now,
    )
    const [list] = made.lists
    if (body.with_unresolved && list !== undefined) {
      await copyUnresolved(tenant, { fromCampaignId: of.id, campaign: made, listId: list.id }, now)
    }
    return bodyOf(tenant, made)
  },
})

export const campaignActions = [status, pausing('pause'), pausing('resume'), testCall, duplicate]
