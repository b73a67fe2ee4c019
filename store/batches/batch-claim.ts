import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Batch } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { rowsSql, validRowsSql } from './batch-rows.ts'

/** Rows of batches on their way to become calls. */

interface BatchDemand {
  agentId: string | null
  number: string
  status: Batch['status']
  /** Rows not taken yet and those to be called again; 0 while it doesn't run. */
  wanted: number
  /** Whether rows are being called, or were and have no result yet. */
  isCalling: boolean
}

/** Undefined when there is no such batch. */
export async function batchDemand(tenant: Tenant, batchId: string): Promise<BatchDemand | undefined> {
  const row = await tenant.db
    .selectFrom('batches')
    .select(['agent_id', 'agent_phone_number', 'status', 'total', 'taken'])
    .select((eb) => {
      const items = eb.selectFrom('batch_items').whereRef('batch_items.batch_id', '=', 'batches.id')
      const again = items.where('batch_items.status', '=', 'waiting').select((e) => e.fn.countAll<number>().as('count'))
      const calling = items.where('batch_items.status', '=', 'in_progress').select('batch_items.seq')
      return [again.as('again'), eb.exists(calling).as('calling')]
    })
    .where('id', '=', batchId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const wanted = row.status === 'running' ? row.total - row.taken + (row.again ?? 0) : 0
  return {
    agentId: row.agent_id,
    number: row.agent_phone_number,
    status: row.status,
    wanted,
    isCalling: Boolean(row.calling),
  }
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
      .innerJoin('agents', 'agents.id', 'batches.agent_id')
      .select(['batches.id', 'agents.id as agent_id', 'agent_name', 'agent_phone_number', 'columns', 'taken', 'total'])
      .select((eb) =>
        eb
          .exists(
            eb
              .selectFrom('batch_items')
              .select('seq')
              .whereRef('batch_items.batch_id', '=', 'batches.id')
              .where('batch_items.status', '=', 'waiting'),
          )
          .as('waits_again'),
      )
      .where('batches.id', '=', batchId)
      .where('batches.status', '=', 'running')
      .forUpdate('batches')
      .skipLocked()
      .executeTakeFirst()
    if (batch === undefined) return []
    const again = batch.waits_again ? await rowsToCallAgain({ workspaceId, db }, batchId, limit) : []
    const until = Math.min(batch.taken + limit - again.length, batch.total)
    const { rows: fresh } = await sql<{
      seq: number
      valid: boolean
    }>`${validRowsSql(batch, batch.taken, until)}`.execute(db)
    const first = fresh.filter(({ valid }) => valid).map(({ seq }) => ({ seq, id: uuidv7() }))
    const retried = again.map((seq) => ({ seq, id: uuidv7() }))
    const insertCalls = (calls: readonly { seq: number; id: string }[], from: number, before: number) =>
      sql`
      insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, from_number, to_number,
        dynamic_variables, external_id, metadata, batch_id, created_at)
      select taken.id, ${workspaceId}, ${batch.agent_id}, ${batch.agent_name}, 'phone', 'outbound', 'queued',
        ${batch.agent_phone_number}, found."phoneNumber", found.variables::jsonb, found."externalId",
        found.metadata::jsonb, ${batchId}, ${now}
      from (${rowsSql(batch, from, before)}) as found
      join unnest(${calls.map(({ seq }) => seq)}::int[], ${calls.map(({ id }) => id)}::uuid[]) as taken (seq, id)
        on taken.seq = found.seq`.execute(db)
    for (const call of retried) await insertCalls([call], call.seq, call.seq + 1)
    if (first.length > 0) await insertCalls(first, batch.taken, until)
    if (retried.length > 0) {
      await sql`
        update batch_items i set status = 'in_progress', error = null, call_id = taken.id
        from unnest(${retried.map(({ seq }) => seq)}::int[], ${retried.map(({ id }) => id)}::uuid[]) as taken (seq, id)
        where i.batch_id = ${batchId} and i.workspace_id = ${workspaceId} and i.seq = taken.seq`.execute(db)
    }
    if (first.length > 0) {
      await db
        .insertInto('batch_items')
        .values(first.map(({ seq, id }) => ({ batch_id: batchId, seq, call_id: id, status: 'in_progress' })))
        .execute()
    }
    await db
      .updateTable('batches')
      .set({ taken: Math.max(batch.taken, until) })
      .where('id', '=', batchId)
      .execute()
    return [...retried, ...first].map(({ id }) => ({ id, workspace_id: workspaceId }))
  })
}

async function rowsToCallAgain({ db }: Tenant, batchId: string, limit: number): Promise<number[]> {
  const items = await db
    .selectFrom('batch_items')
    .select('seq')
    .where('batch_id', '=', batchId)
    .where('status', '=', 'waiting')
    .orderBy('seq')
    .limit(limit)
    .execute()
  return items.map(({ seq }) => seq)
}
