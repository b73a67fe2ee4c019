import { availableParallelism } from 'node:os'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { OffloadError, type OffloadTask, offload } from '../../runtime/process/offload/offload.ts'
import type { PasswordWork } from './password-thread.ts'

/**
 * Argon2id; the library's defaults are OWASP's: 19 MiB, two passes, one lane. It runs in threads that give way to the loops that carry
 * audio. libuv's threads would not: two of them at work for a flood of logins have the share of two such loops. Requests, by account or
 * address, take turns.
 */
const PASSWORDS: OffloadTask<PasswordWork, string | boolean> = {
  name: 'password',
  kind: 'password',
  entry: new URL('./password-thread.ts', import.meta.url),
  priority: 'later',
  // A flood of logins leaves half of the cores to the rest.
  workers: Math.max(1, Math.min(2, availableParallelism() >> 1)),
  mostOfOne: 1,
  maxWaiting: 200,
}
/** Under the load of everything else. */
const DEADLINE_MS = 30_000

/** The hash of a random discarded password, made once: checking it takes as long as checking a real one. */
let decoy: Promise<string> | undefined

/**
 * The string to store: algorithm, parameters, salt and hash.
 * @param who account or address. Throws `unavailable` when too many wait
 */
export async function hashPassword(password: string, who: string): Promise<string> {
  return String(await compute({ password }, who))
}

/** False for a wrong password and for an unknown user (`undefined`), after the same work. Throws as hashPassword does. */
export async function passwordMatches(stored: string | undefined, password: string, who: string): Promise<boolean> {
  const against = stored ?? (await preparedDecoy())
  return (await compute({ password, against }, who)) === true && stored !== undefined
}

/** Makes the decoy ahead of the first login, whose time would otherwise tell that it was the first. */
export async function preparePasswords(): Promise<void> {
  await preparedDecoy()
}

async function compute(work: PasswordWork, who: string): Promise<string | boolean> {
  try {
    return await offload.run(PASSWORDS, work, { workspaceId: who, deadlineMs: DEADLINE_MS })
  } catch (cause) {
    throw cause instanceof OffloadError ? new PatchbayError('unavailable', { cause }) : cause
  }
}

function preparedDecoy(): Promise<string> {
  decoy ??= hashPassword(crypto.randomUUID(), '')
  return decoy
}
