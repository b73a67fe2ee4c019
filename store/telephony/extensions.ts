import { type Insertable, sql, type Updateable } from 'kysely'
import type { Store } from '../database/database.ts'
import type { ExtensionRow, ExtensionsTable } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

type NewExtension = Omit<Insertable<ExtensionsTable>, 'created_at' | 'updated_at'>
type ExtensionChanges = Pick<Updateable<ExtensionsTable>, 'display_name' | 'password' | 'agent_id'>

/** Throws a unique violation when the workspace has an extension of that name, or anybody that username. */
export function insertExtension(tenant: Tenant, extension: NewExtension): Promise<ExtensionRow> {
  return tenant.db.insertInto('extensions').values(extension).returningAll().executeTakeFirstOrThrow()
}

/** By name. */
export function listExtensions(tenant: Tenant): Promise<ExtensionRow[]> {
  return tenant.db.selectFrom('extensions').selectAll().orderBy('name').execute()
}

export function extensionById(tenant: Tenant, id: string): Promise<ExtensionRow | undefined> {
  return tenant.db.selectFrom('extensions').selectAll().where('id', '=', id).executeTakeFirst()
}

export function extensionByName(tenant: Tenant, name: string): Promise<ExtensionRow | undefined> {
  return tenant.db.selectFrom('extensions').selectAll().where('name', '=', name).executeTakeFirst()
}

export function countExtensions(tenant: Tenant): Promise<number> {
  return tenant.db
    .selectFrom('extensions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
    .then(({ count }) => Number(count))
}

export function updateExtension(
  tenant: Tenant,
  id: string,
  changes: ExtensionChanges,
): Promise<ExtensionRow | undefined> {
  return tenant.db
    .updateTable('extensions')
    .set({ ...changes, updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** False when the workspace has no such extension. */
export async function deleteExtension(tenant: Tenant, id: string): Promise<boolean> {
  const { numDeletedRows } = await tenant.db.deleteFrom('extensions').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** The extensions of all workspaces that are not deleted: a process that takes registrations must know whose they are. */
export function allExtensions(store: Store): Promise<ExtensionRow[]> {
  return store.acrossTenants
    .selectFrom('extensions')
    .innerJoin('workspaces', 'workspaces.id', 'extensions.workspace_id')
    .selectAll('extensions')
    .where('workspaces.deleted_at', 'is', null)
    .orderBy('extensions.id')
    .execute()
}
