import { sql } from 'kysely'
import { OPEN_STATUSES } from '../calls/open-calls.ts'
import type { Store } from '../database/database.ts'

/** Rows a statement removes: a few hundred milliseconds at most, so that a stop or a lock never waits long. */
const ROWS_A_STATEMENT = 5_000

/** Every table with a workspace, those that others refer to after them. A call's own triggers still need its sums. */
export const TABLES_OF_A_WORKSPACE = [
  'chat_messages',
  'chats',
  'chat_spending',
  'vector_segments',
  'chunks',
  'upload_parts',
  'uploads',
  'documents',
  'prospects',
  'prospect_counts',
  'prospect_attempts',
  'prospect_rejects',
  'prospect_uploads',
  'prospect_lists',
  'campaign_days',
  'campaign_runs',
  'campaigns',
  'do_not_call',
  'batch_items',
  'batches',
  'call_turns',
  'call_events',
  'call_ladders',
  'refused_calls',
  'call_analyses',
  'call_shares',
  'calls',
  // Removing calls that are not over counts them out.
  'campaign_call_counts',
  'phone_numbers',
  'trunk_addresses',
  'trunks',
  'extensions',
  'agent_versions',
  'test_cases',
  'test_runs',
  'agent_tests',
  'agents',
  'api_keys',
  'workspace_provider_keys',
  'idempotency_keys',
  'workspace_quotas',
  'workspace_retention',
  'webhook_deliveries',
  'webhooks',
  'workspace_events',
  'trunk_hosts',
  'carrier_numbers',
  'one_time_links',
  'invitations',
  'memberships',
  'call_rollups',
  'call_rollup_changes',
] as const

/** Workspaces that were deleted but still have a row, oldest first. */
export async function deletedWorkspaces(store: Store, limit: number): Promise<string[]> {
  const rows = await store.global
    .selectFrom('workspaces')
    .select('id')
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** Calls of a workspace that are not over. */
export async function openCallsOf(store: Store, workspaceId: string): Promise<string[]> {
  const rows = await store
    .tenant(workspaceId)
    .db.selectFrom('calls')
    .select('id')
    .where('status', 'in', OPEN_STATUSES)
    .execute()
  return rows.map((row) => row.id)
}

/**
 * Removes all rows of a deleted workspace and then its own, a few thousand a statement. Can be broken off at any moment
 * and called again. Refuses a workspace that is not deleted. Returns the number of rows removed. With `keepNumbers` its phone
 * numbers stay, and so does its own row.
 */
export async function purgeWorkspace(
  store: Store,
  workspaceId: string,
  signal: AbortSignal,
  { keepNumbers = false } = {},
): Promise<number> {
  const workspace = await store.global
    .selectFrom('workspaces')
    .select('deleted_at')
    .where('id', '=', workspaceId)
    .executeTakeFirst()
  if (workspace === undefined) return 0
  if (workspace.deleted_at === null) throw new Error(`Workspace "${workspaceId}" is not deleted; its data stay`)
  let removed = 0
  for (const table of TABLES_OF_A_WORKSPACE) {
    if (keepNumbers && table === 'phone_numbers') continue
    for (let gone = ROWS_A_STATEMENT; gone === ROWS_A_STATEMENT; removed += gone) {
      signal.throwIfAborted()
      const name = sql.table(table)
      // In a partitioned table rows of several partitions share a ctid: the second condition excludes rows of other workspaces.
      const result = await sql`
        delete from ${name} where ctid = any (array(
          select ctid from ${name} where workspace_id = ${workspaceId} limit ${ROWS_A_STATEMENT}))
        and workspace_id = ${workspaceId}`.execute(store.acrossTenants)
      gone = Number(result.numAffectedRows ?? 0)
    }
  }
  if (!keepNumbers) await store.global.deleteFrom('workspaces').where('id', '=', workspaceId).execute()
  return removed
}
