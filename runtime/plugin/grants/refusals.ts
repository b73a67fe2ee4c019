import { Counter } from 'prom-client'
import type { Logger } from '../../process/log.ts'
import type { Permission } from './permissions.ts'

/** What the guard refused in this process. The roles put it on their metrics pages. */
export const refusals = new Counter({
  name: 'patchbay_plugin_refusals_total',
  help: 'Attempts to reach what no grant allows, by permission and plugin',
  labelNames: ['permission', 'plugin'] as const,
  registers: [],
})

const MAX_LOGGED = 1_000
const logged = new Set<string>()

/** Counts what a plugin in a process of its own was refused, and logs it once: one that keeps trying must not fill the disk. */
export function reportRefusal(plugin: string, permission: Permission, message: string, log: Logger): void {
  refusals.inc({ permission, plugin })
  if (logged.size >= MAX_LOGGED || logged.has(message)) return
  logged.add(message)
  log.warn({ plugin, permission }, message)
}
