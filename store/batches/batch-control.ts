import { sql } from 'kysely'
import { cancelQueuedCalls } from '../calls/cancel-calls.ts'
import type { BatchStatus } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Pausing, canceling and calling again: what people do to batches that were sent. */

/** Moves from one of these statuses to another; false when the batch has another status. */
async function move(
  { db }: Tenant,
  id: string,
  from: readonly BatchStatus[],
  change: { status: BatchStatus; finished_at?: Date | null },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('batches')
    .set(change)
    .where('id', '=', id)
    .where('status', 'in', from)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * No call of it is placed from now on: a transaction that marks one as placed holds the batch's row until it is committed
 * (markPlaced), so this waits for it. Calls already taken keep their place for when it is resumed.
 */
export const pauseBatch = (tenant: Tenant, id: string): Promise<boolean> =>
  move(tenant, id, ['running', 'paused'], { status: 'paused' })

export const resumeBatch = (tenant: Tenant, id: string): Promise<boolean> =>
  move(tenant, id, ['paused', 'running'], { status: 'running' })

/** Ends the batch and its calls that were not placed; those that ring or talk go on. False when it is over already. */
export function cancelBatch(tenant: Tenant, id: string, at: Date): Promise<boolean> {
  return tenant.db.transaction().execute(async (db) => {
    const bound: Tenant = { workspaceId: tenant.workspaceId, db }
    const from = ['pending', 'scheduled', 'running', 'paused'] as const
    if (!(await move(bound, id, from, { status: 'canceled', finished_at: at }))) return false
    await dropWaiting(bound, [id], at)
    return true
  })
}

/** The batches of an agent that is about to be deleted, in whose transaction this runs. */
export async function cancelBatchesOf(tenant: Tenant, agentId: string, at: Date): Promise<void> {
  const canceled = await tenant.db
    .updateTable('batches')
    .set({ status: 'canceled', finished_at: at })
    .where('agent_id', '=', agentId)
    .where('status', 'in', ['scheduled', 'running', 'paused'])
    .returning('id')
    .execute()
  const ids = canceled.map(({ id }) => id)
  if (ids.length > 0) await dropWaiting(tenant, ids, at)
}

/** What is queued is canceled; what waited to be called again stays as failed as it was. */
async function dropWaiting(tenant: Tenant, batchIds: readonly string[], at: Date): Promise<void> {
  await cancelQueuedCalls(tenant, batchIds, at)
  await sql`
    with dropped as (
      update batch_items set status = 'failed', error = 'canceled'
      where batch_id = any(${batchIds}::uuid[]) and workspace_id = ${tenant.workspaceId} and status = 'waiting'
      returning batch_id
    )
    update batches b set failed = failed + (select count(*) from dropped d where d.batch_id = b.id)
    where b.id = any(${batchIds}::uuid[]) and b.workspace_id = ${tenant.workspaceId}`.execute(tenant.db)
}

/**
 * Lets the rows whose call failed be called once more; a batch that was over runs again. Rows with an invalid number stay
 * failed. Returns how many, or undefined when the batch is in no state for it.
 */
export function retryBatch(tenant: Tenant, id: string): Promise<number | undefined> {
  return tenant.db.transaction().execute(async (db) => {
    const batch = await db
      .selectFrom('batches')
      .select('status')
      .where('id', '=', id)
      .where('status', 'in', ['running', 'paused', 'completed'])
      .forUpdate()
      .executeTakeFirst()
    if (batch === undefined) return undefined
    const { numUpdatedRows } = await db
      .updateTable('batch_items')
      .set({ status: 'waiting', error: null })
      .where('batch_id', '=', id)
      .where('status', '=', 'failed')
      .executeTakeFirst()
    const again = Number(numUpdatedRows)
    if (again === 0) return 0
    await db
      .updateTable('batches')
      .set((eb) => ({
        failed: eb('failed', '-', again),
        ...(batch.status === 'completed' && { status: 'running' as const, finished_at: null }),
      }))
      .where('id', '=', id)
      .execute()
    return again
  })
}
