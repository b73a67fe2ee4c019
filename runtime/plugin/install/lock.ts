import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import { LockFile } from '../../process/lock-file.ts'
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

/** The folder of third-party plugins. */
export const installedFolder = (dataDir: string): string => join(dataDir, 'plugins')

/** What is installed. */
export const pluginLock = new LockFile({
  path: 'plugins/plugins.lock.json',
  schema: LockSchema,
  empty: () => ({ plugins: {} }),
  cure: 'remove it and install the plugins again',
})

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
