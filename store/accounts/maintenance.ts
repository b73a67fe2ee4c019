import { sql } from 'kysely'
import type { Store } from '../database/database.ts'

/** No call begins: since when, and the operator's sentence, which may be empty. */
export interface Maintenance {
  readonly since: Date
  readonly message: string
}

/** null: calls begin as ever. Read anew at each decision. */
export async function maintenanceOf(store: Pick<Store, 'global'>): Promise<Maintenance | null> {
  const row = await store.global
    .selectFrom('instance_settings')
    .select(['maintenance_since', 'maintenance_message'])
    .executeTakeFirstOrThrow()
  const { maintenance_since: since, maintenance_message: message } = row
  return since === null ? null : { since, message: message ?? '' }
}

/** Begins it, or changes its sentence; it counts at once, on every node. */
export async function beginMaintenance(store: Pick<Store, 'global'>, message: string): Promise<void> {
  const since = sql<Date>`coalesce(maintenance_since, now())`
  const change = { maintenance_since: since, maintenance_message: message, updated_at: sql<Date>`now()` }
  await store.global.updateTable('instance_settings').set(change).execute()
}

export async function endMaintenance(store: Pick<Store, 'global'>): Promise<void> {
  const change = { maintenance_since: null, maintenance_message: null, updated_at: sql<Date>`now()` }
  await store.global.updateTable('instance_settings').set(change).execute()
}
