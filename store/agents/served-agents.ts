import { mustBeAllowed, type Served, servedOf } from '../../runtime/admission/served-agent.ts'
import { chooseVersion, type RolloutFacts } from '../../runtime/rollouts/choose-version.ts'
import type { Store } from '../database/database.ts'
import type { Agent } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { exhaustedQuota, usableProviders } from '../workspaces/workspace-quotas.ts'
import { agentOfVersion } from './agent-versions.ts'
import { agentById } from './agents.ts'

/** `agent_version`: which one it is; null: the draft. `rollout_id`: of the rollout whose split chose it. */
type VersionedAgent = Agent & { agent_version: number | null; rollout_id: string | null }

export type ServedAgent = Served<VersionedAgent>

/**
 * Which version of an agent talks: the one that is live, the draft, the version of this number, or for a call that begins the one that its
 * rollout chooses.
 */
export type AgentUse = 'live' | 'draft' | number | RolloutFacts

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
  const providers = await usableProviders(store, workspaceId)
  const chosen = await agentAsUsed(store.tenant(workspaceId), agent, use)
  if (chosen === undefined) return { refused: `version ${versionOf(agent, use).version} of the agent does not exist` }
  const found = servedOf(chosen, providers)
  if ('agent' in found) return found
  const { at, provider } = found.unallowed
  return { refused: `${at.join('.')} "${provider}" ${mustBeAllowed(providers)}` }
}

/** The agent in the version that is wanted, whether or not it may be served; undefined: there is no such version. */
export async function agentAsUsed(tenant: Tenant, agent: Agent, use: AgentUse): Promise<VersionedAgent | undefined> {
  const { version: number, rolloutId } = versionOf(agent, use)
  const isRow = number === null || (number === agent.live_version && !agent.unpublished)
  const chosen = isRow ? agent : await agentOfVersion(tenant, agent, number)
  return chosen && { ...chosen, agent_version: number, rollout_id: rolloutId }
}

/** Null: the draft. */
function versionOf(
  { live_version: live, rollout }: Agent,
  use: AgentUse,
): { version: number | null; rolloutId: string | null } {
  if (use === 'draft' || typeof use === 'number') return { version: use === 'draft' ? null : use, rolloutId: null }
  if (rollout?.status === 'running' && typeof use === 'object') {
    const { version, bySplit } = chooseVersion(rollout, use)
    return { version, rolloutId: bySplit ? rollout.id : null }
  }
  const isHeld = rollout?.stopped !== undefined && rollout.stopped.live === live
  return { version: isHeld ? rollout.stopped!.serves : live, rolloutId: null }
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
