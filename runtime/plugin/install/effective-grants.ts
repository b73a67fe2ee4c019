import { isIP } from 'node:net'
import { isAbsolute, relative, resolve } from 'node:path'
import type { Manifest, Permissions } from '../contract.ts'
import { allowsHost, type Environment, parseNetRule } from '../grants/net-rule.ts'
import { mergePermissions, PERMISSIONS, type Permission } from '../grants/permissions.ts'

/** All that a manifest asks for: what it needs and what it can do without. */
export function wishesOf({ permissions, optional }: Pick<Manifest, 'permissions' | 'optional'>): Permissions {
  return mergePermissions([permissions, optional ?? {}])
}

/** What is asked for and not denied. */
export function withoutDenied(wishes: Permissions, denied: Permissions = {}): Permissions {
  const entries = PERMISSIONS.map((permission) => [
    permission,
    (wishes[permission] ?? []).filter((entry) => denied[permission]?.includes(entry) !== true),
  ])
  return Object.fromEntries(entries)
}

/** Of what was granted, what the manifest still asks for; and what it doesn't. */
export function keptGrants(manifest: Manifest, granted: Permissions): { kept: Permissions; dropped: Permissions } {
  const wishes = wishesOf(manifest)
  const kept: Permissions = {}
  const dropped: Permissions = {}
  for (const permission of PERMISSIONS) {
    for (const entry of granted[permission] ?? []) {
      const list = wishes[permission]?.includes(entry) === true ? kept : dropped
      list[permission] = [...(list[permission] ?? []), entry]
    }
  }
  return { kept, dropped }
}

/**
 * What an installed plugin may use: what it asks for and was granted, without what was denied. A grant may be narrower than the
 * wish; addresses may be granted beside a name, which alone opens private ones to it.
 */
export function effectiveGrants(
  manifest: Manifest,
  granted: Permissions,
  options: { denied: Permissions; env: Environment; baseDir: string },
): Permissions {
  const wishes = wishesOf(manifest)
  const effective: Permissions = {}
  for (const permission of PERMISSIONS) {
    const wished = wishes[permission] ?? []
    const entries = (granted[permission] ?? []).filter(
      (entry) => options.denied[permission]?.includes(entry) !== true && isWished(permission, entry, wished, options),
    )
    if (entries.length > 0) effective[permission] = entries
  }
  return effective
}

function isWished(
  permission: Permission,
  entry: string,
  wished: readonly string[],
  { env, baseDir }: { env: Environment; baseDir: string },
): boolean {
  if (wished.length === 0) return false
  if (wished.includes(entry)) return true
  if (permission === 'read') return wished.some((path) => isBelow(resolve(baseDir, path), resolve(baseDir, entry)))
  if (permission !== 'net') return false
  const [, host = '', port] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry) ?? []
  if (isIP(host.split('/')[0] ?? '') !== 0) return true
  const rules = wished.flatMap((wish) => parseNetRule(wish, env) ?? [])
  return allowsHost(rules, host, port === undefined ? undefined : Number(port))
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}
