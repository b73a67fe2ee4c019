import { type Insertable, sql, type Updateable } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Store } from '../database/database.ts'
import type { TrunkRow, TrunksTable } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

type NewTrunk = Omit<Insertable<TrunksTable>, 'id' | 'created_at' | 'updated_at'>
export type TrunkChanges = Omit<Updateable<TrunksTable>, 'id' | 'created_at' | 'updated_at'>

export function newTrunkId(): string {
  return uuidv7()
}

/** Throws a unique violation when the workspace has a trunk of that name. */
export function insertTrunk(tenant: Tenant, id: string, trunk: NewTrunk): Promise<TrunkRow> {
  return tenant.db
    .insertInto('trunks')
    .values({ ...trunk, id })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** By name. */
export function listTrunks(tenant: Tenant): Promise<TrunkRow[]> {
  return tenant.db.selectFrom('trunks').selectAll().orderBy('name').execute()
}

export function trunkById(tenant: Tenant, id: string): Promise<TrunkRow | undefined> {
  return tenant.db.selectFrom('trunks').selectAll().where('id', '=', id).executeTakeFirst()
}

/**
 * Changes the given fields, and the numbers that name it when its name changes: within a transaction of the caller's. Throws
 * a unique violation.
 */
export async function updateTrunk(
  { db }: Tenant,
  before: TrunkRow,
  changes: TrunkChanges,
): Promise<TrunkRow | undefined> {
  const row = await db
    .updateTable('trunks')
    .set({ ...changes, updated_at: sql<Date>`now()` })
    .where('id', '=', before.id)
    .returningAll()
    .executeTakeFirst()
  if (row !== undefined && row.name !== before.name) {
    await db.updateTable('phone_numbers').set({ trunk: row.name }).where('trunk', '=', before.name).execute()
    await db
      .updateTable('trunks')
      .set({ settings: sql`jsonb_set(settings, '{fallback_trunk}', to_jsonb(${row.name}::text))` })
      .where(sql`settings->>'fallback_trunk'`, '=', before.name)
      .execute()
  }
  return row
}

export async function hasTrunk(tenant: Tenant, name: string): Promise<boolean> {
  const row = await tenant.db.selectFrom('trunks').select('id').where('name', '=', name).executeTakeFirst()
  return row !== undefined
}

/** False when the workspace has no such trunk. */
export async function deleteTrunk(tenant: Tenant, id: string): Promise<boolean> {
  const { numDeletedRows } = await tenant.db.deleteFrom('trunks').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** Numbers of the workspace that name this trunk. */
export async function countNumbersOf(tenant: Tenant, name: string): Promise<number> {
  const { count } = await tenant.db
    .selectFrom('phone_numbers')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('trunk', '=', name)
    .executeTakeFirstOrThrow()
  return count
}

/** The trunks of all workspaces that are not deleted: a process that takes calls must know whose they are. */
export function allTrunks(store: Store): Promise<TrunkRow[]> {
  return store.acrossTenants
    .selectFrom('trunks')
    .innerJoin('workspaces', 'workspaces.id', 'trunks.workspace_id')
    .selectAll('trunks')
    .where('workspaces.deleted_at', 'is', null)
    .orderBy('trunks.id')
    .execute()
}
