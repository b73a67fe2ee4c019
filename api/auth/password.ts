import { availableParallelism } from 'node:os'
import { AdmissionGate } from '../../runtime/admission/gate.ts'
import { computePassword } from './password-threads.ts'

/**
 * Argon2id; the library's defaults are OWASP's: 19 MiB, two passes, one lane. It runs in threads of its own; requests,
 * by account or address, take turns.
 */

/** A flood of logins leaves half of the cores to the rest. */
const PLACES = Math.max(1, Math.min(2, availableParallelism() >> 1))
const gate = new AdmissionGate({ kind: 'password', places: PLACES, mostOfOne: 1, maxWaiting: 200 })

/** The hash of a random discarded password, made once: checking it takes as long as checking a real one. */
let decoy: Promise<string> | undefined

/**
 * The string to store: algorithm, parameters, salt and hash.
 * @param who account or address. Throws `unavailable` when too many wait
 */
export function hashPassword(password: string, who: string): Promise<string> {
  return gate.run({ workspaceId: who }, () => hash(password))
}

/** False for a wrong password and for an unknown user (`undefined`), after the same work. Throws as hashPassword does. */
export async function passwordMatches(stored: string | undefined, password: string, who: string): Promise<boolean> {
  const against = stored ?? (await preparedDecoy())
  const matches = await gate.run({ workspaceId: who }, () => computePassword({ password, against }))
  return matches === true && stored !== undefined
}

/** Makes the decoy ahead of the first login, whose time would otherwise tell that it was the first. */
export async function preparePasswords(): Promise<void> {
  await preparedDecoy()
}

async function hash(password: string): Promise<string> {
  return String(await computePassword({ password }))
}

function preparedDecoy(): Promise<string> {
  decoy ??= hash(crypto.randomUUID())
  return decoy
}
