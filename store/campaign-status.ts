import { type RawBuilder, sql } from 'kysely'
import { callOf } from './attempt-calls.ts'
import { OPEN_STATUSES } from './call-writes.ts'
import type { Tenant } from './tenant.ts'

/** What a status is made of: kept counts and a few rows by index, whatever the number of prospects. */

export interface Bucket {
  listId: string
  listActive: boolean
  windowGroup: number
  /** `fresh`, `retry`, either with `_unasked`; `calling`; or a resolution. */
  bucket: string
  n: number
}

export async function bucketsOf(tenant: Tenant, campaignId: string): Promise<Bucket[]> {
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
    .execute()
}

export interface Progress {
  total: number
  calling: number
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
      sql<number>`coalesce(sum(n) filter (where bucket = 'calling'), 0)::bigint`.as('calling'),
      sql<number>`coalesce(sum(n) filter (where bucket in ('fresh', 'fresh_unasked', 'retry', 'retry_unasked', 'calling')), 0)::bigint`.as(
        'unresolved',
      ),
    ])
    .where('prospect_counts.campaign_id', 'in', [...campaignIds])
    .where('prospect_lists.deleted_at', 'is', null)
    .groupBy('prospect_counts.campaign_id')
    .execute()
  return new Map(rows.map(({ id, ...progress }) => [id, progress]))
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

export async function retriesOf(
  tenant: Tenant,
  campaignId: string,
  windowGroups: readonly number[],
  now: Date,
): Promise<Retries[]> {
  if (windowGroups.length === 0) return []
  const most = Math.ceil(MOST_COUNTED / windowGroups.length)
  const those = (condition: RawBuilder<unknown>) => sql`
    from prospects where workspace_id = ${tenant.workspaceId} and campaign_id = ${campaignId}
      and window_group = g.id and status = 'waiting' and ${condition}`
  const { rows } = await sql<{ windowGroup: number; due: number; next: Date | null }>`
    select g.id as "windowGroup", due.n as due, later.next_attempt_at as next
    from unnest(${[...windowGroups]}::integer[]) as g (id)
    left join lateral (
      select next_attempt_at ${those(sql`next_attempt_at > ${now}`)} order by next_attempt_at limit 1
    ) as later on true
    -- Where none of them is later, nobody has to be counted.
    cross join lateral (
      select count(*)::int as n from (
        select ${those(sql`next_attempt_at <= ${now}`)} limit case when later.next_attempt_at is null then 1 else ${most} end
      ) as ripe
    ) as due`.execute(tenant.db)
  return rows.map((row) => (row.due > 0 && row.next === null ? { ...row, due: Number.POSITIVE_INFINITY } : row))
}

export interface CallStates {
  placing: number
  ringing: number
  talking: number
  /** Somebody picked up, and there is no agent yet. */
  waiting: number
  /** What those that are neither talking nor over are reckoned with. */
  seats: number
}

/** The campaign's calls that are not over. */
export async function callStatesOf(tenant: Tenant, campaignId: string): Promise<CallStates> {
  const { rows } = await sql<{ state: string; n: number; seats: number }>`
    select case when c.status = 'ringing' and c.picked_up_at is not null then 'waiting' else c.status end as state,
      count(*)::int as n, coalesce(sum(coalesce(c.seat_share, 1)) filter (where c.status <> 'in_progress'), 0) as seats
    from prospect_attempts a ${callOf(tenant.workspaceId, sql`status, picked_up_at, seat_share`)}
    where a.workspace_id = ${tenant.workspaceId} and a.campaign_id = ${campaignId} and a.ended_at is null
      and c.status = any(${OPEN_STATUSES})
    group by 1`.execute(tenant.db)
  const of = (state: string): number => rows.find((row) => row.state === state)?.n ?? 0
  return {
    placing: of('queued'),
    ringing: of('ringing'),
    talking: of('in_progress'),
    waiting: of('waiting'),
    seats: rows.reduce((sum, row) => sum + row.seats, 0),
  }
}

const RECENT_ATTEMPTS = 300

/**
 * Of the latest attempts how many asked for a seat, and who picked up within the last minute. One that still talks counts with
 * those that are over: were it left out, those who don't pick up would seem to be more than they are.
 */
