import { type RawBuilder, sql } from 'kysely'

/**
 * What calls and editors work with, as a query of `id, workspace_id, agent_name, content`: of each agent the draft, the live version and those
 * of its rollout. Null: of all workspaces.
 */
export function contentsInUse(workspaceId: string | null): RawBuilder<unknown> {
  return sql`
    select a.id, a.workspace_id, a.agent_name, used.content
    from agents a cross join lateral (
      select to_jsonb(a) as content
      union all
      select v.content
      from agent_versions v
      join (
        select a.live_version as number
        union select served::int from jsonb_path_query(a.rollout, '$.split[*].version') served
        union select served::int from jsonb_path_query(a.rollout, '$.rules[*].version') served
      ) as served on served.number = v.number
      where v.agent_id = a.id
    ) as used
    where a.workspace_id = coalesce(${workspaceId}::uuid, a.workspace_id)`
}
