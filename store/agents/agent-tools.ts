import { sql } from 'kysely'
import type { Store } from '../database/database.ts'

/** What a tool of a running call works with. */
export interface ToolsOfCall {
  workspaceId: string
  agentId: string
  agentVersion: number | null
  /** As stored: secrets sealed. */
  tools: unknown[]
  dynamicVariables: Record<string, string>
  callType: 'phone' | 'web'
  /** Of the carrier of our number; undefined where we have none. */
  provider: string | undefined
  /** Our number in the call, on the web the agent's first one, and the trunk it was registered with. */
  ours: string | null
  trunk: string | null
  /** The other side's. */
  theirs: string | null
}

/** Undefined when the call or its agent is gone. */
export async function toolsOfCall(store: Store, callId: string): Promise<ToolsOfCall | undefined> {
  const row = await store.acrossTenants
    .selectFrom('calls')
    .innerJoin('agents', 'agents.id', 'calls.agent_id')
    .leftJoin('agent_versions', (join) =>
      join
        .onRef('agent_versions.agent_id', '=', 'calls.agent_id')
        .onRef('agent_versions.number', '=', 'calls.agent_version'),
    )
    .select([
      'calls.workspace_id as workspaceId',
      'calls.agent_id as agentId',
      // Those of the version that talks, whatever was published meanwhile.
      sql<unknown[]>`coalesce(agent_versions.content -> 'tools', agents.tools)`.as('tools'),
      'calls.agent_version as agentVersion',
      'calls.dynamic_variables as dynamicVariables',
      'calls.call_type as callType',
      'calls.direction',
      'calls.from_number',
      'calls.to_number',
    ])
    .where('calls.id', '=', callId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { direction, from_number, to_number, ...found } = row
  const ours = direction === 'outbound' ? from_number : to_number
  const theirs = direction === 'outbound' ? to_number : from_number
  const numbers = store
    .tenant(found.workspaceId)
    .db.selectFrom('phone_numbers')
    .select(['provider', 'trunk', 'phone_number'])
  const isOurs =
    ours === null
      ? numbers.where('agent_id', '=', found.agentId).orderBy('created_at')
      : numbers.where('phone_number', '=', ours)
  const number = await isOurs.limit(1).executeTakeFirst()
  const { provider, trunk = null } = number ?? {}
  return { ...found, provider, ours: ours ?? number?.phone_number ?? null, theirs, trunk }
}
