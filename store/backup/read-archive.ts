import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { PassThrough, Readable, type Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { printable } from '../../runtime/lib/printable.ts'
import { firstFault } from '../../runtime/plugin/manifest.ts'
import { type ArchiveEnd, archiveEndValidator, archiveHeadValidator, type DumpHead, FORMATS } from './head.ts'
import type { Load } from './load.ts'
import type { BackupProgress } from './progress.ts'
import type { StagedFiles } from './staged-files.ts'
import { FilesDigest, TableDigest, type TableSum } from './table-digest.ts'

/** How long the reader of an archive that broke off may take to notice it. */
const READER_GRACE_MS = 2_000
/** Far more than the names of all tables and their partitions take. */
const MAX_LIST_BYTES = 4 * 2 ** 20
const ROWS = /^tables\/([a-z_][a-z0-9_]*)\/(0|[1-9]\d{0,8})$/
/** Of a stream that ends too soon, and of what no gzip or tar is. */
const CUT_OFF =
  /^(Unexpected end of data|Writable stream closed prematurely|Premature close|Invalid tar header|Invalid header|Header exceeds max size|Invalid pax)/

/** What was read, all of it and as it was written. */
interface Read {
  readonly load: Load
  readonly head: DumpHead
  /** Undefined for a backup of a version that wrote no sums. */
  readonly sums: ArchiveEnd | undefined
}

/**
 * Reads a backup to its end and compares it with the sums there. `begin` gets the backup's head and returns the sink of its
 * rows; files are kept aside. Throws `configuration` for what is no whole backup, or holds anything that a backup does not.
 */
export async function readArchive(
  path: string,
  files: Pick<StagedFiles, 'add'>,
  begin: (head: DumpHead) => Promise<Load>,
  progress?: BackupProgress,
): Promise<Read> {
  const { size = 0 } = await stat(path).catch(() => ({}) as { size?: number })
  // No wait between here and the loop below: an entry that arrives before its listener is lost, and the reader waits for good.
  const tar = extract()
  const source = createReadStream(path)
  const flowing = pipeline(source, createGunzip(), tar)
  flowing.catch(() => {})
  const reading = new Reading(path, files, begin)
  const read = async (): Promise<Read> => {
    for await (const entry of tar) {
      progress?.at(source.bytesRead / size, entry.header.name)
      await reading.take(entry)
    }
    await flowing
    return reading.whole()
  }
  const reader = read()
  // A reader that begins with an entry just as the archive breaks off may wait for its end for good.
  const brokenOff = flowing.then(() => reader)
  try {
    return await Promise.race([reader, brokenOff])
  } catch (first) {
    // What the reader says of it is more exact.
    const own = reader.then(
      () => first,
      (fault: unknown) => fault,
    )
    const error = await Promise.race([own, sleep(READER_GRACE_MS, first)])
    // Before it is given up, which breaks the rows' stream as well.
    const fault = reading.faultOf(error)
    source.destroy()
    await reading.giveUp()
    throw fault
  }
}

type Entry = AsyncIterable<unknown> & { header: Header }

/** What was read so far, in the order in which it was written. */
class Reading {
  readonly #path: string
  readonly #files: Pick<StagedFiles, 'add'>
  readonly #begin: (head: DumpHead) => Promise<Load>
  /** Also of a load that is not open yet, as when the archive breaks off meanwhile. */
  #opening: Promise<Load> | undefined
  #load: Load | undefined
  #head: (DumpHead & { format: number }) | undefined
  #rows: { table: string; pieces: number; digest: TableDigest; into: Feed } | undefined
  readonly #read = new Map<string, TableSum>()
  readonly #filesDigest = new FilesDigest()
  #sums: ArchiveEnd | undefined
  #isWhole = false

  constructor(path: string, files: Pick<StagedFiles, 'add'>, begin: (head: DumpHead) => Promise<Load>) {
    this.#path = path
    this.#files = files
    this.#begin = begin
  }

  async take(entry: Entry): Promise<void> {
    const { name, type, size } = entry.header
    // Once an entry has failed, tar-stream emits no error to later listeners.
    const content = Readable.from(entry, { objectMode: false })
    if (this.#isWhole) throw this.#no('it goes on after its end')
    if (type !== 'file' || !Number.isSafeInteger(size ?? Number.NaN)) {
      throw this.#no(`"${printable(name.slice(0, 300))}" in it is no file`)
    }
    if (this.#load === undefined) {
      if (name !== 'patchbay.json') throw this.#no('it has no list of what is in it')
      this.#head = await this.#headOf(content, size ?? 0)
      this.#opening = this.#begin(this.#head)
      this.#load = await this.#opening
      return
    }
    const [, table, piece] = ROWS.exec(name) ?? []
    if (table !== undefined) {
      await this.#takeRows(this.#load, table, Number(piece), content)
      return
    }
    await this.#endRows()
    if (name.startsWith('files/')) await this.#takeFile(name.slice('files/'.length), size ?? 0, content)
    else if (name === 'end') await this.#takeEnd(content, size ?? 0)
    else throw this.#no(`it has "${printable(name.slice(0, 300))}", which no backup has`)
    content.resume()
  }

  /** What was read. Throws where the end is missing. */
  whole(): Read {
    if (this.#load === undefined || this.#head === undefined || !this.#isWhole) throw this.#no('its end is missing')
    return { load: this.#load, head: this.#head, sums: this.#sums }
  }

  async giveUp(): Promise<void> {
    this.#rows?.into.destroy()
    await this.#opening?.then((load) => load.close()).catch(() => {})
  }

  /** The fault as the operator reads it: that of the rows' reader is why its stream broke. */
  faultOf(caught: unknown): unknown {
    const error = this.#rows?.into.fault ?? caught
    if (error instanceof PatchbayError) return error
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return this.#no('there is no such file')
    if (code?.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE' || CUT_OFF.test(message))
      return this.#no('it is cut off or no .tar.gz', error)
    return error
  }

  async #headOf(content: Readable, bytes: number): Promise<DumpHead & { format: number }> {
    const head = await this.#listOf(content, bytes)
    const format = (head as { format?: unknown } | null)?.format
    if (typeof format === 'number' && !FORMATS.some((known) => known === format)) {
      throw this.#no(`its format is ${format}, and this version reads ${FORMATS.join(' and ')}`)
    }
    if (archiveHeadValidator.Check(head)) return head
    throw this.#no(`its list is wrong: ${printable(firstFault(archiveHeadValidator.Errors(head), 'the list'))}`)
  }

  async #listOf(content: Readable, bytes: number): Promise<unknown> {
    if (bytes > MAX_LIST_BYTES) throw this.#no(`its list is larger than ${MAX_LIST_BYTES / 2 ** 20} MiB`)
    try {
      return JSON.parse((await buffer(content)).toString('utf8')) as unknown
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause
      throw this.#no('its list is no JSON', cause)
    }
  }

  async #takeRows(load: Load, table: string, piece: number, content: Readable): Promise<void> {
    if (this.#rows?.table !== table) {
      await this.#endRows()
      if (this.#read.has(table)) throw this.#no(`the rows of "${table}" are in two places`)
      const digest = new TableDigest()
      this.#read.set(table, digest.sum())
      this.#rows = { table, pieces: 0, digest, into: feed((rows) => load.rows(table, rows)) }
    }
    if (piece !== this.#rows.pieces++) throw this.#no(`a piece of the rows of "${table}" is missing`)
    const { into, digest } = this.#rows
    for await (const chunk of content as AsyncIterable<Buffer>) {
      digest.update(chunk)
      // The pieces of a table are one stream: it ends with the last of them, which a pipe of each could not know.
      if (!into.write(chunk)) await Promise.race([once(into, 'drain'), into.done])
      if (into.destroyed) throw into.fault
    }
  }

  async #endRows(): Promise<void> {
    if (this.#rows === undefined) return
    const { table, into, digest } = this.#rows
    into.end()
    const taken = await into.done
    this.#rows = undefined
    const sum = digest.sum()
    this.#read.set(table, sum)
    if (taken !== sum.rows) throw this.#no(`it has ${sum.rows} rows of "${table}", of which ${taken} were taken`)
  }

  async #takeFile(name: string, bytes: number, content: Readable): Promise<void> {
    const digest = this.#filesDigest
    digest.begin(name, bytes)
    await this.#files.add(
      name,
      Readable.from(
        (async function* () {
          for await (const chunk of content as AsyncIterable<Buffer>) {
            digest.update(chunk)
            yield chunk
          }
        })(),
        { objectMode: false },
      ),
    )
  }

  async #takeEnd(content: Readable, bytes: number): Promise<void> {
    this.#isWhole = true
    if (this.#head?.format === 1) return
    const end = await this.#listOf(content, bytes)
    if (!archiveEndValidator.Check(end)) throw this.#no('the list of sums at its end is wrong')
    const none = new TableDigest().sum()
    const stray = [...this.#read.keys()].find((name) => !end.tables.some((table) => table.name === name))
    if (stray !== undefined) throw this.#no(`it has rows of "${stray}" that the list at its end doesn't have`)
    for (const { name } of this.#head?.tables ?? []) {
      const wanted = end.tables.find((table) => table.name === name) ?? none
      const found = this.#read.get(name) ?? none
      if (wanted.rows !== found.rows)
        throw this.#no(`${wanted.rows} rows of "${name}" were written, and ${found.rows} are in it`)
      if (wanted.digest !== found.digest) throw this.#no(`the rows of "${name}" are not those that were written`)
    }
    const files = this.#filesDigest.sum()
    if (files.count !== end.files.count)
      throw this.#no(`${end.files.count} files were written, and ${files.count} are in it`)
    if (files.digest !== end.files.digest) throw this.#no('its files are not those that were written')
    this.#sums = end
  }

  #no(why: string, cause?: unknown): PatchbayError {
    const reason = `"${this.#path}" is no whole backup of Patchbay: ${why}.`
    return new PatchbayError('configuration', { params: { reason }, cause })
  }
}

/** A stream whose end waits for the work on what is written to it. */
type Feed = Writable & { done: Promise<number>; fault: unknown }

function feed(work: (rows: Readable) => Promise<number>): Feed {
  const into = new PassThrough()
  // `fault` and `done` say it.
  into.on('error', () => {})
  const done = work(into)
  const made: Feed = Object.assign(into, { done, fault: undefined as unknown })
  done.catch((error) => {
    made.fault ??= error
    into.destroy(error)
  })
  return made
}
