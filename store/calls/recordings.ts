import { sql } from 'kysely'
import type { Store } from '../database/database.ts'
import type { CallStatus } from '../database/schema.ts'

/** Which calls have a recording in the object store. */

/** Status of calls of any workspace; those that are gone are missing. */
export async function callStatuses(store: Store, callIds: readonly string[]): Promise<Map<string, CallStatus>> {
  if (callIds.length === 0) return new Map()
  const rows = await store.acrossTenants
    .selectFrom('calls')
    .select(['id', 'status'])
    .where('id', 'in', callIds)
    .execute()
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** False when the call or its workspace is deleted. */
export async function callIsKept(store: Store, workspaceId: string, callId: string): Promise<boolean> {
  const { rows } = await sql`select 1 from calls c join workspaces w on w.id = c.workspace_id and w.deleted_at is null
    where c.id = ${callId} and c.workspace_id = ${workspaceId}`.execute(store.acrossTenants)
  return rows.length > 0
}

/**
 * Notes where the recording is; false when the call or its workspace is deleted. The lock makes the deletion of a workspace
 * wait, so that it either finds the key or refuses it.
 */
export async function writeRecordingKey(
  store: Store,
  workspaceId: string,
  callId: string,
  key: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with kept as (select id from workspaces where id = ${workspaceId} and deleted_at is null for share)
    update calls set recording_key = ${key} from kept
      where calls.id = ${callId} and calls.workspace_id = kept.id`.execute(store.acrossTenants)
  return (numAffectedRows ?? 0n) > 0n
}

/** Calls of a workspace that have a recording. */
export async function recordedCalls(
  store: Store,
  workspaceId: string,
  limit: number,
): Promise<{ callId: string; key: string }[]> {
  const rows = await store
    .tenant(workspaceId)
    .db.selectFrom('calls')
    .select(['id as callId', 'recording_key as key'])
    .where('recording_key', 'is not', null)
    .limit(limit)
    .execute()
  return rows.flatMap(({ callId, key }) => (key === null ? [] : [{ callId, key }]))
}

export async function forgetRecordings(store: Store, workspaceId: string, callIds: readonly string[]): Promise<void> {
  await store
    .tenant(workspaceId)
    .db.updateTable('calls')
    .set({ recording_key: null, recording: 'deleted' })
    .where('id', 'in', callIds)
    .execute()
}
