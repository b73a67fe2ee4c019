import type { Kysely } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Store } from '../database/database.ts'
import type { GlobalTables, TrunkHostsTable } from '../database/schema.ts'

/** The owner of a trunk's host: a carrier that identifies customers by address bills one of them for every call from here. */

export type TrunkHost = Pick<TrunkHostsTable, 'id' | 'host' | 'workspace_id' | 'approved_by'> & { created_at: Date }

export function listTrunkHosts(db: Kysely<GlobalTables>): Promise<TrunkHost[]> {
  return db.selectFrom('trunk_hosts').selectAll().orderBy('host').orderBy('id').execute()
}

/** Approves a host, or a range of addresses, for a workspace. Approved again, the first approval stays. */
export async function approveTrunkHost(
  db: Kysely<GlobalTables>,
  approval: { host: string; workspaceId: string; approvedBy: string | null },
): Promise<TrunkHost> {
  const { host, workspaceId, approvedBy } = approval
  return db
    .insertInto('trunk_hosts')
    .values({ id: uuidv7(), host, workspace_id: workspaceId, approved_by: approvedBy })
    .onConflict((conflict) => conflict.columns(['host', 'workspace_id']).doUpdateSet({ host }))
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** False when there is no such approval. */
export async function removeTrunkHost(store: Store, id: string): Promise<boolean> {
  const { numDeletedRows } = await store.global.deleteFrom('trunk_hosts').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}
