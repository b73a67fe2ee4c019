import { type RawBuilder, sql } from 'kysely'
import type { CallType } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Which calls are summed; of a list any will do. */
export interface SumSpan {
  startMs: number
  /** Exclusive. */
  endMs: number
  agentId?: string | undefined
  /** Of the agent. */
  agentVersion?: number | undefined
  callType?: CallType | undefined
  dispositions?: readonly string[] | undefined
  statuses?: readonly string[] | undefined
  directions?: readonly string[] | undefined
  campaignSlugs?: readonly string[] | undefined
}

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
const HOURS_OF_DAY = Array.from({ length: 24 }, (_, hour) => hour)

/** What sums are kept by. */
const GROUPS = [
  'agent_id',
  'call_type',
  'disposition',
  'direction',
  'status',
  'campaign_slug',
  'analysed',
  'agent_version',
] as const
/** What is summed besides the number of calls, which `call_rollups` has as `calls` and all else as `n`. */
const FIGURES = [
  'answered',
  'duration_ms',
  'tokens',
  'cost_llm',
  'cost_stt',
  'cost_tts',
  'platform_cost',
  'cost_own_keys',
  'known_llm',
  'known_stt',
  'known_tts',
  'known_platform',
] as const
const list = (terms: readonly string[]): RawBuilder<unknown> => sql.raw(terms.join(', '))
const sums = (names: readonly string[]): string[] => names.map((name) => `sum(${name})`)

/** The columns of `call_rollups` behind workspace, grain and bucket. */
export const SUM_COLUMNS = list([...GROUPS, 'calls', ...FIGURES])
/** The same of `summed_calls` and of sums, to be grouped by GROUPED. */
export const SUMS_OF_CALLS = list([...GROUPS, ...sums(['n', ...FIGURES])])
export const SUMS_OF_SUMS = list([...GROUPS, ...sums(['calls', ...FIGURES])])
/** Numbers in a select list of workspace, grain, bucket and these. */
export const GROUPED = list(['1', '3', ...GROUPS.map((_, i) => String(i + 4))])

const KEPT = list(['bucket', ...GROUPS, 'call_rollups.calls', ...FIGURES])
/** A row of `summed_calls`: a call, or what of its use is another agent's. */
const SINGLE = list(['created_at', ...GROUPS, 'n', ...FIGURES])
const PARTS = list(['at', ...GROUPS, 'n', ...FIGURES])

const ceil = (atMs: number, stepMs: number): number => Math.ceil(atMs / stepMs) * stepMs
const floor = (atMs: number, stepMs: number): number => Math.floor(atMs / stepMs) * stepMs
const timestamp = (atMs: number): RawBuilder<unknown> => sql`${new Date(atMs).toISOString()}::timestamptz`
const timestamps = (startsMs: readonly number[]): RawBuilder<unknown> =>
  sql`${startsMs.map((atMs) => new Date(atMs).toISOString())}::timestamptz[]`

/** Which hours have sums, and which of them changed since. */
interface SumsState {
  foldedUntilMs: number
  /** Starts of hours of the span whose sums hold no more. */
  changedHoursMs: number[]
  /** Some hours have sums from before migration 0119, not by status. */
  plain: boolean
}

async function stateOf({ db, workspaceId }: Tenant, { startMs, endMs }: SumSpan): Promise<SumsState> {
  const inSpan = sql`workspace_id = ${workspaceId} and bucket >= ${timestamp(startMs)} and bucket < ${timestamp(endMs)}`
  const { rows } = await sql<{ until: Date; hours: Date[] | null; plain: boolean }>`
    select folded_until as until,
      (select array_agg(bucket) from call_rollup_changes where ${inSpan}) as hours,
      exists (select from call_rollups where grain = 'hour' and status = '' and ${inSpan}) as plain
    from call_rollup_state`.execute(db)
  const [row] = rows
  const foldedUntilMs = row?.until.getTime() ?? 0
  const changedHoursMs = (row?.hours ?? []).map((hour) => hour.getTime()).filter((hourMs) => hourMs < foldedUntilMs)
  return { foldedUntilMs, changedHoursMs, plain: row?.plain ?? false }
}

/**
 * The calls of a span as rows of sums, each of the moment `at`: whole days from the daily sums, whole hours beside them from
 * the hourly ones, and from the calls themselves the broken hours at both ends, what is too new to have sums, and hours
 * whose calls changed since they were summed.
 *
 * Which hours have sums is asked first, so that the planner sees the spans as values and reads them by their indexes. A fold
 * between the two questions does no harm: what it sums is read from the calls.
 *
 * @param finest the smallest bucket the caller will group by
 * @param inDetail the caller groups by what migration 0119 added
 */
