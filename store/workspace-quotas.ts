import { sql } from 'kysely'
import { callSums, DAY_MS } from './call-sums.ts'
import type { Store } from './database.ts'
import type { WorkspaceQuotasTable } from './schema.ts'

/** What the operator allows each workspace, and what it uses. */

export type OperatorQuotas = Omit<WorkspaceQuotasTable, 'workspace_id' | 'purchases'> & { purchases: boolean }

export interface WorkspaceUse {
  agents: number
  documents: number
  /** Of documents, as they were uploaded. */
  storage_bytes: number
  /** Queued, ringing and running. */
  calls_now: number
  minutes_this_month: number
  cost_usd_this_month: number
}

export const NO_QUOTAS: OperatorQuotas = {
  calls_at_once: null,
  web_sessions_at_once: null,
  agents: null,
  documents: null,
  storage_bytes: null,
  minutes_a_month: null,
  cost_usd_a_month: null,
  purchases: true,
  providers: null,
}

export async function operatorQuotas(store: Store, workspaceId: string): Promise<OperatorQuotas> {
  const row = await store.global
    .selectFrom('workspace_quotas')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  if (row === undefined) return NO_QUOTAS
  const { workspace_id: _, ...quotas } = row
  return quotas
}

/** Changes the given ones; the others keep their values. */
export async function setOperatorQuotas(
  store: Store,
  workspaceId: string,
  changes: Partial<OperatorQuotas>,
): Promise<void> {
  await store.global
    .insertInto('workspace_quotas')
    .values({ workspace_id: workspaceId, ...NO_QUOTAS, ...changes })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet({ workspace_id: workspaceId, ...changes }))
    .execute()
}

/** Minutes of calls and what they cost since the month began (UTC), by the sums that the database keeps of finished calls. */
export async function useThisMonth(store: Store, workspaceId: string): Promise<{ minutes: number; costUsd: number }> {
  const now = new Date()
  const span = { startMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth()), endMs: now.getTime() + DAY_MS }
  const { rows } = await sql<{ duration_ms: number; cost: number }>`
    select coalesce(sum(duration_ms), 0)::float8 as duration_ms,
      coalesce(sum(cost_llm + cost_stt + cost_tts + platform_cost), 0)::float8 as cost
    from ${callSums(store.tenant(workspaceId), span, 'day')} as s`.execute(store.acrossTenants)
  const [row] = rows
  return { minutes: (row?.duration_ms ?? 0) / 60_000, costUsd: row?.cost ?? 0 }
}

/** Which of the month's quotas is used up; undefined when there is room. */
export async function exhaustedQuota(store: Store, workspaceId: string): Promise<string | undefined> {
  const { minutes_a_month, cost_usd_a_month } = await operatorQuotas(store, workspaceId)
  if (minutes_a_month === null && cost_usd_a_month === null) return undefined
  const { minutes, costUsd } = await useThisMonth(store, workspaceId)
  if (minutes_a_month !== null && minutes >= minutes_a_month) return `${minutes_a_month} minutes of calls a month`
  if (cost_usd_a_month !== null && costUsd >= cost_usd_a_month) return `${cost_usd_a_month} USD a month`
  return undefined
}

export async function useOf(store: Store, workspaceId: string): Promise<WorkspaceUse> {
  const { db } = store.tenant(workspaceId)
  const [{ agents }, documents, { calls_now }, month] = await Promise.all([
    db
      .selectFrom('agents')
      .select((eb) => eb.fn.countAll<number>().as('agents'))
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('documents')
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.sum<string | null>('size_bytes').as('bytes')])
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('calls')
      .select((eb) => eb.fn.countAll<number>().as('calls_now'))
      .where('status', 'in', ['queued', 'ringing', 'in_progress'])
      .executeTakeFirstOrThrow(),
    useThisMonth(store, workspaceId),
  ])
  return {
    agents,
    documents: documents.count,
    storage_bytes: Number(documents.bytes ?? 0),
    calls_now,
    minutes_this_month: month.minutes,
    cost_usd_this_month: month.costUsd,
  }
}
