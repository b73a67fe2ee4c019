import { sql } from 'kysely'
import type { Store } from '../database/database.ts'
import { publishToOperators } from './workspace-events.ts'

/** The voice workers already announced to operators. */

interface AnnouncedWorker {
  workerId: string
  capacity: number
}

/** Announces new workers, each once across all processes. */
export async function announceJoined(store: Store, operators: readonly string[], workers: readonly AnnouncedWorker[]) {
  await store.acrossTenants.transaction().execute(async (db) => {
    for (const { workerId, capacity } of workers) {
      const { numInsertedOrUpdatedRows: inserted = 0n } = await db
        .insertInto('told_workers')
        .values({ worker_id: workerId, capacity })
        .onConflict((conflict) => conflict.column('worker_id').doNothing())
        .executeTakeFirst()
      if (inserted === 0n) continue
      await publishToOperators(db, operators, { type: 'worker.joined', data: { worker_id: workerId, capacity } })
    }
  })
}

/** Forgets one that is gone, and tells of it unless it said so itself. */
export async function announceLost(store: Store, operators: readonly string[], workerId: string, saidSo: boolean) {
  await store.acrossTenants.transaction().execute(async (db) => {
    const row = await db
      .deleteFrom('told_workers')
      .where('worker_id', '=', workerId)
      .returning('capacity')
      .executeTakeFirst()
    if (row === undefined || saidSo) return
    const data = { worker_id: workerId, capacity: row.capacity }
    await publishToOperators(db, operators, { type: 'worker.lost', data })
  })
}

/** In the order of their names. */
export async function toldWorkers(store: Store): Promise<AnnouncedWorker[]> {
  return store.global
    .selectFrom('told_workers')
    .select([sql<string>`worker_id`.as('workerId'), 'capacity'])
    .orderBy('worker_id')
    .execute()
}
