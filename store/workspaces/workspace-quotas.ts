import { sql } from 'kysely'
import { ALL_COUNTRIES } from '../../runtime/dialing/dial-policy.ts'
import { providersOfOwnKeys } from '../accounts/workspace-keys.ts'
import { countAgents } from '../agents/agents.ts'
import { chatSpending } from '../agents/chats.ts'
import { callSums, DAY_MS, HOUR_MS } from '../calls/call-sums.ts'
import type { Store } from '../database/database.ts'
import type { WorkspaceQuotasTable } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** What the operator allows each workspace, and what it uses. */

export type OperatorQuotas = Omit<WorkspaceQuotasTable, 'workspace_id' | 'purchases' | 'own_keys'> & {
  purchases: boolean
  own_keys: boolean
}

/** Bytes are those of documents as they were uploaded. */
export interface WorkspaceUse extends Record<Stock, number> {
  /** Queued, ringing and running. */
  calls_now: number
  minutes_this_month: number
  cost_usd_this_month: number
}

/** Quotas of a workspace made by an operator or before quotas existed: none set. */
const NO_QUOTAS: OperatorQuotas = {
  calls_at_once: null,
  web_sessions_at_once: null,
  agents: null,
  documents: null,
  storage_bytes: null,
  minutes_a_month: null,
  cost_usd_a_month: null,
  purchases: true,
  bought_numbers: null,
  providers: null,
  own_keys: true,
  dial_countries: [ALL_COUNTRIES],
  dial_number_types: null,
}

const BOUGHT_NUMBERS = 10

/** Quotas of a workspace made by sign-up: nothing that costs the operator money until the operator allows it. */
export function limitedQuotas(providers: readonly string[] | null): OperatorQuotas {
  return {
    ...NO_QUOTAS,
    purchases: false,
    bought_numbers: BOUGHT_NUMBERS,
    providers: providers === null ? null : [...providers],
    dial_countries: null,
  }
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

/** The providers its agents may use: those that the operator allows, and those of its own keys; null: all. */
export async function usableProviders(store: Store, workspaceId: string): Promise<readonly string[] | null> {
  const { providers, own_keys } = await operatorQuotas(store, workspaceId)
  if (providers === null || !own_keys) return providers
  return [...new Set([...providers, ...(await providersOfOwnKeys(store.tenant(workspaceId)))])]
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

/**
 * Minutes of calls, and what they and chats cost the operator, since the month began (UTC): by the sums that the database keeps of finished calls, and
 * what was noted of chats.
 */
async function useThisMonth(store: Store, workspaceId: string): Promise<{ minutes: number; costUsd: number }> {
  const now = new Date()
  const endMs = Math.ceil(now.getTime() / HOUR_MS) * HOUR_MS + DAY_MS
  const span = { startMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth()), endMs }
  const tenant = store.tenant(workspaceId)
  const ofCalls = await callSums(tenant, span, 'day')
  const [{ rows }, chatsUsd] = await Promise.all([
    sql<{ duration_ms: number; cost: number }>`
      select coalesce(sum(duration_ms), 0)::float8 as duration_ms,
        coalesce(sum(cost_llm + cost_stt + cost_tts + platform_cost - cost_own_keys), 0)::float8 as cost
      from ${ofCalls} as s`.execute(tenant.db),
    chatSpending(tenant, now),
  ])
  const [row] = rows
  return { minutes: (row?.duration_ms ?? 0) / 60_000, costUsd: (row?.cost ?? 0) + chatsUsd }
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

/** What a workspace keeps. */
export type Stock = 'agents' | 'documents' | 'storage_bytes'

/** How much it has of these stocks; 0 of the others. */
export async function stocksOf(tenant: Tenant, names: readonly Stock[]): Promise<Record<Stock, number>> {
  const stocks = { agents: 0, documents: 0, storage_bytes: 0 }
  if (names.includes('agents')) stocks.agents = await countAgents(tenant)
  if (names.includes('documents') || names.includes('storage_bytes')) {
    const { count, bytes } = await tenant.db
      .selectFrom('documents')
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.sum<string | null>('size_bytes').as('bytes')])
      .executeTakeFirstOrThrow()
    stocks.documents = count
    stocks.storage_bytes = Number(bytes ?? 0)
  }
  return stocks
}

export async function useOf(store: Store, workspaceId: string): Promise<WorkspaceUse> {
  const tenant = store.tenant(workspaceId)
  const [stocks, { calls_now }, month] = await Promise.all([
    stocksOf(tenant, ['agents', 'documents', 'storage_bytes']),
    tenant.db
      .selectFrom('calls')
      .select((eb) => eb.fn.countAll<number>().as('calls_now'))
      .where('status', 'in', ['queued', 'ringing', 'in_progress'])
      .executeTakeFirstOrThrow(),
    useThisMonth(store, workspaceId),
  ])
  return {
    ...stocks,
    calls_now,
    minutes_this_month: month.minutes,
    cost_usd_this_month: month.costUsd,
  }
}
