import { type RawBuilder, sql } from 'kysely'
import type { CallType } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Which calls are summed. */
export interface SumSpan {
  startMs: number
  /** Exclusive. */
  endMs: number
  agentId?: string | undefined
  callType?: CallType | undefined
  /** Slug; its calls are summed one by one, by their index. */
  campaign?: string | undefined
}

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

const ceil = (atMs: number, stepMs: number): number => Math.ceil(atMs / stepMs) * stepMs
const floor = (atMs: number, stepMs: number): number => Math.floor(atMs / stepMs) * stepMs
const timestamp = (atMs: number): RawBuilder<unknown> => sql`${new Date(atMs).toISOString()}::timestamptz`

const SUMMED = sql`agent_id, call_type, disposition, call_rollups.calls, answered, duration_ms, tokens,
  cost_llm, cost_stt, cost_tts, platform_cost, known_llm, known_stt, known_tts, known_platform`

/** A call as a row of sums. */
const SINGLE = sql`created_at as at, agent_id, call_type, coalesce(disposition, '') as disposition, 1 as n,
  (answered_at is not null)::int as answered, coalesce(duration_ms, 0) as duration_ms,
  llm_input_tokens + llm_output_tokens as tokens, coalesce(cost_llm, 0) as cost_llm, coalesce(cost_stt, 0) as cost_stt,
  coalesce(cost_tts, 0) as cost_tts, coalesce(platform_cost, 0) as platform_cost,
  (cost_llm is not null)::int as known_llm, (cost_stt is not null)::int as known_stt,
  (cost_tts is not null)::int as known_tts, (platform_cost is not null)::int as known_platform`

/**
 * The calls of a span as rows of sums, each of the moment `at`: whole days from the daily sums, whole hours beside them from
 * the hourly ones, and from the calls themselves the broken hours at both ends, what is too new to have sums, and hours
 * whose calls changed since they were summed. `finest` is the smallest bucket the caller will group by.
 */
export function callSums(tenant: Tenant, span: SumSpan, finest: 'hour' | 'day'): RawBuilder<unknown> {
  const { agentId, callType, campaign } = span
  const { workspaceId } = tenant
  const only = sql`${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}::uuid`}
    ${callType === undefined ? sql`` : sql`and call_type = ${callType}`}`
  const singles = (from: RawBuilder<unknown>, to: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`select ${SINGLE} from calls where workspace_id = ${workspaceId} ${only} and created_at >= ${from} and created_at < ${to}
      ${campaign === undefined ? sql`` : sql`and campaign_slug = ${campaign}`}`
  const [hoursStart, hoursEnd] = [ceil(span.startMs, HOUR_MS), floor(span.endMs, HOUR_MS)]
  if (campaign !== undefined || hoursStart >= hoursEnd) {
    return sql`(${singles(timestamp(span.startMs), timestamp(span.endMs))})`
  }
  const [first, last] = [timestamp(hoursStart), timestamp(hoursEnd)]
  const daysStart = finest === 'day' ? ceil(hoursStart, DAY_MS) : hoursEnd
  const daysEnd = finest === 'day' ? Math.max(daysStart, floor(hoursEnd, DAY_MS)) : hoursEnd
  const [firstDay, lastDay] = [timestamp(Math.min(daysStart, hoursEnd)), timestamp(Math.min(daysEnd, hoursEnd))]
  const parts = [
    ...(span.startMs < hoursStart ? [singles(timestamp(span.startMs), first)] : []),
    ...(hoursEnd < span.endMs ? [singles(last, timestamp(span.endMs))] : []),
    sql`select bucket, ${SUMMED} from call_rollups cross join state
      where workspace_id = ${workspaceId} ${only} and grain = 'day' and bucket >= ${firstDay} and bucket < ${lastDay}
        and bucket + interval '1 day' <= folded_until and bucket not in (select day from changed_days)`,
    sql`select whole_hours.* from by_hour cross join state cross join lateral (
        select bucket, ${SUMMED} from call_rollups
        where workspace_id = ${workspaceId} ${only} and grain = 'hour' and bucket >= hours_from and bucket < least(hours_to, folded_until)
          and bucket not in (select hour from changed)
      ) as whole_hours`,
    sql`select newest.* from state cross join lateral (
        ${singles(sql`greatest(${first}, folded_until)`, last)}) as newest`,
    sql`select anew.* from changed cross join lateral (
        ${singles(sql`hour`, sql`hour + interval '1 hour'`)}) as anew`,
  ]
  return sql`(
    with state as (select folded_until from call_rollup_state),
    changed as (
      select bucket as hour from call_rollup_changes cross join state
      where workspace_id = ${workspaceId} and bucket >= ${first} and bucket < least(${last}, folded_until)
    ),
    changed_days as (select distinct date_trunc('day', hour, 'UTC') as day from changed),
    by_hour (hours_from, hours_to) as (
      select * from (
        select ${first}, ${firstDay}
        union all select ${lastDay}, ${last}
        union all select greatest(${firstDay}, date_trunc('day', folded_until, 'UTC')), ${lastDay} from state
        union all select day, day + interval '1 day' from changed_days cross join state
          where day >= ${firstDay} and day < ${lastDay} and day < date_trunc('day', folded_until, 'UTC')
      ) as ranges (hours_from, hours_to) where hours_from < hours_to
    )
    select * from (${sql.join(parts, sql` union all `)}) as parts (at, agent_id, call_type, disposition, n,
      answered, duration_ms, tokens, cost_llm, cost_stt, cost_tts, platform_cost,
      known_llm, known_stt, known_tts, known_platform))`
}
