import type { Store } from './database.ts'

/** What a tool of a running call works with. */
export interface ToolsOfCall {
  workspaceId: string
  /** As stored: secrets sealed. */
  tools: unknown[]
  dynamicVariables: Record<string, string>
  callType: 'phone' | 'web'
  /** Of the carrier of our number; undefined on the web. */
  provider: string | undefined
}

/** Undefined when the call or its agent is gone. */
export async function toolsOfCall(store: Store, callId: string): Promise<ToolsOfCall | undefined> {
  const row = await store.acrossTenants
    .selectFrom('calls')
    .innerJoin('agents', 'agents.id', 'calls.agent_id')
    .select([
      'calls.workspace_id as workspaceId',
      'agents.tools',
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
  if (found.callType === 'web' || ours === null) return { ...found, provider: undefined }
  const number = await store
    .tenant(found.workspaceId)
    .db.selectFrom('phone_numbers')
    .select('provider')
    .where('phone_number', '=', ours)
    .executeTakeFirst()
  return { ...found, provider: number?.provider }
}
