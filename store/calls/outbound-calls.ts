import { type ExpressionBuilder, sql } from 'kysely'
import { agentById } from '../agents/agents.ts'
import type { Store } from '../database/database.ts'
import type { Agent, AllTables, Call, Campaign, QueueStrategy } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Outbound calls on their way to the carrier. `placed_at` is the line between "never dialled" and "never dial again". */

/** A call that waits to be dialled. Agent and provider are missing when they were deleted meanwhile. */
export interface CallToPlace {
  call: Call
  agent: Agent | undefined
  /** The plugin that carries the calling number. */
  provider: string | undefined
  /** The name of the trunk that number was registered with. */
  trunk: string | null
  /** Of the campaign, in ms; undefined: the operator's. */
  wrapUpMs: number | undefined
  /** Of the campaign: which slot it takes. */
  strategy: QueueStrategy | undefined
  /** What the agent may do because the call is a campaign's. */
  campaignTools: Campaign['agent_tools']
  /** The campaign's announcement for a callee who picks up while no agent is free. */
  abandonedMessage: string
}

/** A batch's call is placed while the batch runs. */
const mayBePlaced = (eb: ExpressionBuilder<AllTables, 'calls'>) =>
  eb.or([
    eb('calls.batch_id', 'is', null),
    eb.exists(
      eb
        .selectFrom('batches')
        .select('batches.id')
        .whereRef('batches.id', '=', 'calls.batch_id')
        .where('batches.status', '=', 'running')
        .forShare(),
    ),
  ])

/** Undefined when the call was placed, canceled or never was, or its batch rests. */
export async function findCallToPlace(tenant: Tenant, callId: string): Promise<CallToPlace | undefined> {
  const call = await tenant.db
    .selectFrom('calls')
    .selectAll()
    .where('id', '=', callId)
    .where('status', '=', 'queued')
    .where('direction', '=', 'outbound')
    .where('placed_at', 'is', null)
    .where(mayBePlaced)
    .executeTakeFirst()
  if (call === undefined) return undefined
  const [agent, number, campaign] = await Promise.all([
    call.agent_id === null ? undefined : agentById(tenant, call.agent_id),
    tenant.db
      .selectFrom('phone_numbers')
      .select(['provider', 'trunk'])
      .where('phone_number', '=', call.from_number ?? '')
      .executeTakeFirst(),
    call.campaign_slug === null
      ? undefined
      : tenant.db
          .selectFrom('campaigns')
          .select(['wrap_up_time', 'queue_strategy', 'agent_tools', 'abandoned_message'])
          .where('slug', '=', call.campaign_slug)
          .where('deleted_at', 'is', null)
          .executeTakeFirst(),
  ])
  return {
    call,
    agent,
    provider: number?.provider,
    trunk: number?.trunk ?? null,
    campaignTools: campaign?.agent_tools ?? [],
    wrapUpMs: campaign && campaign.wrap_up_time * 1_000,
    strategy: campaign?.queue_strategy,
    abandonedMessage: campaign?.abandoned_message ?? '',
  }
}

/** A prospect's call is dialled while its campaign runs; no row's call goes to a number that asked not to be called. */
const mayBeDialled = (eb: ExpressionBuilder<AllTables, 'calls'>) => {
  // A value, not a condition: of a condition the planner makes a table of all attempts of the workspace.
  const runs = eb
    .selectFrom('prospect_attempts')
    .innerJoin('campaigns', 'campaigns.id', 'prospect_attempts.campaign_id')
    .select(sql<boolean>`campaigns.active and not campaigns.paused and campaigns.deleted_at is null`.as('runs'))
    .whereRef('prospect_attempts.call_id', '=', 'calls.id')
    .forShare('campaigns')
  const listed = eb.selectFrom('do_not_call').select('phone').whereRef('phone', '=', 'calls.to_number')
  return eb.and([
    eb.or([eb('calls.campaign_slug', 'is', null), eb(eb.fn.coalesce(runs, sql<boolean>`true`), '=', true)]),
    eb.or([
      eb.and([eb('calls.campaign_slug', 'is', null), eb('calls.batch_id', 'is', null)]),
      eb.not(eb.exists(listed)),
    ]),
  ])
}

/**
 * Committed before the carrier is asked. Of all that try, one gets true: only that one may dial. The batch's row is held until
 * then, and the campaign's, so that no call is placed after a pause was answered.
 */
export async function markPlaced(tenant: Tenant, callId: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('calls')
    .set({ placed_at: at })
    .where('id', '=', callId)
    .where('status', '=', 'queued')
    .where('placed_at', 'is', null)
    .where(mayBePlaced)
    .where(mayBeDialled)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Calls that have waited to be placed since before `before`: of each workspace the oldest, at most `limitEach`. */
export async function callsToPlace(
  store: Store,
  before: Date,
  limitEach: number,
): Promise<{ id: string; workspace_id: string; batch_id: string | null; campaign_slug: string | null }[]> {
  const { rows } = await sql<{
    id: string
    workspace_id: string
    batch_id: string | null
    campaign_slug: string | null
  }>`
    select id, workspace_id, batch_id, campaign_slug from (
      select c.id, c.workspace_id, c.batch_id, c.campaign_slug, c.created_at,
        row_number() over (partition by c.workspace_id order by c.created_at) as place
      from calls c left join batches b on b.id = c.batch_id
      where c.direction = 'outbound' and c.status = 'queued' and c.placed_at is null and c.created_at < ${before}
        and (c.batch_id is null or b.status = 'running')
    ) as waiting
    where place <= ${limitEach} order by place, created_at`.execute(store.acrossTenants)
  return rows
}

function countWaiting({ db }: Tenant) {
  return db
    .selectFrom('calls')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('direction', '=', 'outbound')
    .where('status', '=', 'queued')
    .where('placed_at', 'is', null)
}

/** Number of queued campaign calls without a prospect. */
export async function countWaitingTestCalls(tenant: Tenant): Promise<number> {
  const { count } = await countWaiting(tenant)
    .where('campaign_slug', 'is not', null)
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('prospect_attempts as a').select('a.id').whereRef('a.call_id', '=', 'calls.id'))),
    )
    .executeTakeFirstOrThrow()
  return count
}

/** How many calls of the workspace wait to be placed. */
export async function countWaitingCalls(tenant: Tenant): Promise<number> {
  const { count } = await countWaiting(tenant).executeTakeFirstOrThrow()
  return count
}
