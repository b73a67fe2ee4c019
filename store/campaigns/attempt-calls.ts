import { type RawBuilder, sql } from 'kysely'

/**
 * Joins `c`, the workspace's calls of the attempts `a`, one by one by their key, with these columns. A plan may not do it otherwise:
 * while a campaign begins, what the planner knows of either table is many times too small, and every other join of
 * thousands with thousands takes seconds then.
 */
export function callOfAttempt(workspaceId: string, columns: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    join lateral (select workspace_id = ${workspaceId} as own, ${columns} from calls where calls.id = a.call_id offset 0)
      as c on c.own`
}
