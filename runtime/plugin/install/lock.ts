import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { PatchbayError } from '../../errors.ts'
import { PermissionsSchema } from '../manifest.ts'

const Entry = Type.Object({
  version: Type.String(),
  /** Where it came from: a package of npm, a folder or a file. */
  source: Type.String(),
  /** Of everything in its folder, `sha512-…`. */
  digest: Type.String(),
  /** What the operator granted when it was installed. */
  grant: PermissionsSchema,
})
const LockSchema = Type.Object({ plugins: Type.Record(Type.String({ pattern: '^[a-z0-9-]+$' }), Entry) })
const lockValidator = Compile(LockSchema)

export type InstalledPlugin = Static<typeof Entry>
export type PluginLock = Static<typeof LockSchema>

/** Where plugins of others are kept. */
export const installedFolder = (dataDir: string): string => join(dataDir, 'plugins')

const lockFile = (dataDir: string): string => join(installedFolder(dataDir), 'plugins.lock.json')

/** What is installed; nothing where no file says so. Throws `configuration` for a file that makes no sense. */
export async function readLock(dataDir: string): Promise<PluginLock> {
  const file = lockFile(dataDir)
  try {
    const lock: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (lockValidator.Check(lock)) return lock
    throw new Error('it is not a lock of plugins')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { plugins: {} }
    const reason = `${file}: ${cause instanceof Error ? cause.message : cause}; remove it and install the plugins again`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  }
}

/** Replaces the lock at once. */
export async function writeLock(dataDir: string, lock: PluginLock): Promise<void> {
  await mkdir(installedFolder(dataDir), { recursive: true, mode: 0o700 })
  const file = lockFile(dataDir)
  await writeFile(`${file}.new`, `${JSON.stringify(lock, null, 2)}\n`)
  await rename(`${file}.new`, file)
}

/** The digest of a folder: of every file's path and bytes, in order. */
export async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha512')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  for (const file of files.sort()) {
    const bytes = await readFile(file)
    hash.update(`${file.slice(folder.length)}\0${bytes.length}\0`).update(bytes)
  }
  return `sha512-${hash.digest('base64')}`
}
