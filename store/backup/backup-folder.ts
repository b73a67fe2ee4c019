import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder of backups that are named by when they were made. */

const OURS = /^patchbay-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z\.tar\.gz$/
const UNFINISHED = /^patchbay-[\dTZ-]{20}\.tar\.gz\.(part|verify-.*)$/
/** What was not written to for so long was left by a process that ended. */
const LEFT_MS = 86_400_000

/** Whether `path` is a folder, in which a backup gets a name of its own. */
export async function isBackupFolder(path: string): Promise<boolean> {
  if (path.endsWith('/')) return true
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

export function backupName(now: Date): string {
  return `patchbay-${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z.tar.gz`
}

/** Removes the oldest ones beyond `keep`, and unfinished ones; files of other names stay. Resolves with the old backups' names. */
export async function removeOldBackups(folder: string, keep: number, nowMs: number): Promise<string[]> {
  const all = await readdir(folder)
  for (const name of all.filter((one) => UNFINISHED.test(one))) {
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found !== undefined && nowMs - found.mtimeMs > LEFT_MS)
      await rm(join(folder, name), { recursive: true, force: true })
  }
  const names = all.filter((name) => OURS.test(name)).sort()
  const old = names.slice(0, Math.max(0, names.length - keep))
  for (const name of old) await rm(join(folder, name), { force: true })
  return old
}
