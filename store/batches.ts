import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import { type BatchRow, decodeBlock, ROWS_PER_BLOCK } from './batch-rows.ts'
import type { Store } from './database.ts'
import type { Batch } from './schema.ts'
import type { Tenant } from './tenant.ts'

/** Batches as the API shows them and as the runner works through them. */

/** A batch with the number of its rows that are being called; null is none. */
export type BatchWithProgress = Batch & { in_progress: number | null }

/** One row of a batch and what became of it. */
export interface BatchItem extends BatchRow {
  status: 'pending' | 'in_progress' | 'completed' | 'failed'
  callId: string | null
  error: string | null
}

export const INVALID_NUMBER = 'Invalid phone number format'

/** Newest first. */
export async function listBatches(
  tenant: Tenant,
  page?: { offset: number; limit: number },
): Promise<BatchWithProgress[]> {
  let query = withProgress(tenant).orderBy('batches.created_at', 'desc').orderBy('batches.id', 'desc')
  if (page !== undefined) query = query.offset(page.offset).limit(page.limit)
  return query.execute()
}

export async function countBatches(tenant: Tenant): Promise<number> {
  const { count } = await tenant.db
    .selectFrom('batches')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

export function batchById(tenant: Tenant, id: string): Promise<BatchWithProgress | undefined> {
  return withProgress(tenant).where('batches.id', '=', id).executeTakeFirst()
}

function withProgress(tenant: Tenant) {
  return tenant.db
    .selectFrom('batches')
    .selectAll('batches')
    .select((eb) =>
      eb
        .selectFrom('batch_items')
        .select((inner) => inner.fn.countAll<number>().as('count'))
        .whereRef('batch_items.batch_id', '=', 'batches.id')
        .where('batch_items.status', '=', 'in_progress')
        .as('in_progress'),
    )
}

/** False when the batch was sent already. */
export async function sendBatch(tenant: Tenant, id: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('batches')
    .set({ status: 'running', started_at: at })
    .where('id', '=', id)
    .where('status', 'in', ['pending', 'scheduled'])
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Removes the batch with its rows; its calls stay. False while it runs. */
export async function deleteBatch(tenant: Tenant, id: string): Promise<boolean> {
  const { numDeletedRows } = await tenant.db
    .deleteFrom('batches')
    .where('id', '=', id)
    .where('status', '!=', 'running')
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** The rows `from` (counted from 0) and after, at most `limit`, in the order of the file. */
export async function batchItems(tenant: Tenant, batch: Batch, from: number, limit: number): Promise<BatchItem[]> {
  const until = Math.min(from + limit, batch.total)
  if (until <= from) return []
  const [rows, taken] = await Promise.all([
    readRows(tenant, batch, from, until),
    tenant.db
      .selectFrom('batch_items')
      .selectAll()
      .where('batch_id', '=', batch.id)
      .where('seq', '>=', from)
      .where('seq', '<', until)
      .execute(),
  ])
  const bySeq = new Map(taken.map((item) => [item.seq, item]))
  return rows.map((row): BatchItem => {
    const item = bySeq.get(row.seq)
    if (item !== undefined) return { ...row, status: item.status, callId: item.call_id, error: item.error }
    if (!row.valid) return { ...row, status: 'failed', callId: null, error: INVALID_NUMBER }
    return { ...row, status: 'pending', callId: null, error: null }
  })
}

async function readRows(tenant: Tenant, batch: Batch, from: number, until: number): Promise<BatchRow[]> {
  const blocks = await tenant.db
    .selectFrom('batch_rows')
    .select(['block', 'rows'])
    .where('batch_id', '=', batch.id)
    .where('block', '>=', Math.floor(from / ROWS_PER_BLOCK))
    .where('block', '<=', Math.floor((until - 1) / ROWS_PER_BLOCK))
    .orderBy('block')
    .execute()
  return blocks
    .flatMap(({ block, rows }) => decodeBlock(block, rows, batch.columns))
    .filter(({ seq }) => seq >= from && seq < until)
}

/** The batches of all workspaces that have something to do: running ones, and scheduled ones whose time has come. */
export function dueBatches(store: Store, now: Date, limit: number): Promise<{ id: string; workspace_id: string }[]> {
  return store.acrossTenants
    .selectFrom('batches')
    .innerJoin('workspaces', 'workspaces.id', 'batches.workspace_id')
    .select(['batches.id', 'batches.workspace_id'])
    .where('workspaces.deleted_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('batches.status', '=', 'running'),
        eb.and([eb('batches.status', '=', 'scheduled'), eb('batches.scheduled_time', '<=', now)]),
      ]),
    )
    .orderBy('batches.started_at')
    .limit(limit)
    .execute()
}

/** Starts a scheduled batch whose time has come. */
export async function beginDueBatch(tenant: Tenant, id: string, now: Date): Promise<void> {
  await tenant.db
    .updateTable('batches')
    .set({ status: 'running', started_at: now })
    .where('id', '=', id)
    .where('status', '=', 'scheduled')
    .where('scheduled_time', '<=', now)
    .execute()
}

/** Gives the rows whose calls are over their result. */
export async function settleItems(tenant: Tenant, batchId: string): Promise<void> {
  await sql`
    with settled as (
      update batch_items i
      set status = case when c.status = 'completed' then 'completed' else 'failed' end,
        error = case when c.status = 'completed' then null else coalesce(c.error, c.status) end
      from calls c
      where i.batch_id = ${batchId} and i.workspace_id = ${tenant.workspaceId} and i.status = 'in_progress'
        and c.id = i.call_id and c.workspace_id = ${tenant.workspaceId}
        and c.status in ('completed', 'failed', 'busy', 'no_answer', 'canceled')
      returning i.status
    )
    update batches b
    set completed = completed + (select count(*) from settled where status = 'completed'),
      failed = failed + (select count(*) from settled where status = 'failed')
    where b.id = ${batchId} and b.workspace_id = ${tenant.workspaceId} and exists (select from settled)`.execute(
    tenant.db,
  )
}

/**
 * Takes the next rows of a running batch, at most `limit`, and makes their calls, queued, in one transaction: the cursor
 * moves with them, so no row is ever taken twice. A batch whose agent is gone is canceled. Returns the calls to place.
 */
export function claimRows(
  tenant: Tenant,
  batchId: string,
  limit: number,
  now: Date,
): Promise<{ id: string; workspace_id: string }[]> {
  return tenant.db.transaction().execute(async (db) => {
    const batch = await db
      .selectFrom('batches')
      .selectAll()
      .where('id', '=', batchId)
      .where('status', '=', 'running')
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    if (batch === undefined || batch.taken >= batch.total) return []
    const agent =
      batch.agent_id === null
        ? undefined
        : await db.selectFrom('agents').selectAll().where('id', '=', batch.agent_id).executeTakeFirst()
    if (agent === undefined) {
      const end = { status: 'canceled', finished_at: now } as const
      await db.updateTable('batches').set(end).where('id', '=', batchId).execute()
      return []
    }
    const bound: Tenant = { workspaceId: tenant.workspaceId, db }
    const rows = await readRows(bound, batch, batch.taken, Math.min(batch.taken + limit, batch.total))
    const calls = rows.filter(({ valid }) => valid).map((row) => ({ id: uuidv7(), row }))
    if (calls.length > 0) {
      await db
        .insertInto('calls')
        .values(
          calls.map(({ id, row }) => ({
            id,
            agent_id: agent.id,
            agent_name: agent.agent_name,
            call_type: 'phone' as const,
            direction: 'outbound' as const,
            status: 'queued' as const,
            from_number: batch.agent_phone_number,
            to_number: row.phoneNumber,
            dynamic_variables: JSON.stringify(row.variables),
            batch_id: batchId,
            created_at: now,
          })),
        )
        .execute()
      await db
        .insertInto('batch_items')
        .values(calls.map(({ id, row }) => ({ batch_id: batchId, seq: row.seq, call_id: id, status: 'in_progress' })))
        .execute()
    }
    await db
      .updateTable('batches')
      .set({ taken: batch.taken + rows.length })
      .where('id', '=', batchId)
      .execute()
    return calls.map(({ id }) => ({ id, workspace_id: tenant.workspaceId }))
  })
}

/** Completes a running batch of which nothing is left to do. */
export async function finishBatch(tenant: Tenant, batchId: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('batches')
    .set({ status: 'completed', finished_at: now })
    .where('id', '=', batchId)
    .where('status', '=', 'running')
    .whereRef('taken', '>=', 'total')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('batch_items')
            .select('seq')
            .where('batch_items.batch_id', '=', batchId)
            .where('batch_items.status', '=', 'in_progress'),
        ),
      ),
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
