import { sql } from 'kysely'
import type { Tenant } from '../database/tenant.ts'
import { callOfAttempt } from './attempt-calls.ts'

/** Attempts whose calls are over get their outcome here. The call's terminal row decides; it never changes. */

export interface EndedAttempt {
  id: string
  prospect_id: string | null
  phone: string
  /** Our number that called. */
  from_number: string
  call_id: string
  created_at: Date
  /** The call's. */
  status: 'completed' | 'failed' | 'busy' | 'no_answer' | 'canceled'
  end_reason: string | null
  disposition: string | null
  error: string | null
  answered_by: string | null
  answered_at: Date | null
  placed_at: Date | null
  ended_at: Date
  duration_ms: number | null
  cost: number | null
  /** The callee asked in this very call not to be called. */
  opted_out: boolean
  /** The prospect's; null where it was deleted. */
  attempts: number | null
  faults_in_row: number | null
  parts_tried: string[] | null
  call_back_at: Date | null
  zones: string[] | null
}

export interface Settled {
  attempt: EndedAttempt
  outcome: string
  charged: boolean
  resolution: string | undefined
  nextAttemptAt: Date | undefined
  faultsInARow: number
  partsTried: readonly string[]
}

/** Attempts settled in one transaction. */
export const MOST_SETTLED_AT_ONCE = 300

/** Settles attempts of a campaign, a few hundred at most; returns how many. `decide` returns the outcome of each. */
export function settleAttempts(
  tenant: Tenant,
  campaignId: string,
  decide: (attempt: EndedAttempt) => Settled,
  now: Date,
): Promise<Settled[]> {
  const { workspaceId } = tenant
  return tenant.db.transaction().execute(async (db) => {
    const { rows } = await sql<EndedAttempt>`
      select a.id, a.prospect_id, a.phone, a.from_number, a.call_id, a.created_at, c.status, c.end_reason, c.disposition, c.error,
        c.answered_by, c.answered_at, c.placed_at, coalesce(c.ended_at, ${now}) as ended_at, c.duration_ms,
        c.cost_llm + c.cost_stt + c.cost_tts + c.platform_cost as cost,
        exists (select from do_not_call n where n.workspace_id = ${workspaceId} and n.phone = a.phone
          and n.call_id = a.call_id) as opted_out,
        p.attempts, p.faults_in_row, p.parts_tried, p.call_back_at, g.zones
      from prospect_attempts a
      ${callOfAttempt(
        workspaceId,
        sql`status, end_reason, disposition, error, answered_by, answered_at, placed_at, ended_at, duration_ms,
        cost_llm, cost_stt, cost_tts, platform_cost`,
      )}
      left join prospects p on p.id = a.prospect_id and p.workspace_id = ${workspaceId}
      left join window_groups g on g.id = p.window_group
      where a.workspace_id = ${workspaceId} and a.campaign_id = ${campaignId} and a.ended_at is null
        and c.status in ('completed', 'failed', 'busy', 'no_answer', 'canceled')
      order by a.id limit ${sql.lit(MOST_SETTLED_AT_ONCE)} for update of a skip locked`.execute(db)
    const settled = rows.map(decide)
    if (settled.length === 0) return []
    await sql`
      update prospect_attempts a set ended_at = t.ended_at, outcome = t.outcome, charged = t.charged, cost = t.cost,
        answered_by = t.answered_by, skipped_for = t.skipped_for, skipped_sentence = t.skipped_sentence
      from unnest(
        ${settled.map(({ attempt }) => attempt.id)}::uuid[],
        ${settled.map(({ attempt }) => attempt.ended_at)}::timestamptz[],
        ${settled.map(({ outcome }) => outcome)}::text[],
        ${settled.map(({ charged }) => charged)}::boolean[],
        ${settled.map(({ attempt }) => attempt.cost)}::double precision[],
        ${settled.map(({ attempt }) => attempt.answered_by)}::text[],
        ${settled.map(({ attempt, outcome }) => (outcome === 'skipped' ? (attempt.disposition ?? 'canceled') : null))}::text[],
        ${settled.map(({ attempt, outcome }) => (outcome === 'skipped' ? attempt.error : null))}::text[]
      ) as t (id, ended_at, outcome, charged, cost, answered_by, skipped_for, skipped_sentence)
      where a.id = t.id and a.workspace_id = ${workspaceId} and a.ended_at is null`.execute(db)
    await sql`
      update prospects p set
        status = case when t.resolution is null then 'waiting' else 'resolved' end, resolution = t.resolution,
        disposition = case when t.outcome = 'skipped' then p.disposition else t.outcome end,
        attempts = p.attempts + t.charged::int, faults_in_row = t.faults, parts_tried = string_to_array(t.parts, ' '),
        resolution_reason = t.reason, next_attempt_at = t.next_attempt_at, call_back_at = case when t.resolution is null then p.call_back_at end
      from unnest(
        ${settled.map(({ attempt }) => attempt.prospect_id)}::uuid[],
        ${settled.map(({ outcome }) => outcome)}::text[],
        ${settled.map(({ charged }) => charged)}::boolean[],
        ${settled.map(({ resolution }) => resolution ?? null)}::text[],
        ${settled.map(({ faultsInARow }) => faultsInARow)}::integer[],
        ${settled.map(({ partsTried }) => partsTried.join(' '))}::text[],
        ${settled.map(({ nextAttemptAt }) => nextAttemptAt ?? null)}::timestamptz[],
        ${settled.map(({ attempt, resolution }) => (resolution === 'failed' ? attempt.error : null))}::text[]
      ) as t (id, outcome, charged, resolution, faults, parts, next_attempt_at, reason)
      where p.id = t.id and p.workspace_id = ${workspaceId} and p.status = 'calling'`.execute(db)
    await addToDay(tenant.workspaceId, db, campaignId, settled, now)
    return settled
  })
}

