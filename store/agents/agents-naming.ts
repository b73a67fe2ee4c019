import { sql } from 'kysely'
import type { Store } from '../database/database.ts'
import { contentsInUse } from './contents-in-use.ts'

/** The most that are listed: enough to see whose they are. */
const MAX_LISTED = 20

/**
 * The agents of any workspace that name a provider, or an instance of it (`acme:two`), also in their fallbacks and tools, or in a version that
 * calls get: at most 20, by the names of workspace and agent.
 */
export async function agentsNaming(
  store: Store,
  provider: string,
): Promise<{ workspace: string; agent: string; agentId: string }[]> {
  const { rows } = await sql<{ workspace: string; agent: string; agentId: string }>`
    select distinct w.name as workspace, used.agent_name as agent, used.id as "agentId"
    from (${contentsInUse(null)}) as used join workspaces w on w.id = used.workspace_id
    where exists (
      select from (
        select used.content ->> column_name from unnest('{llm_provider,stt_provider,tts_provider}'::text[]) column_name
        union all
        select entry ->> 'provider' from jsonb_each(used.content -> 'fallbacks') kind, jsonb_array_elements(
          case jsonb_typeof(kind.value) when 'array' then kind.value else '[]' end) entry
        union all
        select tool ->> 'plugin' from jsonb_array_elements(used.content -> 'tools') tool
      ) as named (provider)
      where split_part(named.provider, ':', 1) = ${provider})
    order by 1, 2 limit ${MAX_LISTED}`.execute(store.acrossTenants)
  return rows
}
