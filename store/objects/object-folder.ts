import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ObjectFolder, ObjectSource, ObjectStore, StoredObject } from '../../runtime/plugin/contract.ts'
import type { PluginRegistry } from '../../runtime/plugin/host.ts'
import { requireObjectKey } from '../../runtime/plugin/object-key.ts'
import { type LinkSigner, openLinkSigner } from './object-links.ts'

/** The object store of this process, which the operator's settings choose. */
export function openObjects(options: {
  plugins: PluginRegistry
  config: { readonly dataDir: string; readonly jwtApiSecret: string }
  /** Asked when an address is made: a test's port is known late. */
  publicUrl: () => string
}): Promise<ObjectStore> {
  const { plugins, config, publicUrl } = options
  const folder = objectFolder(config.dataDir, publicUrl, openLinkSigner(config.jwtApiSecret))
  return plugins.create('objectstore', plugins.chosen('objectstore'), { folder })
}

const PIECE_BYTES = 1024 * 1024

/** Path of the file of an object. @throws PatchbayError `plugin` for what is no key. */
export function objectPath(dataDir: string, key: string): string {
  requireObjectKey(key)
  return join(dataDir, 'objects', key)
}

/** Files under `objects/` of the data folder. */
export function objectFolder(dataDir: string, publicUrl: () => string, signer: LinkSigner): ObjectFolder {
  return {
    async put(key, source, signal) {
      const path = objectPath(dataDir, key)
      await mkdir(dirname(path), { recursive: true })
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
      try {
        await writeWhole(temporary, source, signal)
        await rename(temporary, path)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    },
    get: (key, signal, range) => readObject(objectPath(dataDir, key), signal, range),
    async has(key) {
      const found = await stat(objectPath(dataDir, key)).catch(absent)
      return found?.isFile() === true
    },
    async remove(key) {
      await rm(objectPath(dataDir, key), { force: true })
    },
    link: (key, link) => `${publicUrl()}/files/${signer.sign(key, link)}`,
  }
}

async function writeWhole(path: string, source: ObjectSource, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for (let start = 0; start < source.size; start += PIECE_BYTES) {
      signal.throwIfAborted()
      await file.write(await source.bytes(start, Math.min(source.size, start + PIECE_BYTES)))
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The file, or what of it lies from `range.start` up to, not including, `range.end`. `size` is that of the whole. */
export async function readObject(
  path: string,
  signal: AbortSignal,
  range?: { start: number; end: number },
): Promise<StoredObject | undefined> {
  signal.throwIfAborted()
  const found = await stat(path).catch(absent)
  if (found?.isFile() !== true) return undefined
  const { start, end } = range ?? { start: 0, end: found.size }
  return { size: found.size, body: pieces(path, start, end, signal) }
}

/** Opens the file on the first read, so that an unread stream holds no descriptor. */
async function* pieces(path: string, start: number, end: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r')
  try {
    for (let at = start; at < end; ) {
      signal.throwIfAborted()
      const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - at))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
      if (bytesRead === 0) throw new Error(`"${path}" ended at ${at} of ${end} bytes`)
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
  throw error
}
