import { hash, verify } from '@node-rs/argon2'

/** Argon2id; the library's defaults are OWASP's: 19 MiB, two passes, one lane. */

/** The hash of a random password nobody knows, made once: checking it takes as long as checking a real one. */
let decoy: Promise<string> | undefined

/** The string to store: algorithm, parameters, salt and hash. */
export function hashPassword(password: string): Promise<string> {
  return hash(password)
}

/** False for a wrong password and for an unknown user (`undefined`), after the same work. */
export async function passwordMatches(stored: string | undefined, password: string): Promise<boolean> {
  decoy ??= hash(crypto.randomUUID())
  const matches = await verify(stored ?? (await decoy), password)
  return matches && stored !== undefined
}

/** Makes the decoy ahead of the first login, whose time would otherwise tell that it was the first. */
export async function preparePasswords(): Promise<void> {
  decoy ??= hash(crypto.randomUUID())
  await decoy
}
