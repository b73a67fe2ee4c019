import { isAbsolute, relative, resolve, sep } from 'node:path'
import { PatchbayError } from '../../lib/errors.ts'
import type { Permissions } from '../contract.ts'
import { coversListen, type ListenRule, parseListenRule } from './listen-rule.ts'
import { allowsHost, type Environment, type NetRule, parseNetRule, variableOf } from './net-rule.ts'

/** What the operator granted, compiled for checking. Pure: nothing here reads a file, a variable or a clock. */
export interface Grants {
  readonly net: readonly NetRule[]
  readonly env: ReadonlySet<string>
  readonly run: ReadonlySet<string>
  /** Absolute paths of files or folders. */
  readonly read: readonly string[]
  readonly listen: readonly ListenRule[]
}

export type Permission = 'net' | 'env' | 'run' | 'read' | 'listen'
export const PERMISSIONS = ['net', 'env', 'run', 'read', 'listen'] as const satisfies readonly Permission[]

/** The grants of flags and environment settings: entries `plugin:what`. */
export interface GrantFlags {
  readonly allowNet?: readonly string[] | undefined
  readonly allowEnv?: readonly string[] | undefined
  readonly allowRun?: readonly string[] | undefined
  readonly allowRead?: readonly string[] | undefined
  readonly allowListen?: readonly string[] | undefined
}

const FLAG = { net: 'allowNet', env: 'allowEnv', run: 'allowRun', read: 'allowRead', listen: 'allowListen' } as const

export const NO_GRANTS: Grants = { net: [], env: new Set(), run: new Set(), read: [], listen: [] }

/** Flags as permissions per plugin. Throws `configuration` on an entry without a plugin or without a grant. */
export function grantsOfFlags(flags: GrantFlags): Map<string, Permissions> {
  const byPlugin = new Map<string, Permissions>()
  for (const permission of PERMISSIONS) {
    for (const entry of flags[FLAG[permission]] ?? []) {
      const colon = entry.indexOf(':')
      const plugin = entry.slice(0, Math.max(colon, 0))
      const what = entry.slice(colon + 1)
      if (!/^[a-z0-9-]+$/.test(plugin) || what === '') {
        const reason = `--allow-${permission}=${entry} must name a plugin and what it may use, as --allow-${permission}=openai:${EXAMPLES[permission]}`
        throw new PatchbayError('configuration', { params: { reason } })
      }
      const granted = byPlugin.get(plugin) ?? {}
      granted[permission] = [...(granted[permission] ?? []), what]
      byPlugin.set(plugin, granted)
    }
  }
  return byPlugin
}

const EXAMPLES = {
  net: 'localhost:11434',
  env: 'OPENAI_API_KEY',
  run: 'espeak-ng',
  read: '/srv/models',
  listen: '5060',
} as const

/**
 * Compiles the operator's entries. `requested` is the manifest's wish and grants nothing, with one exception: where it
 * names a `${VARIABLE}` for net or listen access and the operator both lets the plugin read that variable and set it, what
 * it holds is granted. `baseDir` is what a relative read path starts from. Throws `configuration` on a bad entry.
 */
export function compileGrants(
  granted: Permissions,
  options: { env: Environment; baseDir: string; requested?: Permissions },
): Grants {
  const all = (permission: Permission): string[] => granted[permission] ?? []
  const env = new Set(all('env'))
  const withVariables = (permission: 'net' | 'listen'): string[] => {
    const byVariable = (options.requested?.[permission] ?? []).filter((entry) => env.has(variableOf(entry) ?? ''))
    return [...new Set([...all(permission), ...byVariable])]
  }
  return {
    net: withVariables('net')
      .map((entry) => parseNetRule(entry, options.env))
      .filter((rule) => rule !== undefined),
    env,
    run: new Set(all('run')),
    read: all('read').map((path) => resolve(options.baseDir, path)),
    listen: withVariables('listen')
      .map((entry) => parseListenRule(entry, options.env))
      .filter((rule) => rule !== undefined),
  }
}

/** Everything that any of these grants allows. */
export function unionOf(grants: Iterable<Grants>): Grants {
  const list = [...grants]
  return {
    net: list.flatMap((each) => each.net),
    env: new Set(list.flatMap((each) => [...each.env])),
    run: new Set(list.flatMap((each) => [...each.run])),
    read: list.flatMap((each) => each.read),
    listen: list.flatMap((each) => each.listen),
  }
}

/** Is this absolute path, links resolved, one of the granted files or below a granted folder? */
export function allowsRead(grants: Grants, path: string): boolean {
  return grants.read.some((granted) => {
    const below = relative(granted, path)
    return below === '' || (below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below))
  })
}

/**
 * Does `grants` cover an entry of a manifest? `literal` is what the operator wrote. An entry whose variable is unset asks
 * for nothing, so it is covered.
 */
export function coversRequest(
  permission: Permission,
  entry: string,
  grants: Grants,
  options: { env: Environment; baseDir: string; literal: Permissions },
): boolean {
  if (options.literal[permission]?.includes(entry)) return true
  if (permission === 'read') return allowsRead(grants, resolve(options.baseDir, entry))
  if (permission === 'listen') {
    const wanted = parseListenRule(entry, options.env)
    return wanted === undefined || coversListen(grants.listen, wanted)
  }
  if (permission !== 'net') return grants[permission].has(entry)
  const rule = parseNetRule(entry, options.env)
  return rule === undefined || (rule.kind === 'name' && allowsHost(grants.net, rule.name, rule.port))
}

/**
 * The refusal, with its cure. `plugin` is undefined when the asking plugin is unknown; `why` is put behind the
 * target, as in `(the address of "db.example")`.
 */
export function permissionDenied(
  plugin: string | undefined,
  permission: Permission,
  target: string,
  why = '',
): PatchbayError {
  const who = plugin === undefined ? 'A plugin' : `Plugin "${plugin}"`
  const cure = cureOf(plugin ?? '<plugin>', permission, target)
  const reason = `${who} requires ${permission} access to "${target}"${why && ` ${why}`}; ${cure}`
  return new PatchbayError('permission_denied', { params: { reason } })
}

/** What the operator does about a missing grant. */
export function cureOf(plugin: string, permission: Permission, target: string): string {
  return `grant it in config/plugins.json or with --allow-${permission}=${plugin}:${target}`
}

/** All entries of several sets of permissions, each once. */
export function mergePermissions(sets: readonly Permissions[]): Permissions {
  const merged: Permissions = {}
  for (const permission of PERMISSIONS) {
    const entries = new Set(sets.flatMap((set) => set[permission] ?? []))
    if (entries.size > 0) merged[permission] = [...entries]
  }
  return merged
}
