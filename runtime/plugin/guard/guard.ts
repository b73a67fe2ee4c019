import { syncBuiltinESMExports } from 'node:module'
import type { Logger } from 'pino'
import { pluginScope } from '../../process/plugin-scope.ts'
import {
  allowsHost,
  type Environment,
  formatTarget,
  type NetRule,
  parseInfrastructureRule,
} from '../grants/net-rule.ts'
import { type Grants, type Permission, permissionDenied, unionOf } from '../grants/permissions.ts'
import { guardDns } from './dns.ts'
import { guardImports } from './imports.ts'
import { guardInside } from './inside.ts'
import { guardDatagrams, guardFetch, guardSockets } from './net.ts'
import { type Policy, Recent } from './policy.ts'
import { guardRawSockets } from './raw.ts'
import { guardPrograms } from './run.ts'

/**
 * The second ring: what the handles are for is enforced on Node's own modules too, for the whole process. Every
 * outgoing connection, datagram, name lookup and started program must be covered by what any plugin was granted or by
 * what the process itself needs. docs/plugins.md says what this can't hold back.
 */

export interface GuardOptions {
  /** What the operator granted: `registry.grants.values()`. */
  grants: Iterable<Grants>
  /** The folders of the plugins: what lies in one may not import the core's own powers. */
  pluginFolders: Iterable<string>
  /** Its PATH says which program a granted name means. */
  env: Environment
  /**
   * Variables to take out of `process.env`, so that code finds keys only where they are handed to it. Code that needs
   * them later, such as a parent for its children, keeps a copy of the environment.
   */
  hide: Iterable<string>
  log: Logger
  /** Counts refusals by permission and plugin (`unknown` when undetermined). */
  refusals?: { inc(labels: { permission: Permission; plugin: string }): void }
}

const MAX_LOGGED = 1000
/** Addresses that granted names stood for lately: far more than a process talks to. */
const MAX_APPROVED = 10_000
let installed = false

let granted: readonly NetRule[] = []
const own = new Set<NetRule[]>()
/** Kept ready: a phone call asks for it with every datagram. */
let union: readonly (readonly NetRule[])[] = []

function refresh(): void {
  union = [granted, ...own]
}

/**
 * Lets the process itself, not a plugin's handles, reach more from now on: its database and Redis, its api nodes, a
 * worker that just said where its metrics are. URLs or net entries (`unix:/path` too); the names may resolve to any
 * address. Without effect until the guard is installed. Returns the undo.
 */
export function allowInfrastructure(targets: readonly string[]): () => void {
  const rules = targets.map(parseInfrastructureRule)
  own.add(rules)
  refresh()
  return () => {
    own.delete(rules)
    refresh()
  }
}

/** Puts the guard in force for the rest of the process's life. Throws when it already is. */
export function installGuard(options: GuardOptions): void {
  if (installed) throw new Error('The guard is installed once per process')
  installed = true
  const grants = unionOf(options.grants)
  granted = grants.net
  refresh()
  const logged = new Set<string>()

  let passes: string | undefined
  const policy: Policy = {
    net() {
      const only = pluginScope.getStore()?.only
      return only ? [only.net] : union
    },
    isBound: (only) => only !== undefined,
    approved: new Recent(MAX_APPROVED),
    passing(target, act) {
      passes = target
      try {
        act()
      } finally {
        passes = undefined
      }
      this.approved.add(target)
    },
    allowsRaw(address, port) {
      const target = formatTarget(address, port)
      if (passes === target || this.approved.has(target)) return true
      return this.net().some((rules) => allowsHost(rules, address, port))
    },
    run: () => ({ grants: pluginScope.getStore()?.only ?? grants, searchPath: options.env.PATH ?? '' }),
    refuse(permission, target, why) {
      const plugin = pluginScope.getStore()?.plugin
      const error = permissionDenied(plugin, permission, target, why)
      options.refusals?.inc({ permission, plugin: plugin ?? 'unknown' })
      // Each refusal is counted, but logged once: a plugin that keeps trying must not fill the disk.
      if (logged.size < MAX_LOGGED && !logged.has(error.message)) {
        logged.add(error.message)
        options.log.warn({ plugin, permission, target }, error.message)
      }
      return error
    },
  }

  for (const name of options.hide) delete process.env[name]
  guardSockets(policy)
  guardDatagrams(policy)
  guardFetch()
  guardDns(policy)
  guardRawSockets(policy)
  guardInside(policy)
  // Before module hooks are disabled.
  guardImports(policy, options.pluginFolders)
  guardPrograms(policy)
  // Makes `import { lookup } from 'node:dns'` see the guarded functions, in modules loaded before as well.
  syncBuiltinESMExports()
}
