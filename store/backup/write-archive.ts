import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { objectPath } from '../objects/object-folder.ts'
import type { Dump } from './dump.ts'
import type { ArchiveEnd, ArchiveHead } from './head.ts'
import type { BackupProgress } from './progress.ts'
import { FILE_FOLDERS } from './staged-files.ts'
import { FilesDigest, TableDigest } from './table-digest.ts'

/**
 * A backup is a .tar.gz: `patchbay.json` (what is in it), `tables/<name>/<number>` (rows in pieces), `files/…`, and last `end`, with
 * the rows and digests that were written.
 */

const PIECE_BYTES = 1024 * 1024

export interface Written {
  readonly bytes: number
  readonly sums: ArchiveEnd
  /** Recordings that rows name, and how many of them are no files here. */
  readonly recordings: { readonly count: number; readonly missing: number }
}

/** Writes to a file beside `path` first, so that what bears its name is whole. */
export async function writeArchive(
  path: string,
  dump: Dump,
  dataDir: string,
  now: Date,
  progress: BackupProgress,
): Promise<Written> {
  const draft = `${path}.part`
  await mkdir(dirname(path), { recursive: true })
  const tar = pack()
  const file = createWriteStream(draft, { mode: 0o600, flush: true })
  const written = pipeline(tar, createGzip({ level: 6 }), file)
  written.catch(() => tar.destroy())
  const entry = (name: string, content: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      tar.entry({ name, mode: 0o600 }, content, (error) => (error ? reject(error) : resolve()))
    })
  try {
    const head: ArchiveHead = { ...dump.head, format: 2, createdAt: now.toISOString(), hasFiles: true }
    await entry('patchbay.json', Buffer.from(JSON.stringify(head)))
    const [tableBytes, files] = await Promise.all([dump.bytesOf(), filesToPack(dataDir)])
    const wholeBytes = [...tableBytes.values(), ...files.map(({ bytes }) => bytes)].reduce((sum, one) => sum + one, 1)
    let doneBytes = 0
    const tables: ArchiveEnd['tables'] = []
    for (const table of dump.head.tables) {
      const { name } = table
      const digest = new TableDigest()
      const bytes = tableBytes.get(name) ?? 0
      let number = 0
      for await (const piece of pieces(dump.rowsOf(table, digest))) {
        await entry(`tables/${name}/${number++}`, piece)
        // What a table takes on the disk is about what its text takes.
        const part = doneBytes + Math.min(bytes, number * PIECE_BYTES)
        progress.at(part / wholeBytes, `${name}, table ${tables.length + 1} of ${dump.head.tables.length}`)
      }
      tables.push({ name, ...digest.sum() })
      doneBytes += bytes
    }
    const filesDigest = new FilesDigest()
    for (const [at, { path, bytes }] of files.entries()) {
      await packFile(tar, dataDir, path, filesDigest)
      doneBytes += bytes
      progress.at(doneBytes / wholeBytes, `file ${at + 1} of ${files.length}`)
    }
    const sums = { tables, files: filesDigest.sum() }
    await entry('end', Buffer.from(JSON.stringify(sums)))
    tar.finalize()
    await written
    const recordings = await countRecordings(dump, dataDir)
    await rename(draft, path)
    return { bytes: (await stat(path)).size, sums, recordings }
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

async function filesToPack(dataDir: string): Promise<{ path: string; bytes: number }[]> {
  const files: { path: string; bytes: number }[] = []
  for (const folder of FILE_FOLDERS) {
    const found = await readdir(join(dataDir, folder), { recursive: true, withFileTypes: true }).catch(() => [])
    for (const file of found) {
      if (!file.isFile() || file.name.endsWith('.tmp')) continue
      const path = join(file.parentPath, file.name)
      const { size = 0 } = await stat(path).catch(() => ({}) as { size?: number })
      files.push({ path, bytes: size })
    }
  }
  return files
}

async function packFile(
  tar: ReturnType<typeof pack>,
  dataDir: string,
  path: string,
  digest: FilesDigest,
): Promise<void> {
  // A call may be deleted meanwhile: its files go with it.
  const handle = await open(path).catch(() => undefined)
  if (handle === undefined) return
  try {
    const { size } = await handle.stat()
    const name = relative(dataDir, path).split(sep).join('/')
    const into = tar.entry({ name: `files/${name}`, size, mode: 0o600 })
    digest.begin(name, size)
    // Exactly as many bytes as the header says, even if the file grows meanwhile.
    const bytes = size === 0 ? Readable.from([]) : handle.createReadStream({ end: size - 1, autoClose: false })
    const read = async function* () {
      for await (const chunk of bytes as AsyncIterable<Buffer>) {
        digest.update(chunk)
        yield chunk
      }
    }
    await pipeline(read, into)
  } finally {
    await handle.close()
  }
}

async function countRecordings(dump: Dump, dataDir: string): Promise<Written['recordings']> {
  let count = 0
  let missing = 0
  for await (const key of dump.objectKeys()) {
    count += 1
    if ((await stat(objectPath(dataDir, key)).catch(() => undefined)) === undefined) missing += 1
  }
  return { count, missing }
}

/** The secrets a backup of this data folder would have. */
export async function secretsIn(dataDir: string): Promise<string[]> {
  return (await readdir(join(dataDir, 'secrets')).catch(() => [])).filter((name) => !name.includes('.'))
}
