import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { BatchRow } from './batch-rows.ts'
import { readRows } from './batches.ts'
import type { Batch } from './schema.ts'
import type { Tenant } from './tenant.ts'

/** Rows of batches on their way to become calls. */

/** What a batch would call: its rows not taken yet and those to be called again. */
export interface BatchDemand {
  agentId: string | null
  number: string
  running: boolean
  wanted: number
}

/** Undefined when there is no such batch. */
export async function batchDemand(tenant: Tenant, batchId: string): Promise<BatchDemand | undefined> {
  const row = await tenant.db
    .selectFrom('batches')
    .select(['agent_id', 'agent_phone_number', 'status', 'total', 'taken'])
    .select((eb) =>
      eb
        .selectFrom('batch_items')
        .select((inner) => inner.fn.countAll<number>().as('count'))
        .whereRef('batch_items.batch_id', '=', 'batches.id')
        .where('batch_items.status', '=', 'waiting')
        .as('again'),
    )
    .where('id', '=', batchId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const running = row.status === 'running'
  const wanted = running ? row.total - row.taken + (row.again ?? 0) : 0
  return { agentId: row.agent_id, number: row.agent_phone_number, running, wanted }
}

/**
 * Takes rows of a running batch, at most `limit`, and makes their calls, queued, in one transaction: first those to be called
 * again, then the next ones of the file, whose cursor moves with them, so no row is ever taken twice. Returns the calls.
 */
export function claimRows(
  tenant: Tenant,
  batchId: string,
  limit: number,
  now: Date,
): Promise<{ id: string; workspace_id: string }[]> {
  const { workspaceId } = tenant
  return tenant.db.transaction().execute(async (db) => {
    const batch = await db
      .selectFrom('batches')
      .selectAll()
      .where('id', '=', batchId)
      .where('status', '=', 'running')
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    if (batch?.agent_id == null) return []
    const agent = await db.selectFrom('agents').selectAll().where('id', '=', batch.agent_id).executeTakeFirst()
    if (agent === undefined) return []
    const bound: Tenant = { workspaceId, db }
    const again = await rowsToCallAgain(bound, batch, limit)
    const until = Math.min(batch.taken + limit - again.length, batch.total)
    const fresh = await readRows(bound, batch, batch.taken, until)
    const calls = [...again, ...fresh.filter(({ valid }) => valid)].map((row) => ({ id: uuidv7(), row }))
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
    }
    const retried = calls.slice(0, again.length)
    if (retried.length > 0) {
      await sql`
        update batch_items i set status = 'in_progress', error = null, call_id = taken.call_id
        from unnest(${retried.map(({ row }) => row.seq)}::int[], ${retried.map(({ id }) => id)}::uuid[]) as taken (seq, call_id)
        where i.batch_id = ${batchId} and i.workspace_id = ${workspaceId} and i.seq = taken.seq`.execute(db)
    }
    const first = calls.slice(again.length)
    if (first.length > 0) {
      await db
        .insertInto('batch_items')
        .values(first.map(({ id, row }) => ({ batch_id: batchId, seq: row.seq, call_id: id, status: 'in_progress' })))
        .execute()
    }
    await db
      .updateTable('batches')
      .set({ taken: Math.max(batch.taken, until) })
      .where('id', '=', batchId)
      .execute()
    return calls.map(({ id }) => ({ id, workspace_id: workspaceId }))
  })
}

async function rowsToCallAgain(tenant: Tenant, batch: Batch, limit: number): Promise<BatchRow[]> {
  const items = await tenant.db
    .selectFrom('batch_items')
    .select('seq')
    .where('batch_id', '=', batch.id)
    .where('status', '=', 'waiting')
    .orderBy('seq')
    .limit(limit)
    .execute()
  const rows: BatchRow[] = []
  for (const { seq } of items) rows.push(...(await readRows(tenant, batch, seq, seq + 1)))
  return rows
}
