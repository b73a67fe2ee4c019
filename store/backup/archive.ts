import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { PassThrough, Readable, type Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { PatchbayError } from '../../runtime/errors.ts'
import type { Dump, DumpHead } from './dump.ts'
import type { Load } from './load.ts'

/** A backup is a .tar.gz: `patchbay.json` (what is in it), `tables/<name>/<number>` (rows in pieces), `files/…`, and last `end`. */

const FORMAT = 1
const PIECE_BYTES = 1024 * 1024
/** Of the data folder: what was generated for this installation, and what calls and tenants left. The rest is the database's and Redis's. */
const FOLDERS = ['secrets', 'objects']

interface Head extends DumpHead {
  readonly format: number
  readonly createdAt: string
  readonly hasFiles: boolean
}

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
    const head: Head = { ...dump.head, format: FORMAT, createdAt: now.toISOString(), hasFiles: dataDir !== undefined }
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
  for (const folder of FOLDERS) {
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
        // As many bytes as the head says, whoever writes to the file meanwhile.
        const bytes = size === 0 ? Readable.from([]) : handle.createReadStream({ end: size - 1, autoClose: false })
        await pipeline(bytes, into)
      } finally {
        await handle.close()
      }
    }
  }
}

/**
 * Reads a backup. `begin` is told what is in it and says where its rows go; files go to the data folder, over those of the same
 * name. Throws `configuration` for what is no whole backup.
 */
export async function readArchive(
  path: string,
  dataDir: string,
  begin: (head: DumpHead) => Promise<Load>,
): Promise<Load> {
  const tar = extract()
  const source = createReadStream(path)
  const flowing = pipeline(source, createGunzip(), tar)
  flowing.catch(() => {})
  let load: Load | undefined
  let table: { name: string; into: Writable & { done: Promise<void> } } | undefined
  let isWhole = false
  const endTable = async (): Promise<void> => {
    table?.into.end()
    await table?.into.done
    table = undefined
  }
  try {
    for await (const entry of tar) {
      const { name } = entry.header
      const row = /^tables\/([a-z0-9_]+)\/\d+$/.exec(name)?.[1]
      if (name === 'patchbay.json') {
        load = await begin(headOf(await buffer(entry as unknown as Readable), path))
      } else if (load === undefined) {
        throw noBackup(path, 'it has no list of what is in it')
      } else if (row !== undefined) {
        if (table?.name !== row) {
          await endTable()
          table = { name: row, into: feed((rows) => load!.rows(row, rows)) }
        }
        await pipeline(entry, table.into, { end: false })
      } else {
        await endTable()
        if (name.startsWith('files/'))
          await keepFile(dataDir, name.slice('files/'.length), entry as unknown as Readable)
        else entry.resume()
        isWhole ||= name === 'end'
      }
    }
    await flowing
    if (load === undefined || !isWhole) throw noBackup(path, 'its end is missing')
    return load
  } catch (error) {
    source.destroy()
    await load?.close().catch(() => {})
    if (error instanceof PatchbayError) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw noBackup(path, 'there is no such file')
    if (code?.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE')
      throw noBackup(path, 'it is cut off or no .tar.gz')
    throw error
  }
}

function headOf(json: Buffer, path: string): Head {
  const head = JSON.parse(json.toString('utf8')) as Head
  if (head.format !== FORMAT) throw noBackup(path, `its format is ${head.format}, and this version reads ${FORMAT}`)
  return head
}

function noBackup(path: string, why: string): PatchbayError {
  return new PatchbayError('configuration', { params: { reason: `"${path}" is no whole backup of Patchbay: ${why}.` } })
}

/** A stream whose end waits for `work`. */
function feed(work: (rows: Readable) => Promise<void>): Writable & { done: Promise<void> } {
  const into = new PassThrough()
  const done = work(into)
  done.catch((error) => into.destroy(error))
  return Object.assign(into, { done })
}

/** The name was made by us or by whoever changed the file: nothing outside the folder is touched. */
async function keepFile(dataDir: string, name: string, content: Readable): Promise<void> {
  const parts = name.split('/')
  const isInside =
    FOLDERS.includes(parts[0] ?? '') && parts.every((part) => part !== '' && part !== '.' && part !== '..')
  if (!isInside || name.includes('\\')) {
    throw new PatchbayError('configuration', {
      params: { reason: `The backup names a file outside the data folder: "${name}".` },
    })
  }
  const path = join(dataDir, ...parts)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await pipeline(content, createWriteStream(path, { mode: 0o600 }))
}

/** The secrets a backup of this data folder would have. */
export async function secretsIn(dataDir: string): Promise<string[]> {
  return (await readdir(join(dataDir, 'secrets')).catch(() => [])).filter((name) => !name.includes('.'))
}