export async function callSums(
  tenant: Tenant,
  span: SumSpan,
  finest: 'hour' | 'day',
  inDetail = false,
): Promise<RawBuilder<unknown>> {
  const { workspaceId } = tenant
  const only = onlyOf(span)
  const singles = (fromMs: number, toMs: number) =>
    sql`select ${SINGLE} from summed_calls where workspace_id = ${workspaceId} ${only}
      and created_at >= ${timestamp(fromMs)} and created_at < ${timestamp(toMs)}`
  const [hoursStart, hoursEnd] = [ceil(span.startMs, HOUR_MS), floor(span.endMs, HOUR_MS)]
  if (hoursStart >= hoursEnd) return joined([singles(span.startMs, span.endMs)])

  const { foldedUntilMs, changedHoursMs, plain } = await stateOf(tenant, { startMs: hoursStart, endMs: hoursEnd })
  const { agentVersion, statuses, directions, campaignSlugs } = span
  if (plain && (inDetail || (agentVersion ?? statuses ?? directions ?? campaignSlugs) !== undefined)) {
    return joined([singles(span.startMs, span.endMs)])
  }
  const summedEnd = Math.max(hoursStart, Math.min(hoursEnd, foldedUntilMs))
  const daysStart = finest === 'day' ? Math.min(ceil(hoursStart, DAY_MS), summedEnd) : summedEnd
  const daysEnd = Math.max(daysStart, floor(summedEnd, DAY_MS))
  const changedDaysMs = [...new Set(changedHoursMs.map((hourMs) => floor(hourMs, DAY_MS)))].filter(
    (dayMs) => dayMs >= daysStart && dayMs < daysEnd,
  )
  const hoursOfChangedDays = changedDaysMs.flatMap((dayMs) => HOURS_OF_DAY.map((hour) => dayMs + hour * HOUR_MS))

  const kept = (grain: 'day' | 'hour', where: RawBuilder<unknown>, unlessMs: readonly number[]) =>
    sql`select ${KEPT} from call_rollups
      where workspace_id = ${workspaceId} ${only} and grain = ${sql.lit(grain)} and ${where}
        ${unlessMs.length === 0 ? sql`` : sql`and bucket <> all(${timestamps(unlessMs)})`}`
  const between = (fromMs: number, toMs: number) => sql`bucket >= ${timestamp(fromMs)} and bucket < ${timestamp(toMs)}`
  const hours = (fromMs: number, toMs: number) => kept('hour', between(fromMs, toMs), changedHoursMs)
  return joined([
    ...nonEmpty(span.startMs, hoursStart, singles),
    ...nonEmpty(hoursStart, daysStart, hours),
    ...nonEmpty(daysStart, daysEnd, (from, to) => kept('day', between(from, to), changedDaysMs)),
    ...(hoursOfChangedDays.length === 0
      ? []
      : [kept('hour', sql`bucket = any(${timestamps(hoursOfChangedDays)})`, changedHoursMs)]),
    ...nonEmpty(daysEnd, summedEnd, hours),
    ...nonEmpty(summedEnd, span.endMs, singles),
    ...(changedHoursMs.length === 0
      ? []
      : [
          sql`select anew.* from unnest(${timestamps(changedHoursMs)}) as changed (hour) cross join lateral (
            select ${SINGLE} from summed_calls where workspace_id = ${workspaceId} ${only}
              and created_at >= hour and created_at < hour + interval '1 hour') as anew`,
        ]),
  ])
}

function onlyOf(span: SumSpan): RawBuilder<unknown> {
  const { agentId, agentVersion, callType, dispositions, statuses, directions, campaignSlugs } = span
  const anyOf = (column: string, values: readonly string[] | undefined) =>
    values === undefined ? [] : [sql`and ${sql.ref(column)} = any(${[...values]}::text[])`]
  const terms = [
    ...(agentId === undefined ? [] : [sql`and agent_id = ${agentId}::uuid`]),
    ...(agentVersion === undefined ? [] : [sql`and agent_version = ${agentVersion}`]),
    ...(callType === undefined ? [] : [sql`and call_type = ${callType}`]),
    ...anyOf('disposition', dispositions),
    ...anyOf('status', statuses),
    ...anyOf('direction', directions),
    ...anyOf('campaign_slug', campaignSlugs),
  ]
  return terms.length === 0 ? sql`` : sql.join(terms, sql` `)
}

function nonEmpty(
  fromMs: number,
  toMs: number,
  part: (fromMs: number, toMs: number) => RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  return fromMs < toMs ? [part(fromMs, toMs)] : []
}

function joined(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql`(select * from (${sql.join(parts, sql` union all `)}) as parts (${PARTS}))`
}
