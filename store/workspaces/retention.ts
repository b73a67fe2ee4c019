import { sql } from 'kysely'
import type { Store } from '../database/database.ts'
import type { WorkspaceRetentionTable } from '../database/schema.ts'
import { eraseCalls } from './erasure.ts'

/** How long workspaces keep what was said, and the removal of what is older. */

export type Retention = Omit<WorkspaceRetentionTable, 'workspace_id'>

const FOR_EVER: Retention = { recordings_days: null, transcripts_days: null, chats_days: null, logs_days: null }
const ROWS_A_STATEMENT = 1_000
const AUDIT_DAYS = 730
const SECURITY_DAYS = 365
const TEST_RUNS_DAYS = 90

export async function retentionOf(store: Store, workspaceId: string): Promise<Retention> {
  const row = await store.global
    .selectFrom('workspace_retention')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  if (row === undefined) return FOR_EVER
  const { workspace_id: _, ...retention } = row
  return retention
}

/** Changes the given ones; the others keep their values. */
export async function setRetention(store: Store, workspaceId: string, changes: Partial<Retention>): Promise<void> {
  await store.global
    .insertInto('workspace_retention')
    .values({ workspace_id: workspaceId, ...FOR_EVER, ...changes })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet({ workspace_id: workspaceId, ...changes }))
    .execute()
}

/** The workspaces that keep something for some days alone. */
export async function workspacesWithRetention(store: Store): Promise<({ workspace_id: string } & Retention)[]> {
  return store.global
    .selectFrom('workspace_retention as r')
    .innerJoin('workspaces as w', 'w.id', 'r.workspace_id')
    .selectAll('r')
    .where('w.deleted_at', 'is', null)
    .execute()
}

/** Recordings of calls that ended more than `days` ago. */
export function oldRecordings(
  store: Store,
  workspaceId: string,
  days: number,
  limit: number,
): Promise<{ id: string; recording_key: string | null }[]> {
  return store
    .tenant(workspaceId)
    .db.selectFrom('calls')
    .select(['id', 'recording_key'])
    .where('recording_key', 'is not', null)
    .where('ended_at', '<', daysAgo(days))
    .limit(limit)
    .execute()
}

/** Removes what was said in calls that ended more than `days` ago. The calls stay. Returns how many calls it took. */
export async function removeOldTranscripts(store: Store, workspaceId: string, days: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select distinct t.call_id as id from call_turns t join calls c on c.id = t.call_id
    where t.workspace_id = ${workspaceId} and c.ended_at < ${daysAgo(days)} limit ${ROWS_A_STATEMENT}`.execute(
    store.acrossTenants,
  )
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  const { db } = store.tenant(workspaceId)
  await db.deleteFrom('call_events').where('call_id', 'in', ids).execute()
  await db.deleteFrom('call_ladders').where('call_id', 'in', ids).execute()
  await db.deleteFrom('call_turns').where('call_id', 'in', ids).execute()
  await db.deleteFrom('workspace_events').where('subject', 'in', ids).execute()
  await db.updateTable('calls').set({ summary: null, analysis: null }).where('id', 'in', ids).execute()
  return ids.length
}

/** Removes chats without a message for `days`. Returns how many. */
export async function removeOldChats(store: Store, workspaceId: string, days: number): Promise<number> {
  const { db } = store.tenant(workspaceId)
  const old = await db
    .selectFrom('chats')
    .select('id')
    .where('updated_at', '<', daysAgo(days))
    .limit(ROWS_A_STATEMENT)
    .execute()
  const ids = old.map(({ id }) => id)
  if (ids.length === 0) return 0
  await db.deleteFrom('chat_messages').where('chat_id', 'in', ids).execute()
  await db.deleteFrom('chats').where('id', 'in', ids).execute()
  return ids.length
}

/** Removes calls that ended more than `days` ago, with everything of them but their recordings, which are gone before. */
export async function removeOldCalls(store: Store, workspaceId: string, days: number): Promise<number> {
  const { db } = store.tenant(workspaceId)
  const old = await db
    .selectFrom('calls')
    .select('id')
    .where('ended_at', '<', daysAgo(days))
    .where('recording_key', 'is', null)
    .limit(ROWS_A_STATEMENT)
    .execute()
  await eraseCalls(
    store.tenant(workspaceId),
    old.map(({ id }) => id),
  )
  return old.length
}

/**
 * Of the whole installation: audit entries of more than two years, security events of more than one, runs of tests of more than 90 days, kept
 * answers of yesterday, links past their end.
 */
export async function removeExpired(store: Store): Promise<void> {
  await store.global.transaction().execute(async (db) => {
    await sql`select set_config('patchbay.audit_retention', 'on', true)`.execute(db)
    await db.deleteFrom('audit_log').where('at', '<', daysAgo(AUDIT_DAYS)).execute()
    await db.deleteFrom('security_log').where('at', '<', daysAgo(SECURITY_DAYS)).execute()
  })
  await store.acrossTenants.deleteFrom('test_runs').where('created_at', '<', daysAgo(TEST_RUNS_DAYS)).execute()
  await store.acrossTenants.deleteFrom('idempotency_keys').where('created_at', '<', daysAgo(1)).execute()
  await store.global.deleteFrom('user_idempotency_keys').where('created_at', '<', daysAgo(1)).execute()
  await store.global.deleteFrom('one_time_links').where('expires_at', '<', daysAgo(0)).execute()
}

function daysAgo(days: number) {
  return sql<Date>`now() - make_interval(days => ${days}::integer)`
}
