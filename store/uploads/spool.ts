import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const READ_BYTES = 64 * 1024
/** Smaller uploads stay in memory: most are a few rows, and file I/O costs a libuv thread hop. */
const KEPT_BYTES = 64 * 1024

/** Bytes that vanish with their process. */
export interface Spool {
  append(bytes: Uint8Array): Promise<void>
  /** From the start. Each piece lies where the one before did: it is overwritten once the next is asked for. */
  read(): AsyncGenerator<Uint8Array>
  close(): Promise<void>
}

/** The first bytes are kept in memory, more in a file without a name, in the folder for temporary files, readable by this user alone. */
export function openSpool(): Spool {
  let kept: Uint8Array[] = []
  let file: FileHandle | undefined
  let size = 0
  const write = async (to: FileHandle, bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await to.write(bytes, at, bytes.length - at, size)
      at += bytesWritten
      size += bytesWritten
    }
  }
  return {
    async append(bytes) {
      if (file === undefined && size + bytes.length <= KEPT_BYTES) {
        kept.push(Uint8Array.from(bytes))
        size += bytes.length
        return
      }
      if (file === undefined) {
        file = await openNameless()
        size = 0
        for (const before of kept) await write(file, before)
        kept = []
      }
      await write(file, bytes)
    },
    async *read() {
      if (file === undefined) return yield* kept
      const piece = new Uint8Array(READ_BYTES)
      for (let at = 0; at < size; ) {
        const { bytesRead } = await file.read(piece, 0, READ_BYTES, at)
        if (bytesRead === 0) return
        at += bytesRead
        yield piece.subarray(0, bytesRead)
      }
    },
    async close() {
      kept = []
      await file?.close()
    },
  }
}

async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `patchbay-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}
