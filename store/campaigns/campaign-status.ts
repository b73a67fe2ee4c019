import { type RawBuilder, sql } from 'kysely'
import { REST_LOOKBACK, restsUntil } from '../../runtime/dialing/number-rest.ts'
import type { Tenant } from '../database/tenant.ts'
import { callOfAttempt } from './attempt-calls.ts'

/** The sources of a status: stored counts and a few rows by index, independent of the number of prospects and calls. */

export interface Bucket {
  listId: string
  listActive: boolean
  windowGroup: number
  /** `fresh`, `retry`, either with `_unasked`; `calling`; or a resolution. */
  bucket: string
  n: number
}

export const bucketsOf = (tenant: Tenant, campaignId: string): Promise<Bucket[]> =>
  buckets(tenant, campaignId).execute()

export function buckets(tenant: Tenant, campaignId: string) {
  return tenant.db
    .selectFrom('prospect_counts')
    .innerJoin('prospect_lists', 'prospect_lists.id', 'prospect_counts.list_id')
    .select([
      'prospect_counts.list_id as listId',
      'prospect_lists.active as listActive',
      'prospect_counts.window_group as windowGroup',
      'prospect_counts.bucket',
      'prospect_counts.n',
    ])
    .where('prospect_counts.campaign_id', '=', campaignId)
    .where('prospect_lists.deleted_at', 'is', null)
    .where('prospect_counts.n', '>', 0)
}

export interface Progress {
  total: number
  /** Calls that are not over. */
  live: number
  unresolved: number
}

