import { sql } from 'kysely'
import { cancelQueuedCalls } from '../calls/cancel-calls.ts'
import { OPEN_STATUSES } from '../calls/open-calls.ts'
import type { Store } from '../database/database.ts'
import { beyond, exactly, type ListPart } from '../database/list-place.ts'
import type { Batch } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { type BatchRow, rowsSql } from './batch-rows.ts'

/** Batches as the API shows them and as the runner works through them. */

/** A batch with the number of its rows that are being called; null means 0. */
export type BatchWithProgress = Batch & { in_progress: number | null }

/** One row of a batch and what became of it. */
export interface BatchItem extends BatchRow {
  status: 'pending' | 'in_progress' | 'completed' | 'failed'
  callId: string | null
  /** The version of the agent that talks. */
  agentVersion: number | null
  error: string | null
}

const INVALID_NUMBER = 'Invalid phone number format'

/** Newest first. `sorted_by`: when it was made. */
export async function listBatches(
  tenant: Tenant,
  part?: ListPart,
  updatedSince?: Date,
): Promise<(BatchWithProgress & { sorted_by: string })[]> {
  let query = withProgress(tenant)
    .select(exactly('batches.created_at').as('sorted_by'))
    .orderBy('batches.created_at', 'desc')
    .orderBy('batches.id', 'desc')
  if (updatedSince !== undefined) query = query.where('batches.updated_at', '>=', updatedSince)
  if (part?.after !== undefined) query = query.where(beyond('created_at', '<', part.after))
  if (part !== undefined) query = query.offset(part.offset).limit(part.limit)
  return query.execute()
}

export async function countBatches(tenant: Tenant, updatedSince?: Date): Promise<number> {
  let query = tenant.db.selectFrom('batches')
  if (updatedSince !== undefined) query = query.where('updated_at', '>=', updatedSince)
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
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

/** Removes the batch with its rows; its calls stay, those not placed yet canceled. False while it runs or any of its calls lives. */
export function deleteBatch(tenant: Tenant, id: string, at: Date): Promise<boolean> {
  return tenant.db.transaction().execute(async (db) => {
    const { numDeletedRows } = await db
      .deleteFrom('batches')
      .where('id', '=', id)
      .where('status', '!=', 'running')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('calls')
              .select('calls.id')
              .whereRef('calls.batch_id', '=', 'batches.id')
              .where('calls.status', 'in', OPEN_STATUSES)
              .where('calls.placed_at', 'is not', null),
          ),
        ),
      )
      .executeTakeFirst()
    if (numDeletedRows > 0n) await cancelQueuedCalls({ workspaceId: tenant.workspaceId, db }, [id], at)
    return numDeletedRows > 0n
  })
}

/**
 * The rows `from` (counted from 0) and after, at most `limit`, in the order of the file; the variables of each are cut past
 * `mostBytes`.
 */
export async function batchItems(
  tenant: Tenant,
  batch: Batch,
  from: number,
  limit: number,
  mostBytes?: number,
): Promise<BatchItem[]> {
  const until = Math.min(from + limit, batch.total)
  if (until <= from) return []
  const [{ rows }, taken] = await Promise.all([
    rowsSql(batch, from, until, mostBytes).execute(tenant.db),
    tenant.db
      .selectFrom('batch_items')
      .leftJoin('calls', 'calls.id', 'batch_items.call_id')
      .selectAll('batch_items')
      .select('calls.agent_version')
      .where('batch_items.batch_id', '=', batch.id)
      .where('seq', '>=', from)
      .where('seq', '<', until)
      .execute(),
  ])
  const bySeq = new Map(taken.map((item) => [item.seq, item]))
  return rows.map((row): BatchItem => {
    const item = bySeq.get(row.seq)
    const none = { callId: null, agentVersion: null, error: null }
    if (item?.status === 'waiting') return { ...row, ...none, status: 'pending' }
    if (item !== undefined) {
      const { status, call_id: callId, agent_version: agentVersion, error } = item
      return { ...row, status, callId, agentVersion, error }
    }
    if (!row.valid) return { ...row, ...none, status: 'failed', error: INVALID_NUMBER }
    return { ...row, ...none, status: 'pending' }
  })
}

/** A batch that has something to do, and how many older ones of its workspace have. */
interface DueBatch {
  id: string
  workspace_id: string
  ahead: number
}

/**
 * The batches of all workspaces that have something to do: running ones, scheduled ones whose time has come, and those
 * paused or canceled whose calls have yet to be settled. Workspaces take turns: the oldest of each comes before any second.
 */
export function dueBatches(store: Store, now: Date, limit: number): Promise<DueBatch[]> {
  const place = sql<number>`row_number() over (partition by batches.workspace_id order by batches.started_at, batches.id)`
  return store.acrossTenants
    .selectFrom('batches')
    .innerJoin('workspaces', 'workspaces.id', 'batches.workspace_id')
    .select(['batches.id', 'batches.workspace_id', sql<number>`(${place} - 1)::integer`.as('ahead')])
    .where('workspaces.deleted_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('batches.status', '=', 'running'),
        eb.and([eb('batches.status', '=', 'scheduled'), eb('batches.scheduled_time', '<=', now)]),
        eb.and([
          eb('batches.status', 'in', ['paused', 'canceled']),
          eb(
            'batches.id',
            'in',
            eb.selectFrom('batch_items').select('batch_items.batch_id').where('batch_items.status', '=', 'in_progress'),
          ),
        ]),
      ]),
    )
    .orderBy('ahead')
    .orderBy('batches.started_at')
    .limit(limit)
    .execute()
}

/** How many batches of the workspace run. */
export async function countRunningBatches(tenant: Tenant): Promise<number> {
  const { count } = await tenant.db
    .selectFrom('batches')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow()
  return count
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
            .where('batch_items.status', 'in', ['in_progress', 'waiting']),
        ),
      ),
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
