import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import type { Dump } from './dump.ts'
import type { ArchiveHead } from './head.ts'
import { FILE_FOLDERS } from './staged-files.ts'

/** A backup is a .tar.gz: `patchbay.json` (what is in it), `tables/<name>/<number>` (rows in pieces), `files/…`, and last `end`. */

const PIECE_BYTES = 1024 * 1024

/** Writes to a file beside `path` first, so that what bears its name is whole. Resolves with its size in bytes. */
export async function writeArchive(path: string, dump: Dump, dataDir: string | undefined, now: Date): Promise<number> {
  const draft = `${path}.part`
  await mkdir(dirname(path), { recursive: true })
  const tar = pack()
  const file = createWriteStream(draft, { mode: 0o600 })
  const written = pipeline(tar, createGzip({ level: 6 }), file)
  written.catch(() => tar.destroy())
  const entry = (name: string, content: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      tar.entry({ name, mode: 0o600 }, content, (error) => (error ? reject(error) : resolve()))
    })
  try {
    const head: ArchiveHead = { ...dump.head, format: 1, createdAt: now.toISOString(), hasFiles: dataDir !== undefined }
    await entry('patchbay.json', Buffer.from(JSON.stringify(head)))
    for (const table of dump.head.tables) {
      let number = 0
      for await (const piece of pieces(dump.rowsOf(table))) await entry(`tables/${table.name}/${number++}`, piece)
    }
    if (dataDir !== undefined) await packFiles(tar, dataDir)
    await entry('end', Buffer.alloc(0))
    tar.finalize()
    await written
    await rename(draft, path)
    return (await stat(path)).size
  } catch (error) {
    tar.destroy()
    await written.catch(() => {})
    await rm(draft, { force: true })
    throw error
  }
}

/** Whole lines, or not: COPY reads on over the borders of pieces. */
async function* pieces(rows: Readable): AsyncGenerator<Buffer> {
  let kept: Buffer[] = []
  let bytes = 0
  for await (const chunk of rows as AsyncIterable<Buffer>) {
    kept.push(chunk)
    bytes += chunk.length
    if (bytes < PIECE_BYTES) continue
    yield Buffer.concat(kept)
    kept = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(kept)
}

async function packFiles(tar: ReturnType<typeof pack>, dataDir: string): Promise<void> {
  for (const folder of FILE_FOLDERS) {
    const found = await readdir(join(dataDir, folder), { recursive: true, withFileTypes: true }).catch(() => [])
    for (const file of found) {
      if (!file.isFile() || file.name.endsWith('.tmp')) continue
      const path = join(file.parentPath, file.name)
      // A call may be deleted meanwhile: its files go with it.
      const handle = await open(path).catch(() => undefined)
      if (handle === undefined) continue
      try {
        const { size } = await handle.stat()
        const name = `files/${relative(dataDir, path).split(sep).join('/')}`
        const into = tar.entry({ name, size, mode: 0o600 })
        // Exactly as many bytes as the header says, even if the file grows meanwhile.
        const bytes = size === 0 ? Readable.from([]) : handle.createReadStream({ end: size - 1, autoClose: false })
        await pipeline(bytes, into)
      } finally {
        await handle.close()
      }
    }
  }
}

/** The secrets a backup of this data folder would have. */
export async function secretsIn(dataDir: string): Promise<string[]> {
  return (await readdir(join(dataDir, 'secrets')).catch(() => [])).filter((name) => !name.includes('.'))
}
