import { randomUUID } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const READ_BYTES = 64 * 1024

/** A file that has no name and is gone with its process, whatever becomes of that. */
export interface Spool {
  append(bytes: Uint8Array): Promise<void>
  /** From the start. Each piece lies where the one before did: it is overwritten once the next is asked for. */
  read(): AsyncGenerator<Uint8Array>
  close(): Promise<void>
}

/** Opens one in the folder for temporary files, readable by this user alone. */
export async function openSpool(): Promise<Spool> {
  const path = join(tmpdir(), `patchbay-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  let size = 0
  return {
    async append(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, at, bytes.length - at, size)
        at += bytesWritten
        size += bytesWritten
      }
    },
    async *read() {
      const piece = new Uint8Array(READ_BYTES)
      for (let at = 0; at < size; ) {
        const { bytesRead } = await file.read(piece, 0, READ_BYTES, at)
        if (bytesRead === 0) return
        at += bytesRead
        yield piece.subarray(0, bytesRead)
      }
    },
    close: () => file.close(),
  }
}
