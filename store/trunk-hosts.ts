import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Store } from './database.ts'
import type { TrunkHostsTable } from './schema.ts'

/** Whose a trunk's host is: a carrier that knows its customers by address bills one of them for whoever calls from here. */

export type TrunkHost = Pick<TrunkHostsTable, 'id' | 'host' | 'workspace_id' | 'approved_by'> & { created_at: Date }

export function listTrunkHosts(store: Store): Promise<TrunkHost[]> {
  return store.global.selectFrom('trunk_hosts').selectAll().orderBy('host').orderBy('id').execute()
}

/** Approves a host for a workspace. Approved again, the first approval stays. */
export async function approveTrunkHost(
  store: Store,
  approval: { host: string; workspaceId: string; approvedBy: string | null },
): Promise<TrunkHost> {
  const { host, workspaceId, approvedBy } = approval
  return store.global
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

export interface HostClaim {
  /** The operator approved it for this workspace. */
  isApproved: boolean
  /** It is another workspace's: approved for others alone, or in use by one. */
  isTaken: boolean
}

/** @param host in lower case, without port */
export async function claimOnHost(store: Store, workspaceId: string, host: string): Promise<HostClaim> {
  const approvals = await store.global
    .selectFrom('trunk_hosts')
    .select('workspace_id')
    .where('host', '=', host)
    .execute()
  const isApproved = approvals.some((row) => row.workspace_id === workspaceId)
  if (isApproved || approvals.length > 0) return { isApproved, isTaken: !isApproved }
  const other = await store.acrossTenants
    .selectFrom('trunks as t')
    .innerJoin('workspaces as w', 'w.id', 't.workspace_id')
    .select('t.id')
    .where('w.deleted_at', 'is', null)
    .where('t.workspace_id', '!=', workspaceId)
    .where(sql<string>`lower(regexp_replace(t.host, ':[0-9]+$', ''))`, '=', host)
    .limit(1)
    .executeTakeFirst()
  return { isApproved, isTaken: other !== undefined }
}
