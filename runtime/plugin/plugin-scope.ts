import { AsyncLocalStorage } from 'node:async_hooks'
import type { Grants } from './grants/permissions.ts'

/**
 * Which plugin the running code belongs to. Best effort: a timer, an event of a shared socket or a native callback may
 * run outside of it, so refusals use it for naming the plugin; what is allowed depends on it only for a handle's own call.
 */
interface PluginScope {
  readonly plugin: string
  /** Set by a handle around its own call: only these grants count, not those of other plugins or the process. */
  readonly only?: Grants
}

export const pluginScope = new AsyncLocalStorage<PluginScope>()

/** By which the core calls into instances of any kind. */
const ENTRY_METHODS = [
  ...['chat', 'prewarm', 'stream', 'recognize', 'synthesize', 'embed'],
  ...['verify', 'dial', 'hangup', 'answer', 'upsert', 'search', 'remove', 'put', 'get', 'url'],
]

/** Makes calls into an instance run in its plugin's scope. Returns the instance. */
export function attribute<T extends object>(instance: T, plugin: string): T {
  const methods = instance as Record<string, unknown>
  for (const name of ENTRY_METHODS) {
    const method = methods[name]
    if (typeof method !== 'function') continue
    methods[name] = (...args: unknown[]) => pluginScope.run({ plugin }, () => method.apply(instance, args))
  }
  return instance
}
