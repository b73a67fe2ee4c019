import { printable } from '../../lib/printable.ts'
import type { Manifest, Permissions } from '../contract.ts'
import { PERMISSIONS, type Permission } from '../grants/permissions.ts'

const SENTENCES: Readonly<Record<Permission, (entry: string) => string>> = {
  net: (entry) => `connect to ${entry}`,
  env: (entry) => `read the variable ${entry}`,
  run: (entry) => `run the program ${entry}`,
  read: (entry) => `read ${entry}`,
  listen: (entry) => `open the port ${entry}`,
}

/** Its author could hide a wish behind what a terminal obeys. */
const sentenceOf = (permission: Permission, entry: string): string => SENTENCES[permission](printable(entry))

/** Permissions that can't be granted to an isolated process. */
const IMPOSSIBLE: ReadonlySet<Permission> = new Set(['run', 'listen'])

/** What a manifest asks for that is not granted yet, a sentence each. */
export function missingGrants(
  manifest: Manifest,
  granted: Permissions,
): { permission: Permission; entry: string; sentence: string }[] {
  return PERMISSIONS.flatMap((permission) =>
    (manifest.permissions[permission] ?? [])
      .filter((entry) => !granted[permission]?.includes(entry))
      .map((entry) => ({ permission, entry, sentence: sentenceOf(permission, entry) })),
  )
}

/** What it asks for that can't be granted to it at all. */
export const impossibleOf = (manifest: Manifest): string[] =>
  PERMISSIONS.filter((permission) => IMPOSSIBLE.has(permission)).flatMap((permission) =>
    (manifest.permissions[permission] ?? []).map((entry) => sentenceOf(permission, entry)),
  )

/** The grants that say yes to all a manifest asks for. */
export function allOf({ permissions }: Manifest): Permissions {
  const { net, env, read } = permissions
  return { ...(net && { net }), ...(env && { env }), ...(read && { read }) }
}
