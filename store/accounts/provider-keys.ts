import type { Selectable } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { Store } from '../database/database.ts'
import type { ProviderKeysTable } from './tables.ts'

/** Keys of providers and carriers that were pasted for the installation; their values are sealed. */

export type ProviderKey = Selectable<ProviderKeysTable>

export function allProviderKeys(store: Store): Promise<ProviderKey[]> {
  return store.global.selectFrom('provider_keys').selectAll().orderBy('provider').orderBy('variable').execute()
}

export interface NewKey {
  provider: string
  /** The user. */
  setBy: string | null
  values: readonly { variable: string; hint: string; seal(id: string): string }[]
}

/** Sets variables of a provider; the others keep their values. */
export async function setProviderKeys(store: Store, { provider, setBy, values }: NewKey): Promise<void> {
  await store.global.transaction().execute(async (db) => {
    for (const { variable, hint, seal } of values) {
      await db.deleteFrom('provider_keys').where('provider', '=', provider).where('variable', '=', variable).execute()
      const id = uuidv7()
      await db
        .insertInto('provider_keys')
        .values({ id, provider, variable, value: seal(id), hint, set_by: setBy })
        .execute()
    }
  })
}

/** False when there were none. */
export async function removeProviderKeys(store: Store, provider: string): Promise<boolean> {
  const { numDeletedRows } = await store.global
    .deleteFrom('provider_keys')
    .where('provider', '=', provider)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
