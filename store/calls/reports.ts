import { sql } from 'kysely'
import type { CallType } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { callSums, type SumSpan } from './call-sums.ts'

/** Sums over calls. A cost is `null` where no call of the group has a known price. */
export interface CallSums {
  calls: number
  answered: number
  durationMs: number
  tokens: number
  costLlm: number | null
  costStt: number | null
  costTts: number | null
  platformCost: number | null
  /** What of the others is billed to the workspace's own accounts. */
  ownKeysCost: number
}

interface DashboardSums {
  totals: CallSums
  byBucket: Map<number, CallSums>
  byAgent: Map<string, CallSums>
  byCallType: Map<CallType, CallSums>
}

const SUMS = sql`coalesce(sum(n), 0)::float8 as calls, coalesce(sum(answered), 0)::float8 as answered,
  coalesce(sum(duration_ms), 0)::float8 as "durationMs", coalesce(sum(tokens), 0)::float8 as tokens,
  case when sum(known_llm) > 0 then sum(cost_llm) end as "costLlm",
  case when sum(known_stt) > 0 then sum(cost_stt) end as "costStt",
  case when sum(known_tts) > 0 then sum(cost_tts) end as "costTts",
  case when sum(known_platform) > 0 then sum(platform_cost) end as "platformCost",
  coalesce(sum(cost_own_keys), 0)::float8 as "ownKeysCost"`

/**
 * Sums for the dashboard: in all, by bucket (its start in ms), by agent and by call type. Only the buckets need the
 * series' own grain; the rest is read from the daily sums.
 */
export async function dashboardSums(
  tenant: Tenant,
  span: SumSpan,
  interval: 'hour' | 'day' | 'week' | 'month',
): Promise<DashboardSums> {
  const [byInterval, byDay] = await Promise.all([
    callSums(tenant, span, interval === 'hour' ? 'hour' : 'day'),
    callSums(tenant, span, 'day'),
  ])
  const [buckets, groups] = await Promise.all([
    sql<CallSums & { bucket: Date }>`
      select date_trunc(${sql.lit(interval)}, at, 'UTC') as bucket, ${SUMS} from ${byInterval} as s
      group by 1`.execute(tenant.db),
    sql<CallSums & { agent_id: string | null; call_type: CallType | null }>`
      select agent_id, call_type, ${SUMS} from ${byDay} as s
      group by grouping sets ((), (agent_id), (call_type))`.execute(tenant.db),
  ])
  const sums: DashboardSums = { totals: NO_CALLS, byBucket: new Map(), byAgent: new Map(), byCallType: new Map() }
  for (const { bucket, ...row } of buckets.rows) if (row.calls > 0) sums.byBucket.set(bucket.getTime(), row)
  for (const { agent_id, call_type, ...row } of groups.rows) {
    if (agent_id === null && call_type === null) sums.totals = row
    // An agent to which calls were handed alone has no call, and tokens or costs.
    else if (agent_id !== null && (row.calls > 0 || row.tokens > 0 || (row.costTts ?? 0) > 0))
      sums.byAgent.set(agent_id, row)
    else if (row.calls > 0 && call_type !== null) sums.byCallType.set(call_type, row)
  }
  return sums
}

/** What a group without calls sums up to. */
export const NO_CALLS: CallSums = {
  calls: 0,
  answered: 0,
  durationMs: 0,
  tokens: 0,
  costLlm: null,
  costStt: null,
  costTts: null,
  platformCost: null,
  ownKeysCost: 0,
}

/** Sums of a span as a whole. */
export async function totalSums(tenant: Tenant, span: SumSpan): Promise<CallSums> {
  const { rows } = await sql<CallSums>`select ${SUMS} from ${await callSums(tenant, span, 'day')} as s`.execute(
    tenant.db,
  )
  return rows[0] ?? NO_CALLS
}

/** What a call came to: how its line ended, or what its analysis says. */
export type DispositionSource = 'line' | 'analysis'
const COLUMN_OF = { line: sql.ref('disposition'), analysis: sql.ref('analysed') } satisfies Record<
  DispositionSource,
  unknown
>

/** Sums by disposition, most calls first; calls that have none yet are left out. */
export async function dispositionSums(
  tenant: Tenant,
  span: SumSpan,
  by: DispositionSource,
): Promise<{ disposition: string; calls: number; answered: number; durationMs: number }[]> {
  const { rows } = await sql<{ disposition: string; calls: number; answered: number; durationMs: number }>`
    select ${COLUMN_OF[by]} as disposition, sum(n)::float8 as calls, sum(answered)::float8 as answered,
      sum(duration_ms)::float8 as "durationMs"
    from ${await callSums(tenant, span, 'day', by === 'analysis')} as s
    where ${COLUMN_OF[by]} <> ''
    group by 1 having sum(n) > 0
    order by 2 desc, 1`.execute(tenant.db)
  return rows
}

interface DispositionCount {
  bucket: Date
  disposition: string
  calls: number
}

/** How many calls came to which disposition, by bucket; buckets and dispositions without any are left out. */
export async function dispositionSeries(
  tenant: Tenant,
  span: SumSpan,
  by: DispositionSource,
  interval: 'hour' | 'day' | 'week' | 'month',
): Promise<DispositionCount[]> {
  const finest = interval === 'hour' ? 'hour' : 'day'
  const { rows } = await sql<DispositionCount>`
    select date_trunc(${sql.lit(interval)}, at, 'UTC') as bucket, ${COLUMN_OF[by]} as disposition,
      sum(n)::float8 as calls
    from ${await callSums(tenant, span, finest, by === 'analysis')} as s
    where ${COLUMN_OF[by]} <> ''
    group by 1, 2 having sum(n) > 0
    order by 1, 2`.execute(tenant.db)
  return rows
}

/** Names of agents, the last known one where the agent is gone. */
export async function agentNames(tenant: Tenant, agentIds: readonly string[]): Promise<Map<string, string>> {
  if (agentIds.length === 0) return new Map()
  const { rows } = await sql<{ id: string; name: string | null }>`
    select ids.id, coalesce(
      (select a.agent_name from agents a where a.id = ids.id and a.workspace_id = ${tenant.workspaceId}),
      (select c.agent_name from calls c where c.workspace_id = ${tenant.workspaceId} and c.agent_id = ids.id
        order by c.created_at desc, c.id desc limit 1)) as name
    from unnest(${agentIds}::uuid[]) as ids (id)`.execute(tenant.db)
  return new Map(rows.map((row) => [row.id, row.name ?? '']))
}