export async function answersOf(tenant: Tenant, campaignId: string, now: Date) {
  const { workspaceId } = tenant
  const { rows } = await sql<{ attempts: number; picked_up: number; live: number; abandoned: number }>`
    select recent.*, minute.* from (
      select count(*)::int as attempts, (count(*) filter (where picked_up))::int as picked_up from (
        select coalesce(c.picked_up_at, c.answered_at) is not null as picked_up
        from (
          (select call_id, ended_at from prospect_attempts where workspace_id = ${workspaceId}
            and campaign_id = ${campaignId} and ended_at is null)
          union all
          (select call_id, ended_at from prospect_attempts where workspace_id = ${workspaceId}
            and campaign_id = ${campaignId} and ended_at is not null and outcome not in ('skipped', 'fault')
            order by ended_at desc limit ${sql.lit(RECENT_ATTEMPTS)})
        ) as a ${callOf(workspaceId, sql`picked_up_at, answered_at`)}
        where (a.ended_at is not null or coalesce(c.picked_up_at, c.answered_at) is not null)
        order by coalesce(c.picked_up_at, c.answered_at, a.ended_at) desc limit ${sql.lit(RECENT_ATTEMPTS)}
      ) as latest
    ) as recent cross join (
      select count(*)::int as live, (count(*) filter (where c.end_reason = 'abandoned'))::int as abandoned
      from (
        select call_id from prospect_attempts where workspace_id = ${workspaceId} and campaign_id = ${campaignId}
          and ended_at is null
        union all
        select call_id from prospect_attempts where workspace_id = ${workspaceId} and campaign_id = ${campaignId}
          and ended_at > ${now}::timestamptz - interval '1 minute'
      ) as a ${callOf(workspaceId, sql`picked_up_at, answered_at, end_reason`)}
      where coalesce(c.answered_at, c.picked_up_at) > ${now}::timestamptz - interval '1 minute'
    ) as minute`.execute(tenant.db)
  const [row] = rows
  return {
    recent: { attempts: row?.attempts ?? 0, pickedUp: row?.picked_up ?? 0 },
    minute: { live: row?.live ?? 0, abandoned: row?.abandoned ?? 0 },
  }
}

export interface DaySums {
  attempts: number
  answered: number
  humans: number
  machines: number
  abandoned: number
  cost: number
}

/** Today's sums (UTC), those of 30 days, and the cost of all. */
export async function daySumsOf(tenant: Tenant, campaignId: string, now: Date) {
  const today = now.toISOString().slice(0, 10)
  const since = new Date(now.getTime() - 30 * 86_400_000).toISOString().slice(0, 10)
  const sums = (condition: ReturnType<typeof sql>, name: string) =>
    ['attempts', 'answered', 'humans', 'machines', 'abandoned'].map((column) =>
      sql<number>`coalesce(sum(${sql.ref(column)}) filter (where ${condition}), 0)::int`.as(`${name}_${column}`),
    )
  const row = (await tenant.db
    .selectFrom('campaign_days')
    .select([
      ...sums(sql`day = ${today}::date`, 'today'),
      ...sums(sql`day >= ${since}::date`, 'month'),
      sql<number>`coalesce(sum(cost), 0)::double precision`.as('cost'),
    ])
    .where('campaign_id', '=', campaignId)
    .executeTakeFirstOrThrow()) as Record<string, number>
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
export async function sourceNumbersOf(
  tenant: Tenant,
  campaign: { agent_id: string | null; from_numbers: readonly string[]; max_calls_per_number_per_day: number },
  now: Date,
): Promise<{ number: string; attempts: number; lastAt: Date | null }[]> {
  const query = tenant.db.selectFrom('phone_numbers').select('phone_number')
  const numbers =
    campaign.from_numbers.length > 0
      ? await query.where('phone_number', 'in', [...campaign.from_numbers]).execute()
      : campaign.agent_id === null
        ? []
        : await query.where('agent_id', '=', campaign.agent_id).execute()
  if (numbers.length === 0) return []
  const since = new Date(now.getTime() - 86_400_000)
  const { rows: used } = await sql<{ number: string; n: number; last: Date | null }>`
    select t.number, counted.n, latest.created_at as last
    from unnest(${numbers.map((row) => row.phone_number)}::text[]) as t (number)
    cross join lateral (
      select count(*)::int as n from (
        select from prospect_attempts where workspace_id = ${tenant.workspaceId} and from_number = t.number
          and created_at > ${since} and charged limit ${campaign.max_calls_per_number_per_day}
      ) as used
    ) as counted
    left join lateral (
      select created_at from prospect_attempts where workspace_id = ${tenant.workspaceId} and from_number = t.number
        and created_at > ${since} order by created_at desc limit 1
    ) as latest on true`.execute(tenant.db)
  return numbers
    .map(({ phone_number }) => {
      const row = used.find(({ number }) => number === phone_number)
      return { number: phone_number, attempts: row?.n ?? 0, lastAt: row?.last ?? null }
    })
    .sort((a, b) => (a.number < b.number ? -1 : 1))
}

export async function runOf(tenant: Tenant, campaignId: string) {
  return tenant.db
    .selectFrom('campaign_runs')
    .select(['next_tick_at', 'resumed_at', 'last_tick'])
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst()
}
