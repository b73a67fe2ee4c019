import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const SECRET_BYTES = 32

/** The secret kept in the data folder, or undefined when there is none. */
export async function readSecret(dataDir: string, name: string): Promise<string | undefined> {
  try {
    const text = (await readFile(secretPath(dataDir, name), 'utf8')).trim()
    return text === '' ? undefined : text
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The secret kept in the data folder, made there the first time. */
export async function keepSecret(dataDir: string, name: string): Promise<string> {
  const kept = await readSecret(dataDir, name)
  if (kept !== undefined) return kept
  const path = secretPath(dataDir, name)
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await mkdir(join(dataDir, 'secrets'), { recursive: true, mode: 0o700 })
  await writeFile(draft, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, { mode: 0o600, flush: true })
  // Linking never replaces: of two processes that start together, both read the secret of the first.
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await unlink(draft)
  const made = await readSecret(dataDir, name)
  if (made === undefined) throw new Error(`The secret file "${path}" is empty; remove it to have a new one made`)
  return made
}

function secretPath(dataDir: string, name: string): string {
  return join(dataDir, 'secrets', name)
}
