import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/schema.ts'
import { agentsNaming } from '../store/agents/agents-naming.ts'
import { openStore } from '../store/database/database.ts'
import { borrowing } from './services.ts'

/** The agents that name a plugin, as in `Front desk (Hotel Aurora)`. Where no database was ever started there are none. */
export async function pluginUsers(config: Config, plugin: string): Promise<string[]> {
  if (config.databaseUrl === undefined && !existsSync(join(config.dataDir, 'postgres'))) return []
  return borrowing(config, 'plugins', async (databaseUrl) => {
    const store = openStore({ databaseUrl, maxConnections: 1 })
    try {
      return (await agentsNaming(store, plugin)).map(({ agent, workspace }) => `${agent} (${workspace})`)
    } finally {
      await store.close()
    }
  })
}
