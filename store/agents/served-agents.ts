import { mustBeAllowed, type Served, servedOf } from '../../runtime/admission/served-agent.ts'
import type { Store } from '../database/database.ts'
import type { Agent } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { exhaustedQuota, operatorQuotas } from '../workspaces/workspace-quotas.ts'
import { agentOfVersion } from './agent-versions.ts'
import { agentById } from './agents.ts'

/** `agent_version`: which one it is; null: the draft. */
type VersionedAgent = Agent & { agent_version: number | null }

export type ServedAgent = Served<VersionedAgent>

/** Which version of an agent talks: the one that is live, the draft, or the version of this number. */
export type AgentUse = 'live' | 'draft' | number

/**
 * The agent as it may be served now, asked wherever a conversation or its analysis begins: in the version that is wanted, by the providers
 * that the operator allows the workspace, while its month is not used up. `refused` names the quota.
 * @param agent its row; where that is as the wanted version, no further query is made of it
 */
export async function servedAgent(
  store: Store,
  workspaceId: string,
  agent: Agent,
  use: AgentUse = 'live',
): Promise<{ agent: ServedAgent } | { refused: string }> {
  const month = await exhaustedQuota(store, workspaceId)
  if (month !== undefined) return { refused: month }
  const { providers } = await operatorQuotas(store, workspaceId)
  const chosen = await agentAsUsed(store.tenant(workspaceId), agent, use)
  if (chosen === undefined) return { refused: `version ${use} of the agent does not exist` }
  const found = servedOf(chosen, providers)
  if ('agent' in found) return found
  const { at, provider } = found.unallowed
  return { refused: `${at.join('.')} "${provider}" ${mustBeAllowed(providers)}` }
}

/** The agent in the version that is wanted, whether or not it may be served; undefined: there is no such version. */
export async function agentAsUsed(tenant: Tenant, agent: Agent, use: AgentUse): Promise<VersionedAgent | undefined> {
  const number = use === 'draft' ? null : use === 'live' ? agent.live_version : use
  const isRow = number === null || (number === agent.live_version && !agent.unpublished)
  const chosen = isRow ? agent : await agentOfVersion(tenant, agent, number)
  return chosen && { ...chosen, agent_version: number }
}

/** The same by the agent's id; undefined when the workspace has no such agent. */
export async function served(
  store: Store,
  workspaceId: string,
  agentId: string,
  { use }: { use: AgentUse },
): Promise<{ agent: ServedAgent } | { refused: string } | undefined> {
  const agent = await agentById(store.tenant(workspaceId), agentId)
  return agent && servedAgent(store, workspaceId, agent, use)
}
