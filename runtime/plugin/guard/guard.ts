import { syncBuiltinESMExports } from 'node:module'
import { type NetRule, parseInfrastructureRule } from '../grants/net-rule.ts'
import { guardImports } from './imports.ts'
import { guardInside } from './inside.ts'
import { guardNames } from './names.ts'
import { Policy, type PolicyOptions } from './policy.ts'
import { guardPrograms } from './programs.ts'
import { guardDatagrams, guardFetch, guardRawSockets, guardSockets } from './sockets.ts'

/**
 * The second ring: what the handles are for is enforced on Node's own modules too, for the whole process. Every
 * outgoing connection, datagram, name lookup and started program must be covered by what any plugin was granted or by
 * what the process itself needs. docs/plugins.md says what this can't hold back, and why Node's permission model does not serve.
 */

interface GuardOptions extends PolicyOptions {
  /** The folders of the plugins: what lies in one may not import the core's own powers. */
  pluginFolders: Iterable<string>
  /**
   * Variables to take out of `process.env`, so that code finds keys only where they are handed to it. Code that needs
   * them later, such as a parent for its children, keeps a copy of the environment.
   */
  hide: Iterable<string>
}

let installed = false
const infrastructure = new Set<readonly NetRule[]>()

/**
 * Lets the process itself, not a plugin's handles, reach more from now on: its database and Redis, its api nodes, a
 * worker that just said where its metrics are. URLs or net entries (`unix:/path` too); the names may resolve to any
 * address. Returns the undo.
 */
export function allowInfrastructure(targets: readonly string[]): () => void {
  const rules = targets.map(parseInfrastructureRule)
  infrastructure.add(rules)
  return () => {
    infrastructure.delete(rules)
  }
}

/**
 * Puts the guard in force for the rest of the process's life. Throws when it already is.
 * @returns has it read the grants anew, after the keys of providers changed
 */
export function installGuard({ pluginFolders, hide, ...options }: GuardOptions): () => void {
  if (installed) throw new Error('The guard is installed once per process')
  installed = true
  const policy = new Policy(options, infrastructure)
  for (const name of hide) delete process.env[name]
  guardSockets(policy)
  guardDatagrams(policy)
  guardFetch()
  guardNames(policy)
  guardRawSockets(policy)
  guardInside(policy)
  // Before module hooks are disabled.
  guardImports(policy, pluginFolders)
  guardPrograms(policy)
  // Makes `import { lookup } from 'node:dns'` see the guarded functions, in modules loaded before as well.
  syncBuiltinESMExports()
  return () => policy.regrant()
}
