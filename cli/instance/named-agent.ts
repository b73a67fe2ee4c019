import type { InstanceClient } from './instance-client.ts'

/** The fields of an agent that commands look at. */
export interface NamedAgent {
  agent_id: string
  agent_name: string
  /** The live version. */
  version: number | null
  unpublished_changes: boolean
}

const MAX_NAMES = 20

/**
 * The agent of that name or id; of undefined, the only one there is.
 *
 * @throws Error where no agent, or more than one, is meant
 */
export async function namedAgent(client: InstanceClient, wanted: string | undefined): Promise<NamedAgent> {
  const agents = (await client.all('/agents')) as unknown as NamedAgent[]
  const named = agents.filter(
    ({ agent_id, agent_name }) => wanted === undefined || wanted === agent_id || wanted === agent_name,
  )
  const [only] = named
  if (only !== undefined && named.length === 1) return only
  const names = agents.slice(0, MAX_NAMES).map(({ agent_name }) => agent_name)
  if (wanted === undefined) throw new Error(`Say which agent: --agent NAME; there are ${names.join(', ') || 'none'}`)
  throw new Error(
    named.length === 0
      ? `There is no agent "${wanted}"; there are ${names.join(', ') || 'none'}`
      : `${named.length} agents are called "${wanted}": name one by its id`,
  )
}
