import type { Binding } from '../../runtime/plugin-sdk/telephony/extension.ts'
import type { RedisClient } from './client.ts'

/** Which phones are registered, and with which node: one hash an extension, a field a node. */

const keyOf = (extensionId: string): string => `patchbay:extension:${extensionId}`
/** Longer than any registration. */
const KEEP_MS = 2 * 3_600_000

/** As ExtensionDirectory's `registered`, of this node. */
export async function writeBindings(
  redis: RedisClient,
  node: string,
  extensionId: string,
  bindings: readonly Binding[],
): Promise<void> {
  const key = keyOf(extensionId)
  if (bindings.length === 0) {
    await redis.hDel(key, node)
    return
  }
  await redis.multi().hSet(key, node, JSON.stringify(bindings)).pExpire(key, KEEP_MS).exec()
}

/** Those that have not expired, of all nodes, the newest first. */
export async function readBindings(redis: RedisClient, extensionId: string, nowMs: number): Promise<Binding[]> {
  const fields = Object.values(await redis.hGetAll(keyOf(extensionId)))
  const all = fields.flatMap((text) => JSON.parse(text) as Binding[])
  return all.filter(({ expiresAtMs }) => expiresAtMs > nowMs).sort((a, b) => b.expiresAtMs - a.expiresAtMs)
}
