import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import { PatchbayError } from '../../lib/errors.ts'
import { LockFile } from '../../process/lock-file.ts'
import { PermissionsSchema } from '../manifest.ts'

const VERSION = {
  version: Type.String(),
  /** Of everything in its folder, `sha512-…`. */
  digest: Type.String(),
  /** What the operator granted when it was installed. */
  grant: PermissionsSchema,
}
const Entry = Type.Object({
  ...VERSION,
  /** Where it came from, which is its identity: a package of npm, a folder or a file. */
  source: Type.String(),
  /** What was there before, for the way back. */
  previous: Type.Optional(Type.Object(VERSION)),
})
const LockSchema = Type.Object({ plugins: Type.Record(Type.String({ pattern: '^[a-z0-9-]+$' }), Entry) })

/** An installed plugin, as its lock has it. */
export type InstalledEntry = Type.Static<typeof Entry>

/** The folder of third-party plugins. */
export const installedFolder = (dataDir: string): string => join(dataDir, 'plugins')

/** Of a digest, what is enough to tell folders apart. */
const NAMED_BYTES = 12

/** The folder of one version of an installed plugin. It is never written to again, so what runs keeps what it was started from. */
export function versionFolder(dataDir: string, name: string, digest: string): string {
  const place = join(installedFolder(dataDir), name)
  const named = Buffer.from(digest.replace(/^sha512-/, ''), 'base64')
    .subarray(0, NAMED_BYTES)
    .toString('hex')
  const folder = join(place, named)
  // Installed by a version that had one folder for each plugin.
  return !existsSync(folder) && existsSync(join(place, 'plugin.json')) ? place : folder
}

/** What is installed. */
export const pluginLock = new LockFile({
  path: 'plugins/plugins.lock.json',
  schema: LockSchema,
  empty: () => ({ plugins: {} }),
  cure: 'remove it and install the plugins again',
})

const WAIT_MS = 300_000
const LOOK_EVERY_MS = 200

/** Changes what is installed, one command after the other. Throws `plugin` where another one takes longer than five minutes. */
export async function changeInstalled<T>(dataDir: string, change: () => Promise<T>): Promise<T> {
  const file = join(installedFolder(dataDir), '.changing')
  await mkdir(installedFolder(dataDir), { recursive: true, mode: 0o700 })
  for (let waitedMs = 0; !(await take(file)); waitedMs += LOOK_EVERY_MS) {
    if (waitedMs > WAIT_MS) {
      const reason = `Another command changes the installed plugins for more than ${WAIT_MS / 60_000} minutes; end it, or remove ${file}`
      throw new PatchbayError('plugin', { params: { reason } })
    }
    await sleep(LOOK_EVERY_MS)
  }
  try {
    return await change()
  } finally {
    await rm(file, { force: true })
  }
}

/** Takes the file that one command may hold. What a dead one left is removed. */
async function take(file: string): Promise<boolean> {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const holder = Number(await readFile(file, 'utf8').catch(() => ''))
    if (holder > 0 && !isAlive(holder)) await rm(file, { force: true })
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
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
