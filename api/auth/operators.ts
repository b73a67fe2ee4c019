import type { User } from '../../store/database/schema.ts'

/** Who runs the installation: users who were made operators, and those whose e-mail address the configuration names. */
export interface Operators {
  includes(user: User | undefined): boolean
  /** An address whose owner becomes an operator on sign-up. */
  names(email: string): boolean
}

export function createOperators(emails: readonly string[]): Operators {
  const named = new Set(emails.map((email) => email.trim().toLowerCase()))
  const names = (email: string) => named.has(email.toLowerCase())
  return {
    names,
    includes: (user) => user !== undefined && (user.is_operator || names(user.email)),
  }
}
