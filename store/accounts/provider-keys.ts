import type { Selectable } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Store } from '../database/database.ts'
import type { ProviderKeysTable } from './tables.ts'

/** Keys of providers and carriers that were pasted; their values are sealed. A workspace of null is the installation. */

export type ProviderKey = Selectable<ProviderKeysTable>

/** Those of the installation and of every workspace. */
export function allProviderKeys(store: Store): Promise<ProviderKey[]> {
  return store.global.selectFrom('provider_keys').selectAll().orderBy('provider').orderBy('variable').execute()
}

/** Those of one workspace, or of the installation. */
export function providerKeysOf(store: Store, workspaceId: string | null): Promise<ProviderKey[]> {
  return store.global
    .selectFrom('provider_keys')
    .selectAll()
    .where('workspace_id', workspaceId === null ? 'is' : '=', workspaceId)
    .orderBy('provider')
    .orderBy('variable')
    .execute()
}

interface NewKey {
  workspaceId: string | null
  provider: string
  /** The user. */
  setBy: string | null
  values: readonly { variable: string; hint: string; seal(id: string): string }[]
}

/** Sets variables of a provider; the others keep their values. */
export async function setProviderKeys(store: Store, { workspaceId, provider, setBy, values }: NewKey): Promise<void> {
  await store.global.transaction().execute(async (db) => {
    for (const { variable, hint, seal } of values) {
      await db
        .deleteFrom('provider_keys')
        .where('workspace_id', workspaceId === null ? 'is' : '=', workspaceId)
        .where('provider', '=', provider)
        .where('variable', '=', variable)
        .execute()
      const id = uuidv7()
      await db
        .insertInto('provider_keys')
        .values({ id, workspace_id: workspaceId, provider, variable, value: seal(id), hint, set_by: setBy })
        .execute()
    }
  })
}

/** False when there were none. */
export async function removeProviderKeys(store: Store, workspaceId: string | null, provider: string): Promise<boolean> {
  const { numDeletedRows } = await store.global
    .deleteFrom('provider_keys')
    .where('workspace_id', workspaceId === null ? 'is' : '=', workspaceId)
    .where('provider', '=', provider)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
