import { PatchbayError } from '../../runtime/lib/errors.ts'
import { agentById } from '../../store/agents/agents.ts'
import type { Agent } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { agentExample } from './schema.ts'

/** The parameter of routes of one agent. */
export const agent_id = {
  description: 'The agent.',
  notFound: 'agent_not_found',
  example: agentExample.agent_id,
} as const

/** @throws PatchbayError agent_not_found */
export async function requireAgent(tenant: Tenant, agentId: string): Promise<Agent> {
  const agent = await agentById(tenant, agentId)
  if (agent === undefined) throw new PatchbayError('agent_not_found')
  return agent
}
