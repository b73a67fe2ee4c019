import { mustBeAllowed, unallowedOf } from '../runtime/admission/served-agent.ts'
import { PatchbayError } from '../runtime/lib/errors.ts'
import { type AgentUse, type ServedAgent, servedAgent } from '../store/agents/served-agents.ts'
import type { Agent } from '../store/database/schema.ts'
import type { Tenant } from '../store/database/tenant.ts'
import { knowledgeSize } from '../store/knowledge/documents.ts'
import { countBoughtNumbers } from '../store/telephony/phone-numbers.ts'
import {
  exhaustedQuota,
  operatorQuotas,
  type Stock,
  stocksOf,
  usableProviders,
} from '../store/workspaces/workspace-quotas.ts'
import type { FallbacksInput } from './agents/fallbacks.ts'
import { type Fault, ValidationError } from './schema.ts'
import type { Services } from './services.ts'

/** What the operator allows a workspace, asked where something would begin. Calls at once are the runtime's to count. */

/** Throws `quota_reached` when the month is used up. */
export async function requireMonth({ store }: Pick<Services, 'store'>, { workspaceId }: Tenant): Promise<void> {
  const quota = await exhaustedQuota(store, workspaceId)
  if (quota !== undefined) throw full(quota)
}

/** Throws `quota_reached` when `more` agents, documents or bytes don't fit. */
export async function requireRoom(
  services: Pick<Services, 'store' | 'config'>,
  tenant: Tenant,
  more: Partial<Record<Stock, number>>,
): Promise<void> {
  const names = Object.keys(more) as Stock[]
  const room = await roomOf(services, tenant, names)
  for (const name of names) room(name, more[name] ?? 0)
}

/**
 * What is left of these stocks now, as a check for what comes piece by piece: called with how much came so far, it throws
 * `quota_reached` once that doesn't fit.
 */
export async function roomOf(
  { store, config }: Pick<Services, 'store' | 'config'>,
  tenant: Tenant,
  names: readonly Stock[],
): Promise<(name: Stock, more: number) => void> {
  const quotas = await operatorQuotas(store, tenant.workspaceId)
  const most = { ...quotas, storage_bytes: quotas.storage_bytes ?? config.storagePerWorkspaceBytes }
  const limited = names.filter((name) => most[name] !== null)
  const stocks = await stocksOf(tenant, limited)
  return (name, more) => {
    const limit = most[name]
    if (limit !== null && stocks[name] + more > limit) {
      throw full(`${limit} ${name.replace('_', ' ')}`)
    }
  }
}

/**
 * What is left of an agent's knowledge base now, as a check: called with how many documents are to come, it throws `quota_reached`
 * when they don't fit, or nothing does.
 */
export async function knowledgeRoom(
  { config }: Pick<Services, 'config'>,
  tenant: Tenant,
  agentId: string,
): Promise<(documents: number) => void> {
  const { documentsPerAgent, passagesPerAgent } = config
  const size = await knowledgeSize(tenant, agentId)
  return (documents) => {
    if (size.documents + documents > documentsPerAgent) throw full(`${documentsPerAgent} documents of an agent`)
    if (size.passages >= passagesPerAgent) throw full(`${passagesPerAgent} passages of an agent’s documents`)
  }
}

function full(quota: string): PatchbayError {
  return new PatchbayError('quota_reached', { params: { quota } })
}

/** Throws `purchases_refused` where the operator pays for none, and `quota_reached` where it is enough. */
export async function requirePurchases({ store }: Pick<Services, 'store'>, tenant: Tenant): Promise<void> {
  const { purchases, bought_numbers: most } = await operatorQuotas(store, tenant.workspaceId)
  if (!purchases) throw new PatchbayError('purchases_refused')
  if (most !== null && (await countBoughtNumbers(tenant)) >= most) throw full(`${most} bought phone numbers`)
}

/** Throws `own_keys_refused` where the operator lets the workspace use no keys of its own. */
export async function requireOwnKeys({ store }: Pick<Services, 'store'>, { workspaceId }: Tenant): Promise<void> {
  if (!(await operatorQuotas(store, workspaceId)).own_keys) throw new PatchbayError('own_keys_refused')
}

/** Throws 422 for each of these fields, and of the fallbacks, that names a provider the operator keeps from the workspace. */
export async function requireProviders(
  { store }: Pick<Services, 'store'>,
  { workspaceId }: Tenant,
  named: Readonly<Record<string, string | undefined>>,
  fallbacks: FallbacksInput = {},
): Promise<void> {
  const providers = await usableProviders(store, workspaceId)
  const faults = unallowedOf(named, fallbacks, providers).map(
    ({ at }): Fault => ({ loc: ['body', ...at], msg: mustBeAllowed(providers), type: 'enum' }),
  )
  if (faults.length > 0) throw new ValidationError(faults)
}

/** The agent as it may be served now. Throws `quota_reached` when the month is used up, or a provider is not allowed any more. */
export async function requireServed(
  { store }: Pick<Services, 'store'>,
  { workspaceId }: Tenant,
  agent: Agent,
  use: AgentUse = 'live',
): Promise<ServedAgent> {
  const found = await servedAgent(store, workspaceId, agent, use)
  if ('refused' in found) throw full(found.refused)
  return found.agent
}