async function addToDay(
  workspaceId: string,
  db: Tenant['db'],
  campaignId: string,
  settled: readonly Settled[],
  now: Date,
): Promise<void> {
  const count = (test: (one: Settled) => boolean): number => settled.filter(test).length
  const dialled = settled.filter(({ outcome }) => outcome !== 'skipped')
  const answered = count(
    ({ attempt, outcome }) =>
      attempt.answered_at !== null || attempt.disposition === 'voicemail' || outcome === 'abandoned',
  )
  const machines = count(({ outcome }) => outcome === 'voicemail')
  const cost = settled.reduce((sum, { attempt }) => sum + (attempt.cost ?? 0), 0)
  await sql`
    insert into campaign_days as d (campaign_id, workspace_id, day, attempts, answered, humans, machines, abandoned, faults, cost)
    values (${campaignId}, ${workspaceId}, ${now.toISOString().slice(0, 10)}, ${dialled.length}, ${answered},
      ${Math.max(0, answered - machines)}, ${machines}, ${count(({ outcome }) => outcome === 'abandoned')},
      ${count(({ outcome }) => outcome === 'fault' || outcome === 'blocked')}, ${cost})
    on conflict (campaign_id, day) do update set attempts = d.attempts + excluded.attempts,
      answered = d.answered + excluded.answered, humans = d.humans + excluded.humans,
      machines = d.machines + excluded.machines, abandoned = d.abandoned + excluded.abandoned,
      faults = d.faults + excluded.faults, cost = d.cost + excluded.cost`.execute(db)
}

/** Calls of the campaign that were not placed in time. */
export async function overdueCalls(tenant: Tenant, campaignId: string, before: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select a.call_id as id from prospect_attempts a ${callOfAttempt(tenant.workspaceId, sql`status, placed_at`)}
    where a.workspace_id = ${tenant.workspaceId} and a.campaign_id = ${campaignId} and a.ended_at is null
      and a.created_at < ${before} and c.status = 'queued'
      and c.placed_at is null
    limit 100`.execute(tenant.db)
  return rows.map(({ id }) => id)
}

/** Of the last `window` attempts that ended since: how many there are and how many ended in a fault or were blocked. */
export async function recentFaults(
  tenant: Tenant,
  campaignId: string,
  since: Date,
  window: number,
): Promise<{ attempts: number; faults: number }> {
  const { rows } = await sql<{ attempts: number; faults: number }>`
    select count(*)::int as attempts, (count(*) filter (where outcome in ('fault', 'blocked')))::int as faults from (
      select outcome from prospect_attempts where workspace_id = ${tenant.workspaceId} and campaign_id = ${campaignId}
        and ended_at > ${since} and outcome <> 'skipped' order by ended_at desc limit ${window}
    ) as last`.execute(tenant.db)
  return rows[0] ?? { attempts: 0, faults: 0 }
}
