import { type RawBuilder, sql } from 'kysely'
import type { CallType } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Which calls are summed. */
export interface SumSpan {
  startMs: number
  /** Exclusive. */
  endMs: number
  agentId?: string | undefined
  /** Of the agent; its calls are summed one by one. */
  agentVersion?: number | undefined
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

/** A row of `summed_calls`: a call, or what of its use is another agent's. */
const SINGLE = sql`created_at as at, agent_id, call_type, disposition, n, answered, duration_ms, tokens,
  cost_llm, cost_stt, cost_tts, platform_cost, known_llm, known_stt, known_tts, known_platform`

/** Which hours have sums, and which of them changed since. */
interface SumsState {
  foldedUntilMs: number
  /** Starts of hours of the span whose sums hold no more. */
  changedHoursMs: number[]
}

async function stateOf({ db, workspaceId }: Tenant, { startMs, endMs }: SumSpan): Promise<SumsState> {
  const { rows } = await sql<{ until: Date; hours: Date[] | null }>`
    select folded_until as until, (
      select array_agg(bucket) from call_rollup_changes
      where workspace_id = ${workspaceId} and bucket >= ${timestamp(startMs)} and bucket < ${timestamp(endMs)}
    ) as hours
    from call_rollup_state`.execute(db)
  const [row] = rows
  const foldedUntilMs = row?.until.getTime() ?? 0
  const changedHoursMs = (row?.hours ?? []).map((hour) => hour.getTime()).filter((hourMs) => hourMs < foldedUntilMs)
  return { foldedUntilMs, changedHoursMs }
}

/**
 * The calls of a span as rows of sums, each of the moment `at`: whole days from the daily sums, whole hours beside them from
 * the hourly ones, and from the calls themselves the broken hours at both ends, what is too new to have sums, and hours
 * whose calls changed since they were summed. `finest` is the smallest bucket the caller will group by.
 *
 * Which hours have sums is asked first, so that the planner sees the spans as values and reads them by their indexes. A fold
 * between the two questions does no harm: what it sums is read from the calls.
 */
export async function callSums(tenant: Tenant, span: SumSpan, finest: 'hour' | 'day'): Promise<RawBuilder<unknown>> {
  const { agentId, agentVersion, callType, campaign } = span
  const { workspaceId } = tenant
  const only = sql`${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}::uuid`}
    ${callType === undefined ? sql`` : sql`and call_type = ${callType}`}`
  const singles = (fromMs: number, toMs: number) =>
    sql`select ${SINGLE} from summed_calls where workspace_id = ${workspaceId} ${only}
      and created_at >= ${timestamp(fromMs)} and created_at < ${timestamp(toMs)}
      ${campaign === undefined ? sql`` : sql`and campaign_slug = ${campaign}`}
      ${agentVersion === undefined ? sql`` : sql`and agent_version = ${agentVersion}`}`
  const [hoursStart, hoursEnd] = [ceil(span.startMs, HOUR_MS), floor(span.endMs, HOUR_MS)]
  const isKept = campaign === undefined && agentVersion === undefined
  if (!isKept || hoursStart >= hoursEnd) return sql`(${singles(span.startMs, span.endMs)})`

  const { foldedUntilMs, changedHoursMs } = await stateOf(tenant, { startMs: hoursStart, endMs: hoursEnd })
  const summedEnd = Math.max(hoursStart, Math.min(hoursEnd, foldedUntilMs))
  const daysStart = finest === 'day' ? Math.min(ceil(hoursStart, DAY_MS), summedEnd) : summedEnd
  const daysEnd = Math.max(daysStart, floor(summedEnd, DAY_MS))
  const changedDaysMs = [...new Set(changedHoursMs.map((hourMs) => floor(hourMs, DAY_MS)))].filter(
    (dayMs) => dayMs >= daysStart && dayMs < daysEnd,
  )
  const hoursOfChangedDays = changedDaysMs.flatMap((dayMs) => HOURS_OF_DAY.map((hour) => dayMs + hour * HOUR_MS))

  const kept = (grain: 'day' | 'hour', where: RawBuilder<unknown>) =>
    sql`select bucket, ${SUMMED} from call_rollups
      where workspace_id = ${workspaceId} ${only} and grain = ${sql.lit(grain)} and ${where}`
  const between = (fromMs: number, toMs: number) => sql`bucket >= ${timestamp(fromMs)} and bucket < ${timestamp(toMs)}`
  const but = (startsMs: readonly number[]) =>
    startsMs.length === 0 ? sql`` : sql`and bucket <> all(${timestamps(startsMs)})`
  const parts = [
    ...nonEmpty(span.startMs, hoursStart, singles),
    ...nonEmpty(hoursStart, daysStart, (from, to) => kept('hour', sql`${between(from, to)} ${but(changedHoursMs)}`)),
    ...nonEmpty(daysStart, daysEnd, (from, to) => kept('day', sql`${between(from, to)} ${but(changedDaysMs)}`)),
    ...(hoursOfChangedDays.length === 0
      ? []
      : [kept('hour', sql`bucket = any(${timestamps(hoursOfChangedDays)}) ${but(changedHoursMs)}`)]),
    ...nonEmpty(daysEnd, summedEnd, (from, to) => kept('hour', sql`${between(from, to)} ${but(changedHoursMs)}`)),
    ...nonEmpty(summedEnd, span.endMs, singles),
    ...(changedHoursMs.length === 0
      ? []
      : [
          sql`select anew.* from unnest(${timestamps(changedHoursMs)}) as changed (hour) cross join lateral (
            select ${SINGLE} from summed_calls where workspace_id = ${workspaceId} ${only}
              and created_at >= hour and created_at < hour + interval '1 hour') as anew`,
        ]),
  ]
  return sql`(select * from (${sql.join(parts, sql` union all `)}) as parts (at, agent_id, call_type, disposition, n,
    answered, duration_ms, tokens, cost_llm, cost_stt, cost_tts, platform_cost,
    known_llm, known_stt, known_tts, known_platform))`
}

const HOURS_OF_DAY = Array.from({ length: 24 }, (_, hour) => hour)

const timestamps = (startsMs: readonly number[]): RawBuilder<unknown> =>
  sql`${startsMs.map((atMs) => new Date(atMs).toISOString())}::timestamptz[]`

function nonEmpty(
  fromMs: number,
  toMs: number,
  part: (fromMs: number, toMs: number) => RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  return fromMs < toMs ? [part(fromMs, toMs)] : []
}
