import { sql } from 'kysely'
import type { Store } from '../database/database.ts'

/** The most that are listed: enough to see whose they are. */
const MAX_LISTED = 20

/**
 * The agents of any workspace that name a provider, or an instance of it (`acme:two`), also in their fallbacks: at most 20, by the names
 * of workspace and agent.
 */
export async function agentsNaming(
  store: Store,
  provider: string,
): Promise<{ workspace: string; agent: string; agentId: string }[]> {
  const isIt = (value: ReturnType<typeof sql<string>>) => sql<boolean>`split_part(${value}, ':', 1) = ${provider}`
  const inFallbacks = sql<boolean>`exists (
    select from jsonb_each(agents.fallbacks) kind, jsonb_array_elements(
      case jsonb_typeof(kind.value) when 'array' then kind.value else '[]' end) entry
    where ${isIt(sql<string>`entry ->> 'provider'`)})`
  const columns = ['llm_provider', 'stt_provider', 'tts_provider'] as const
  return store.acrossTenants
    .selectFrom('agents')
    .innerJoin('workspaces', 'workspaces.id', 'agents.workspace_id')
    .select(['workspaces.name as workspace', 'agents.agent_name as agent', 'agents.id as agentId'])
    .where((eb) => eb.or([...columns.map((column) => isIt(sql.ref<string>(`agents.${column}`))), inFallbacks]))
    .orderBy('workspaces.name')
    .orderBy('agents.agent_name')
    .limit(MAX_LISTED)
    .execute()
}
