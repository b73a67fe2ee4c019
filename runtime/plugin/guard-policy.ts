import type { PatchbayError } from '../errors.ts'
import type { NetRule } from './net-rule.ts'
import type { Grants, Permission } from './permissions.ts'

/** What the patched modules ask. */
export interface Policy {
  /** Sets of rules of which one has to allow it. */
  net(): readonly (readonly NetRule[])[]
  run(): { grants: Grants; searchPath: string }
  /** Counts and logs a refusal and makes its error. */
  refuse(permission: Permission, target: string, why?: string): PatchbayError
}
