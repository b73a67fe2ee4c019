import { createHash } from 'node:crypto'
import { chown, lstat, mkdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PatchbayError } from '../../runtime/lib/errors.ts'

/** A socket's path holds 103 bytes on macOS, 107 on Linux; the longest name in the folder is `.s.PGSQL.5432`. */
const MAX_RUN_DIR_BYTES = 80

/**
 * Makes the folder of the sockets, private to `owner`: `run/` in the data folder, or a short one in the system's
 * temporary folder where that path would be too long for a socket.
 */
export async function makeRunDir(dataDir: string, owner: { uid: number; gid: number } | undefined): Promise<string> {
  const inside = join(await realpath(dataDir), 'run')
  const hash = createHash('sha256').update(inside).digest('hex').slice(0, 16)
  const runDir = Buffer.byteLength(inside) <= MAX_RUN_DIR_BYTES ? inside : join(tmpdir(), `patchbay-${hash}`)
  await mkdir(runDir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const found = await lstat(runDir)
  const ownUid = process.getuid?.()
  // The temporary folder is everyone's: a folder of another user must not hold our sockets.
  const ours = ownUid === undefined || found.uid === ownUid || (ownUid === 0 && found.uid === owner?.uid)
  if (!found.isDirectory() || !ours || (found.mode & 0o077) !== 0) {
    const reason = `The socket folder "${runDir}" belongs to somebody else or is open to others; remove it, or set PATCHBAY_DATA_DIR to another folder.`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  if (owner !== undefined && ownUid === 0) await chown(runDir, owner.uid, owner.gid)
  return runDir
}
