import { printable } from '../../lib/printable.ts'
import type { Manifest, Permissions } from '../contract.ts'
import { PERMISSIONS, type Permission } from '../grants/permissions.ts'
import { isOurVariable } from './our-variables.ts'

/** One thing that a manifest asks for. */
export interface Wish {
  permission: Permission
  entry: string
  /** As in `connect to api.acme.example`, with its reason where the manifest gives one. */
  sentence: string
  isOptional: boolean
}

const SENTENCES: Readonly<Record<Permission, (entry: string) => string>> = {
  net: (entry) => `connect to ${entry}`,
  env: (entry) => `read the variable ${entry}`,
  run: (entry) => `run the program ${entry}`,
  read: (entry) => `read ${entry}`,
  listen: (entry) => `open the port ${entry}`,
}

/** Permissions that can't be granted to an isolated process. */
const IMPOSSIBLE: ReadonlySet<Permission> = new Set(['run', 'listen'])

/** The plugins whose key a variable is, by its name. */
export type KeyOwners = ReadonlyMap<string, string>

/** What a manifest asks for, a sentence each: its author could hide a wish behind what a terminal obeys. */
export function wishesIn(
  manifest: Pick<Manifest, 'permissions' | 'optional' | 'reasons'>,
  keyOwners: KeyOwners = new Map(),
): Wish[] {
  const { permissions, optional = {}, reasons = {} } = manifest
  const list = (wished: Permissions, isOptional: boolean): Wish[] =>
    PERMISSIONS.flatMap((permission) =>
      (wished[permission] ?? []).map((entry) => {
        const owner = permission === 'env' ? keyOwners.get(entry) : undefined
        const whose = owner === undefined ? '' : `, which is the key of ${owner}`
        const reason = reasons[entry] === undefined ? '' : ` (${printable(reasons[entry])})`
        return {
          permission,
          entry,
          isOptional,
          sentence: `${SENTENCES[permission](printable(entry))}${whose}${reason}`,
        }
      }),
    )
  return [...list(permissions, false), ...list(optional, true)]
}

/** What it asks for that is not granted yet. */
export const missingGrants = (wishes: readonly Wish[], granted: Permissions): Wish[] =>
  wishes.filter(({ permission, entry }) => granted[permission]?.includes(entry) !== true)

/** What it asks for that can't be granted to a third-party plugin at all: programs, ports, Patchbay's own secrets. */
export const impossibleOf = (wishes: readonly Wish[]): Wish[] =>
  wishes.filter(({ permission, entry }) => IMPOSSIBLE.has(permission) || (permission === 'env' && isOurVariable(entry)))

/** The grants that say yes to these wishes. */
export function grantsOf(wishes: readonly Wish[]): Permissions {
  const granted: Permissions = {}
  for (const { permission, entry } of wishes) granted[permission] = [...(granted[permission] ?? []), entry]
  return granted
}
