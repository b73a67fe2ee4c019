import { PatchbayError } from '../../../runtime/lib/errors.ts'
import type { WorkspaceRole } from '../../../store/database/schema.ts'

/** Who of a group of the identity provider has which role in which workspace. */
export interface GroupRule {
  readonly group: string
  /** Slug of the workspace. */
  readonly workspace: string
  readonly role: WorkspaceRole
}

const ROLES: readonly WorkspaceRole[] = ['member', 'developer', 'admin']
const isRole = (word: string | undefined): word is WorkspaceRole => ROLES.some((role) => role === word)

/** Reads `group=workspace:role`, as PATCHBAY_SSO_ROLES lists them. Throws `configuration`. Pure. */
export function groupRules(listed: readonly string[]): GroupRule[] {
  return listed.map((entry) => {
    // A group may have "=" in its name, as `cn=agents,ou=groups` has.
    const at = entry.lastIndexOf('=')
    const [workspace, role, ...more] = entry.slice(at + 1).split(':')
    if (at < 1 || !workspace || !isRole(role) || more.length > 0) {
      const reason = `PATCHBAY_SSO_ROLES has "${entry}", which is not group=workspace:role, with a role of ${ROLES.join(', ')}.`
      throw new PatchbayError('configuration', { params: { reason } })
    }
    return { group: entry.slice(0, at).trim(), workspace: workspace.trim(), role }
  })
}

/** The highest role in each workspace that the rules name; undefined: none any more. Pure. */
export function rolesOf(
  groups: readonly string[],
  rules: readonly GroupRule[],
): ReadonlyMap<string, WorkspaceRole | undefined> {
  const roles = new Map<string, WorkspaceRole | undefined>()
  for (const { group, workspace, role } of rules) {
    const before = roles.get(workspace)
    const isHigher = before === undefined || ROLES.indexOf(role) > ROLES.indexOf(before)
    roles.set(workspace, groups.includes(group) && isHigher ? role : before)
  }
  return roles
}
