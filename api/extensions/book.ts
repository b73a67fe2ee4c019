import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../../runtime/lib/clock.ts'
import { createSecretBox, type DataKeys } from '../../runtime/lib/secret-box.ts'
import type { ExtensionDirectory } from '../../runtime/plugin-sdk/telephony/extension.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Store } from '../../store/database/database.ts'
import { openChanges } from '../../store/redis/changes.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { readBindings, writeBindings } from '../../store/redis/extension-bindings.ts'
import { allExtensions } from '../../store/telephony/extensions.ts'

/** What seals the passwords of extensions. */
export const extensionSecrets = (keys: string | DataKeys) => createSecretBox(keys, 'extension passwords')

/** Where api nodes hear that extensions have changed; the message says nothing. */
const CHANNEL = 'patchbay:extensions'
/** 120 bits: unguessable. */
const PASSWORD_BYTES = 15
const SUFFIX_BYTES = 5

/** The extensions of all workspaces, and word of their changes on every api node. */
export interface ExtensionBook extends ExtensionDirectory {
  newPassword(): string
  /** An extension's login: its name, and a unique suffix. */
  newUsername(name: string): string
  sealPassword(extensionId: string, password: string): string
  /** Tells every node; resolves once this one knows. */
  changed(): Promise<void>
  close(): void
}

export async function openExtensionBook(options: {
  config: DataKeys
  store: Store
  redis: RedisClient
  clock: Clock
  log: Logger
}): Promise<ExtensionBook> {
  const { config, store, redis, clock, log } = options
  const box = extensionSecrets(config)
  const node = randomUUID()
  const registered = new Set<string>()
  const changes = await openChanges(redis, CHANNEL, { what: 'Listening for changes of extensions', log })
  return {
    async list() {
      return (await allExtensions(store)).map((row) => {
        const password = box.open(row.password, row.id)
        if (password === undefined) {
          log.error(
            { extension: row.name, workspaceId: row.workspace_id },
            'The password of an extension was sealed under another PATCHBAY_DATA_KEY; name that key in PATCHBAY_DATA_KEY_OLD, or make a new password',
          )
        }
        return {
          id: row.id,
          workspaceId: row.workspace_id,
          name: row.name,
          displayName: row.display_name ?? undefined,
          username: row.username,
          password,
        }
      })
    },
    watch: changes.watch,
    async registered(extensionId, bindings) {
      if (bindings.length > 0) registered.add(extensionId)
      else registered.delete(extensionId)
      await writeBindings(redis, node, extensionId, bindings)
    },
    bindings: (extensionId) => readBindings(redis, extensionId, clock.nowMs()),
    newPassword: () => randomBytes(PASSWORD_BYTES).toString('base64url'),
    newUsername: (name) => `${name}.${randomBytes(SUFFIX_BYTES).toString('hex')}`,
    sealPassword: (extensionId, password) => box.seal(password, extensionId),
    changed: changes.tell,
    close() {
      changes.stop()
      // Phones find another node with their next registration; until then no call may be routed here.
      for (const id of registered) {
        writeBindings(redis, node, id, []).catch((err) =>
          log.debug({ err }, 'Could not unregister; the registration will expire'),
        )
      }
    },
  }
}
