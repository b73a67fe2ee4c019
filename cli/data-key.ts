import { dataKeyStatus, describeDataKeys } from '../api/data-key.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { openStore } from '../store/database/database.ts'

/** Says under which keys the secrets of a database are sealed. */
export async function runDataKeyStatus(databaseUrl: string, config: EffectiveConfig): Promise<string> {
  const store = openStore({ databaseUrl, maxConnections: 2 })
  try {
    return describeDataKeys(await dataKeyStatus(store, config))
  } finally {
    await store.close()
  }
}
