import type { PatchbayError } from '../../lib/errors.ts'
import type { NetRule } from '../grants/net-rule.ts'
import type { Grants, Permission } from '../grants/permissions.ts'

/** What the patched modules ask. */
export interface Policy {
  /** Sets of rules of which one has to allow it. */
  net(): readonly (readonly NetRule[])[]
  run(): { grants: Grants; searchPath: string }
  /** Counts and logs a refusal and makes its error. */
  refuse(permission: Permission, target: string, why?: string): PatchbayError
  /** Whether these grants are ones the core bound a call of its own to. */
  isBound(only: Grants | undefined): boolean
  /** Targets, `address:port`, that a granted name stood for lately. */
  readonly approved: Recent
  /** Runs `act`, which sends to this target; nothing else may be sent to inside of it on the strength of it. */
  passing(target: string, act: () => void): void
  /** Whether this address and port may be sent to by the raw socket under every other way. */
  allowsRaw(address: string, port: number): boolean
}

/** A set that forgets its oldest members. */
export class Recent {
  readonly #members = new Set<string>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  add(member: string): void {
    // Moved to the end: what is in use stays.
    this.#members.delete(member)
    this.#members.add(member)
    if (this.#members.size <= this.#capacity) return
    for (const oldest of this.#members) {
      this.#members.delete(oldest)
      return
    }
  }

  has(member: string): boolean {
    return this.#members.has(member)
  }
}
