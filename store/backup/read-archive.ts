import { createReadStream } from 'node:fs'
import { PassThrough, Readable, type Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { printable } from '../../runtime/lib/printable.ts'
import { firstFault } from '../../runtime/plugin/manifest.ts'
import { archiveHeadValidator, type DumpHead } from './head.ts'
import type { Load } from './load.ts'
import type { StagedFiles } from './staged-files.ts'

/** Far more than the names of all tables and their partitions take. */
const MAX_HEAD_BYTES = 4 * 2 ** 20
const ROWS = /^tables\/([a-z_][a-z0-9_]*)\/(0|[1-9]\d{0,8})$/
/** Of a stream that ends too soon, and of what no gzip or tar is. */
const CUT_OFF =
  /^(Unexpected end of data|Writable stream closed prematurely|Premature close|Invalid tar header|Invalid header|Header exceeds max size|Invalid pax)/

/**
 * Reads a backup to its end. `begin` gets the backup's head and returns the sink of its rows; files are kept aside. Throws
 * `configuration` for what is no whole backup, or holds anything that a backup does not.
 */
export async function readArchive(
  path: string,
  files: Pick<StagedFiles, 'add'>,
  begin: (head: DumpHead) => Promise<Load>,
): Promise<Load> {
  const tar = extract()
  const source = createReadStream(path)
  const flowing = pipeline(source, createGunzip(), tar)
  flowing.catch(() => {})
  const reading = new Reading(path, files, begin)
  try {
    for await (const entry of tar) await reading.take(entry)
    await flowing
    return reading.whole()
  } catch (error) {
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
  #load: Load | undefined
  #rows: { table: string; pieces: number; into: Feed } | undefined
  readonly #read = new Set<string>()
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
      this.#load = await this.#begin(await this.#headOf(content, size ?? 0))
      return
    }
    const [, table, piece] = ROWS.exec(name) ?? []
    if (table !== undefined) {
      await this.#takeRows(this.#load, table, Number(piece), content)
      return
    }
    await this.#endRows()
    if (name.startsWith('files/')) await this.#files.add(name.slice('files/'.length), content)
    else if (name === 'end') this.#isWhole = true
    else throw this.#no(`it has "${printable(name.slice(0, 300))}", which no backup has`)
    content.resume()
  }

  /** What the rows went to. Throws where the end is missing. */
  whole(): Load {
    if (this.#load === undefined || !this.#isWhole) throw this.#no('its end is missing')
    return this.#load
  }

  async giveUp(): Promise<void> {
    this.#rows?.into.destroy()
    await this.#load?.close().catch(() => {})
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

  async #headOf(content: Readable, bytes: number): Promise<DumpHead> {
    if (bytes > MAX_HEAD_BYTES) throw this.#no(`its list is larger than ${MAX_HEAD_BYTES / 2 ** 20} MiB`)
    let head: unknown
    try {
      head = JSON.parse((await buffer(content)).toString('utf8'))
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause
      throw this.#no('its list is no JSON', cause)
    }
    const format = (head as { format?: unknown } | null)?.format
    if (typeof format === 'number' && format !== 1) throw this.#no(`its format is ${format}, and this version reads 1`)
    if (archiveHeadValidator.Check(head)) return head
    throw this.#no(`its list is wrong: ${printable(firstFault(archiveHeadValidator.Errors(head), 'the list'))}`)
  }

  async #takeRows(load: Load, table: string, piece: number, content: Readable): Promise<void> {
    if (this.#rows?.table !== table) {
      await this.#endRows()
      if (this.#read.has(table)) throw this.#no(`the rows of "${table}" are in two places`)
      this.#read.add(table)
      this.#rows = { table, pieces: 0, into: feed((rows) => load.rows(table, rows)) }
    }
    if (piece !== this.#rows.pieces++) throw this.#no(`a piece of the rows of "${table}" is missing`)
    await pipeline(content, this.#rows.into, { end: false })
  }

  async #endRows(): Promise<void> {
    this.#rows?.into.end()
    await this.#rows?.into.done
    this.#rows = undefined
  }

  #no(why: string, cause?: unknown): PatchbayError {
    const reason = `"${this.#path}" is no whole backup of Patchbay: ${why}.`
    return new PatchbayError('configuration', { params: { reason }, cause })
  }
}

/** A stream whose end waits for the work on what is written to it. */
type Feed = Writable & { done: Promise<void>; fault: unknown }

function feed(work: (rows: Readable) => Promise<void>): Feed {
  const into = new PassThrough()
  const done = work(into)
  const made: Feed = Object.assign(into, { done, fault: undefined as unknown })
  done.catch((error) => {
    made.fault ??= error
    into.destroy(error)
  })
  return made
}