/** Of several campaigns at once, by id. */
export async function progressOf(tenant: Tenant, campaignIds: readonly string[]): Promise<Map<string, Progress>> {
  if (campaignIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('prospect_counts')
    .innerJoin('prospect_lists', 'prospect_lists.id', 'prospect_counts.list_id')
    .select([
      'prospect_counts.campaign_id as id',
      sql<number>`coalesce(sum(n), 0)::bigint`.as('total'),
      (eb) =>
        eb
          .selectFrom('campaign_call_counts as calls')
          .select(sql<number>`coalesce(sum(calls.n), 0)::bigint`.as('n'))
          .whereRef('calls.campaign_id', '=', 'prospect_counts.campaign_id')
          .as('live'),
      sql<number>`coalesce(sum(n) filter (where bucket in ('fresh', 'fresh_unasked', 'retry', 'retry_unasked', 'calling')), 0)::bigint`.as(
        'unresolved',
      ),
    ])
    .where('prospect_counts.campaign_id', 'in', [...campaignIds])
    .where('prospect_lists.deleted_at', 'is', null)
    .groupBy('prospect_counts.campaign_id')
    .execute()
  return new Map(rows.map(({ id, live, ...progress }) => [id, { ...progress, live: live ?? 0 }]))
}

/** A window group's retries: how many are due, and when the first of the others is. */
export interface Retries {
  windowGroup: number
  /** Infinite where all are; counted to a limit where some are. */
  due: number
  next: Date | null
}

/** Of all groups. */
const MOST_COUNTED = 50_000

/** Of the groups in which anybody waits. */
export function retries({ workspaceId }: Tenant, campaignId: string, now: Date): RawBuilder<Retries> {
  const those = (condition: RawBuilder<unknown>) => sql`
    from prospects where workspace_id = ${workspaceId} and campaign_id = ${campaignId}
      and window_group = g.id and status = 'waiting' and ${condition}`
  return sql`(
    with g as materialized (
      select distinct window_group as id from prospect_counts where workspace_id = ${workspaceId}
        and campaign_id = ${campaignId} and n > 0 and bucket in ('retry', 'retry_unasked')
    )
    select g.id as "windowGroup", due.n as due, later.next_attempt_at as next
    from g
    left join lateral (
      select next_attempt_at ${those(sql`next_attempt_at > ${now}`)} order by next_attempt_at limit 1
    ) as later on true
    -- Where none of them is later, nobody has to be counted.
    cross join lateral (
      select count(*)::int as n from (
        select ${those(sql`next_attempt_at <= ${now}`)}
        limit case when later.next_attempt_at is null then 1 else (select ceil(${sql.lit(MOST_COUNTED)}::float8 / count(*)) from g) end
      ) as ripe
    ) as due)`
}

interface CallStates {
  placing: number
  ringing: number
  talking: number
  /** Picked up and waiting for an agent. */
  waiting: number
  /** What those that are neither talking nor over are reckoned with. */
  seats: number
}

/** Rows that were counted together are one afterwards: a turn adds them up once there are so many. */
const MOST_UNFOLDED = 100

interface StateCount {
  state: string
  n: number
  seats: number
  /** It is made of. */
  rows: number
}

export function stateCounts({ workspaceId }: Tenant, campaignId: string): RawBuilder<StateCount> {
  return sql`(
    select state, sum(n)::int as n, sum(seats)::double precision as seats, count(*)::int as rows
    from campaign_call_counts where workspace_id = ${workspaceId} and campaign_id = ${campaignId} group by state)`
}

export function callStates(counts: readonly StateCount[]): CallStates {
  const of = (state: string): number => counts.find((row) => row.state === state)?.n ?? 0
  return {
    placing: of('queued'),
    ringing: of('ringing'),
    talking: of('in_progress'),
    waiting: of('waiting'),
    seats: counts.reduce((sum, row) => sum + row.seats, 0),
  }
}

/** The campaign's calls that are not over, those that test it apart. */
export async function callStatesOf(tenant: Tenant, campaignId: string): Promise<CallStates> {
  const { rows } = await sql<StateCount>`select * from ${stateCounts(tenant, campaignId)} as counts`.execute(tenant.db)
  if (rows.reduce((sum, row) => sum + row.rows, 0) > MOST_UNFOLDED) await foldCallCounts(tenant, campaignId)
  return callStates(rows)
}

/** Adds up what was counted; those that another process just adds up are left to it. */
export async function foldCallCounts({ workspaceId, db }: Tenant, campaignId: string): Promise<void> {
  await sql`
    with gone as (
      delete from campaign_call_counts where ctid = any (array(
        select ctid from campaign_call_counts where workspace_id = ${workspaceId} and campaign_id = ${campaignId}
        for update skip locked))
      returning state, n, seats
    )
    insert into campaign_call_counts (campaign_id, workspace_id, state, n, seats)
    select ${campaignId}::uuid, ${workspaceId}::uuid, state, sum(n), sum(seats) from gone
    group by state having sum(n) <> 0 or sum(seats) <> 0`.execute(db)
}

/** So many of the latest attempts say how many pick up, and of those of the last minutes more where there were more: they say it more surely. */
const LEAST_RECENT = 300
const MOST_RECENT = 1_000
const RECENT = sql`interval '2 minutes'`

/**
 * Of the latest attempts how many asked for a seat, and who picked up within the last minute. One that still talks counts with
 * those that are over: were it left out, those who don't pick up would seem to be more than they are.
 */
export async function answersOf(tenant: Tenant, campaignId: string, now: Date) {
  const { workspaceId } = tenant
  const { rows } = await sql<{ attempts: number; picked_up: number; live: number; abandoned: number }>`
    select recent.*, minute.* from (
      select count(*)::int as attempts, (count(*) filter (where picked_up))::int as picked_up from (
        select coalesce(c.picked_up_at, c.answered_at) is not null as picked_up,
          coalesce(c.picked_up_at, c.answered_at, a.ended_at) as at,
          row_number() over (order by coalesce(c.picked_up_at, c.answered_at, a.ended_at) desc) as nth
        from (
          (select call_id, ended_at from prospect_attempts where workspace_id = ${workspaceId}
            and campaign_id = ${campaignId} and ended_at is null)
          union all
          (select call_id, ended_at from prospect_attempts where workspace_id = ${workspaceId}
            and campaign_id = ${campaignId} and ended_at is not null and outcome not in ('skipped', 'fault', 'blocked')
            order by ended_at desc limit ${sql.lit(MOST_RECENT)})
        ) as a ${callOfAttempt(workspaceId, sql`picked_up_at, answered_at`)}
        where (a.ended_at is not null or coalesce(c.picked_up_at, c.answered_at) is not null)
        order by nth limit ${sql.lit(MOST_RECENT)}
      ) as latest where nth <= ${sql.lit(LEAST_RECENT)} or at > ${now}::timestamptz - ${RECENT}
    ) as recent cross join (
      select count(*)::int as live, (count(*) filter (where c.end_reason = 'abandoned'))::int as abandoned
      from (
        select call_id from prospect_attempts where workspace_id = ${workspaceId} and campaign_id = ${campaignId}
          and ended_at is null
        union all
        select call_id from prospect_attempts where workspace_id = ${workspaceId} and campaign_id = ${campaignId}
          and ended_at > ${now}::timestamptz - interval '1 minute'
      ) as a ${callOfAttempt(workspaceId, sql`picked_up_at, answered_at, end_reason`)}
      where coalesce(c.answered_at, c.picked_up_at) > ${now}::timestamptz - interval '1 minute'
    ) as minute`.execute(tenant.db)
  const [row] = rows
  return {
    recent: { attempts: row?.attempts ?? 0, pickedUp: row?.picked_up ?? 0 },
    minute: { live: row?.live ?? 0, abandoned: row?.abandoned ?? 0 },
  }
}

interface DaySums {
  attempts: number
  answered: number
  humans: number
  machines: number
  abandoned: number
}

/** Today's sums (UTC), those of 30 days, and the cost of all. */
export async function daySumsOf(tenant: Tenant, campaignId: string, now: Date) {
  return daySums(await dayRow(tenant, campaignId, now).executeTakeFirstOrThrow())
}

export type DayRow = Readonly<Record<string, number>>

export function dayRow(tenant: Tenant, campaignId: string, now: Date) {
  const today = now.toISOString().slice(0, 10)
  const since = new Date(now.getTime() - 30 * 86_400_000).toISOString().slice(0, 10)
  const sums = (condition: ReturnType<typeof sql>, name: string) =>
    ['attempts', 'answered', 'humans', 'machines', 'abandoned'].map((column) =>
      sql<number>`coalesce(sum(${sql.ref(column)}) filter (where ${condition}), 0)::int`.as(`${name}_${column}`),
    )
  return tenant.db
    .selectFrom('campaign_days')
    .select([
      ...sums(sql`day = ${today}::date`, 'today'),
      ...sums(sql`day >= ${since}::date`, 'month'),
      sql<number>`coalesce(sum(cost), 0)::double precision`.as('cost'),
    ])
    .where('campaign_id', '=', campaignId)
}

export function daySums(row: DayRow): { today: DaySums; month: DaySums; cost: number } {
  const part = (name: string) => ({
    attempts: row[`${name}_attempts`] ?? 0,
    answered: row[`${name}_answered`] ?? 0,
    humans: row[`${name}_humans`] ?? 0,
    machines: row[`${name}_machines`] ?? 0,
    abandoned: row[`${name}_abandoned`] ?? 0,
  })
  return { today: part('today'), month: part('month'), cost: row.cost ?? 0 }
}

/**
 * The numbers the campaign calls from, its own or its agent's, with their attempts of 24 hours, counted up to the campaign's cap.
 * Unregistered ones are left out.
 */
export async function sourceNumbersOf(tenant: Tenant, campaign: CallsFrom, now: Date): Promise<CampaignNumber[]> {
  const { rows } = await sql<CampaignNumber>`select * from ${sourceNumbers(tenant, campaign, now)} as numbers`.execute(
    tenant.db,
  )
  return rows
}

export interface CampaignNumber {
  number: string
  attempts: number
  lastAt: Date | null
  /** For each callee of a blocked call among its latest attempts: when the last of these ended; ISO 8601. */
  blockedAt: string[]
}

/** Until when the number rests, because networks block its calls; undefined: it may call. */
export const restOf = ({ blockedAt }: Pick<CampaignNumber, 'blockedAt'>, now: Date): number | undefined =>
  restsUntil(blockedAt.map(Date.parse), now.getTime())

type CallsFrom = { agent_id: string | null; from_numbers: readonly string[]; max_calls_per_number_per_day: number }

export function sourceNumbers({ workspaceId }: Tenant, campaign: CallsFrom, now: Date): RawBuilder<CampaignNumber> {
  const since = new Date(now.getTime() - 86_400_000)
  const own =
    campaign.from_numbers.length > 0
      ? sql`p.phone_number = any(${[...campaign.from_numbers]}::text[])`
      : sql`p.agent_id = ${campaign.agent_id}`
  return sql`(
    select p.phone_number as number, counted.n as attempts, latest.created_at as "lastAt", blocks.at as "blockedAt"
    from phone_numbers p
    cross join lateral (
      select count(*)::int as n from (
        select from prospect_attempts where workspace_id = ${workspaceId} and from_number = p.phone_number
          and created_at > ${since} and charged limit ${campaign.max_calls_per_number_per_day}
      ) as used
    ) as counted
    left join lateral (
      select created_at from prospect_attempts where workspace_id = ${workspaceId} and from_number = p.phone_number
        and created_at > ${since} order by created_at desc limit 1
    ) as latest on true
    cross join lateral (
      -- One callee whose network blocks us several times says nothing of the number.
      select coalesce(json_agg(at), '[]') as at from (select max(ended_at) as at from (
        select phone, outcome, ended_at from prospect_attempts where workspace_id = ${workspaceId}
          and from_number = p.phone_number and created_at > ${since} and ended_at is not null and outcome <> 'skipped'
        order by created_at desc limit ${sql.lit(REST_LOOKBACK)}
      ) as recent where outcome = 'blocked' group by phone) as callees
    ) as blocks
    where p.workspace_id = ${workspaceId} and ${own} order by p.phone_number collate "C")`
}

export const runOf = (tenant: Tenant, campaignId: string) => selectRun(tenant, campaignId).executeTakeFirst()

export function selectRun(tenant: Tenant, campaignId: string) {
  return tenant.db
    .selectFrom('campaign_runs')
    .select(['next_tick_at', 'resumed_at', 'last_tick'])
    .where('campaign_id', '=', campaignId)
}
