import { boundary, inBackground } from '../runtime/lib/async/boundary.ts'
import { createSecretBox, type DataKeys } from '../runtime/lib/secret-box.ts'
import type { PluginKeys, StoredKeys } from '../runtime/plugin/stored-keys.ts'
import type { Logger } from '../runtime/process/log.ts'
import { allProviderKeys } from '../store/accounts/provider-keys.ts'
import type { Store } from '../store/database/database.ts'
import { openChanges } from '../store/redis/changes.ts'
import type { RedisClient } from '../store/redis/client.ts'

/** What seals the keys of providers. */
export const providerKeySecrets = (keys: string | DataKeys) => createSecretBox(keys, 'provider keys')

/** Where api nodes and job workers hear that keys were changed; the message says nothing. */
const CHANNEL = 'patchbay:provider-keys'
/** A process that missed the word of a change reads the keys by then. */
const REREAD_MS = 60_000

/** The stored keys, as this process uses them. */
export interface ProviderKeyBook {
  /** What goes into the database in place of a value. */
  seal(id: string, value: string): string
  /** Tells every process; resolves once this one uses the new keys. */
  changed(): Promise<void>
  stop(): void
}

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
  const read = async (): Promise<void> => {
    const stored: Record<string, Record<string, string>> = {}
    for (const { id, provider, variable, value } of await allProviderKeys(store)) {
      const text = box.open(value, id)
      if (text !== undefined) stored[provider] = { ...stored[provider], [variable]: text }
      else if (!unopened.has(id)) {
        unopened.add(id)
        const cure = 'name that key in PATCHBAY_DATA_KEY_OLD, or set it again in the console'
        log.error({ provider, variable }, `The key of a provider was sealed under another PATCHBAY_DATA_KEY; ${cure}`)
      }
    }
    plugins.keys.use(stored satisfies StoredKeys)
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
