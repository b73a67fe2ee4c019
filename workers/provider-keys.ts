import { boundary, inBackground } from '../runtime/lib/async/boundary.ts'
import { createSecretBox, type DataKeys } from '../runtime/lib/secret-box.ts'
import type { PluginKeys, StoredKeys } from '../runtime/plugin/stored-keys.ts'
import type { Logger } from '../runtime/process/log.ts'
import { allProviderKeys, type ProviderKey } from '../store/accounts/provider-keys.ts'
import { allWorkspaceKeys } from '../store/accounts/workspace-keys.ts'
import type { Store } from '../store/database/database.ts'
import { openChanges } from '../store/redis/changes.ts'
import type { RedisClient } from '../store/redis/client.ts'

/** What seals the keys of providers. */
export const providerKeySecrets = (keys: string | DataKeys) => createSecretBox(keys, 'provider keys')

/** Where api nodes and job workers hear that keys were changed; the message says nothing. */
const CHANNEL = 'patchbay:provider-keys'
/** A process that missed the word of a change reads the keys by then. */
const REREAD_MS = 60_000

/** The stored keys of the installation and of workspaces, as this process uses them. */
export interface ProviderKeyBook {
  /** What goes into the database in place of a value. */
  seal(id: string, value: string): string
  /** Tells every process; resolves once this one uses the new keys. */
  changed(): Promise<void>
  stop(): void
}

type SealedKey = ProviderKey & { workspace_id?: string }

/** Has the plugins use the stored keys from now on. Resolves once they do. */
export async function openProviderKeys(options: {
  config: DataKeys
  store: Store
  redis: RedisClient
  plugins: { readonly keys: PluginKeys }
  log: Logger
}): Promise<ProviderKeyBook> {
  const { config, store, redis, plugins, log } = options
  const box = providerKeySecrets(config)
  const unopened = new Set<string>()
  const opened = (rows: readonly SealedKey[]): StoredKeys => {
    const stored: Record<string, Record<string, string>> = {}
    for (const { id, provider, variable, value, workspace_id: workspaceId } of rows) {
      const text = box.open(value, id)
      if (text !== undefined) stored[provider] = { ...stored[provider], [variable]: text }
      else if (!unopened.has(id)) {
        unopened.add(id)
        const cure = 'name that key in PATCHBAY_DATA_KEY_OLD, or set it again in the console'
        const about = { provider, variable, workspaceId }
        log.error(about, `The key of a provider was sealed under another PATCHBAY_DATA_KEY; ${cure}`)
      }
    }
    return stored
  }
  const read = async (): Promise<void> => {
    const [ofInstallation, ofWorkspaces] = await Promise.all([allProviderKeys(store), allWorkspaceKeys(store)])
    const byWorkspace = Map.groupBy(ofWorkspaces, ({ workspace_id: id }) => id)
    plugins.keys.useOfWorkspaces(new Map([...byWorkspace].map(([id, rows]) => [id, opened(rows)])))
    plugins.keys.use(opened(ofInstallation))
  }
  const changes = await openChanges(redis, CHANNEL, { what: 'Listening for changed keys of providers', log })
  changes.watch(read)
  await read()
  const timer = setInterval(
    boundary('plugin', () => inBackground('plugin', read())),
    REREAD_MS,
  ).unref()
  return {
    seal: (id, value) => box.seal(value, id),
    changed: changes.tell,
    stop() {
      clearInterval(timer)
      changes.stop()
    },
  }
}
