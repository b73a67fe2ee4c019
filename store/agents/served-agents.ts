import { mustBeAllowed, type Served, servedOf } from '../../runtime/admission/served-agent.ts'
import type { Store } from '../database/database.ts'
import type { Agent } from '../database/schema.ts'
import { exhaustedQuota, operatorQuotas } from '../workspaces/workspace-quotas.ts'

export type ServedAgent = Served<Agent>

/**
 * The agent as it may be served now, asked wherever a conversation or its analysis begins: by the providers that the operator allows the
 * workspace, while its month is not used up. `refused` names the quota.
 */
export async function servedAgent(
  store: Store,
  workspaceId: string,
  agent: Agent,
): Promise<{ agent: ServedAgent } | { refused: string }> {
  const month = await exhaustedQuota(store, workspaceId)
  if (month !== undefined) return { refused: month }
  const { providers } = await operatorQuotas(store, workspaceId)
  const found = servedOf(agent, providers)
  if ('agent' in found) return found
  const { at, provider } = found.unallowed
  return { refused: `${at.join('.')} "${provider}" ${mustBeAllowed(providers)}` }
}
