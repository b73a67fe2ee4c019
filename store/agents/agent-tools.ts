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
  direction: 'inbound' | 'outbound'
  fromNumber: string | null
  toNumber: string | null
  /** Of the carrier of our number; undefined where we have none. */
  provider: string | undefined
  /** Our number in the call, on the web the agent's first one, and the trunk it was registered with. */
  ours: string | null
  trunk: string | null
  /** The other side's. */
  theirs: string | null
}

/**
 * Undefined when the call or its agent is gone.
 * @param by the agent that has the call; default: its first one
 */
export async function toolsOfCall(
  store: Store,
  callId: string,
  by?: { agentId: string; agentVersion?: number | undefined },
): Promise<ToolsOfCall | undefined> {
  const row = await store.acrossTenants
    .selectFrom('calls')
    .innerJoin('agents', (join) =>
      join
        .onRef('agents.workspace_id', '=', 'calls.workspace_id')
        .on((eb) => eb('agents.id', '=', by?.agentId ?? eb.ref('calls.agent_id'))),
    )
    .leftJoin('agent_versions', (join) =>
      join
        .onRef('agent_versions.agent_id', '=', 'agents.id')
        .on((eb) =>
          eb(
            'agent_versions.number',
            '=',
            by === undefined ? eb.ref('calls.agent_version') : (by.agentVersion ?? null),
          ),
        ),
    )
    .select([
      'calls.workspace_id as workspaceId',
      'agents.id as agentId',
      // Those of the version that talks, whatever was published meanwhile.
      sql<unknown[]>`coalesce(agent_versions.content -> 'tools', agents.tools)`.as('tools'),
      'agent_versions.number as agentVersion',
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
  return {
    ...found,
    direction,
    fromNumber: from_number,
    toNumber: to_number,
    provider,
    ours: ours ?? number?.phone_number ?? null,
    theirs,
    trunk,
  }
}
