import type { Selectable } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Store } from '../database/database.ts'
import type { Tenant } from '../database/tenant.ts'
import type { NewKey, ProviderKey } from './provider-keys.ts'
import type { TenantAccountTables } from './tables.ts'

/** Keys of a workspace's own accounts at providers; their values are sealed. */

/** Of every workspace that the operator lets use its own. */
export function allWorkspaceKeys(store: Store): Promise<Selectable<TenantAccountTables['workspace_provider_keys']>[]> {
  return store.acrossTenants
    .selectFrom('workspace_provider_keys as k')
    .leftJoin('workspace_quotas as q', 'q.workspace_id', 'k.workspace_id')
    .selectAll('k')
    .where((eb) => eb.or([eb('q.own_keys', 'is', null), eb('q.own_keys', '=', true)]))
    .execute()
}

export function workspaceKeys({ db }: Tenant): Promise<ProviderKey[]> {
  return db.selectFrom('workspace_provider_keys').selectAll().orderBy('provider').orderBy('variable').execute()
}

/** The providers that the workspace has a key of. */
export async function providersOfOwnKeys({ db }: Tenant): Promise<string[]> {
  const rows = await db.selectFrom('workspace_provider_keys').select('provider').distinct().execute()
  return rows.map(({ provider }) => provider)
}

/** Sets the key of a provider: all its variables, in place of those before. */
export async function setWorkspaceKeys({ db }: Tenant, { provider, setBy, values }: NewKey): Promise<void> {
  await db.transaction().execute(async (changes) => {
    await changes.deleteFrom('workspace_provider_keys').where('provider', '=', provider).execute()
    const rows = values.map(({ variable, hint, seal }) => {
      const id = uuidv7()
      return { id, provider, variable, value: seal(id), hint, set_by: setBy }
    })
    await changes.insertInto('workspace_provider_keys').values(rows).execute()
  })
}

/** False when there were none. */
export async function removeWorkspaceKeys({ db }: Tenant, provider: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('workspace_provider_keys')
    .where('provider', '=', provider)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
