import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'

/** APPNOTE.TXT 4.3.16, 4.3.12 and 4.3.7. */
const END_OF_DIRECTORY = 0x06054b50
const DIRECTORY_ENTRY = 0x02014b50
const LOCAL_HEADER = 0x04034b50
const STORED = 0
const DEFLATED = 8
const MAX_ENTRIES = 10_000
const MIB = 1024 * 1024

/** An archive that can't be read. `isTooLarge`: it would unpack to more than is taken; else it is damaged, or no archive. */
export class ZipError extends Error {
  readonly isTooLarge: boolean

  constructor(message: string, options: ErrorOptions & { isTooLarge?: boolean } = {}) {
    super(message, options)
    this.name = 'ZipError'
    this.isTooLarge = options.isTooLarge ?? false
  }
}

export interface ZipEntry {
  name: string
  isDeflated: boolean
  packed: Buffer
}

/**
 * The parts of an archive, by its directory.
 * @throws ZipError
 */
export function zipEntries(bytes: Uint8Array): ZipEntry[] {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found: ZipEntry[] = []
  try {
    const end = findEnd(zip)
    const entries = zip.readUInt16LE(end + 10)
    if (entries > MAX_ENTRIES) throw new ZipError(`The file holds more than ${MAX_ENTRIES} parts`, { isTooLarge: true })
    // A file of several disks, or a ZIP64, has another directory, which is the one that other readers would take.
    if (zip.readUInt32LE(end + 4) !== 0 || zip.readUInt16LE(end + 8) !== entries) throw new RangeError('Several disks')
    let at = zip.readUInt32LE(end + 16)
    for (let i = 0; i < entries; i++) {
      if (zip.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new RangeError('No directory entry')
      found.push(entryAt(zip, at))
      at += 46 + zip.readUInt16LE(at + 28) + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
    }
    // Where bytes stand before or between, other readers look for a directory elsewhere.
    if (at !== end) throw new RangeError('The directory does not end where its end says')
  } catch (cause) {
    throw asZipError(cause)
  }
  return found
}

/**
 * Unpacks every entry into nothing to see how big it really is, since the sizes an archive states may lie.
 * @throws ZipError
 */
export function checkZip(bytes: Uint8Array, limitBytes: number): void {
  let left = limitBytes
  for (const entry of zipEntries(bytes)) {
    left -= unpackedWithin(entry, left)?.length ?? left + 1
    if (left < 0) throw tooLarge(limitBytes)
  }
}

/**
 * A part, whole.
 * @throws ZipError
 */
export function unpack(entry: ZipEntry, limitBytes: number): Buffer {
  const bytes = unpackedWithin(entry, limitBytes)
  if (bytes === undefined) throw tooLarge(limitBytes)
  return bytes
}

/** Undefined: there is more of it. */
function unpackedWithin({ isDeflated, packed }: ZipEntry, limitBytes: number): Buffer | undefined {
  if (!isDeflated) return packed.length > limitBytes ? undefined : packed
  try {
    // The least that zlib takes as a limit is 1.
    const bytes = inflateRawSync(packed, { maxOutputLength: Math.max(limitBytes, 1) })
    return bytes.length > limitBytes ? undefined : bytes
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw asZipError(cause)
  }
}

/**
 * A part, piece by piece: never more of it in memory than the reader takes.
 * @throws ZipError
 */
export async function* unpacking({ isDeflated, packed }: ZipEntry, limitBytes: number): AsyncGenerator<Uint8Array> {
  if (!isDeflated) {
    if (packed.length > limitBytes) throw tooLarge(limitBytes)
    yield packed
    return
  }
  const inflate = createInflateRaw()
  inflate.end(packed)
  let left = limitBytes
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) {
      left -= piece.length
      if (left < 0) throw tooLarge(limitBytes)
      yield piece
    }
  } catch (cause) {
    throw cause instanceof Error && 'errno' in cause ? asZipError(cause) : cause
  }
}

function findEnd(zip: Buffer): number {
  const signature = Buffer.alloc(4)
  signature.writeUInt32LE(END_OF_DIRECTORY)
  const at = zip.lastIndexOf(signature)
  if (at < 0) throw new RangeError('No end of central directory')
  return at
}

function entryAt(zip: Buffer, at: number): ZipEntry {
  const method = zip.readUInt16LE(at + 10)
  const packedBytes = zip.readUInt32LE(at + 20)
  const local = zip.readUInt32LE(at + 42)
  if (zip.readUInt32LE(local) !== LOCAL_HEADER) throw new RangeError('No local header')
  if (method !== STORED && method !== DEFLATED) throw new RangeError(`Compression method ${method}`)
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
  const name = zip.toString('utf8', at + 46, at + 46 + zip.readUInt16LE(at + 28))
  return { name, isDeflated: method === DEFLATED, packed: zip.subarray(start, start + packedBytes) }
}

function tooLarge(limitBytes: number): ZipError {
  return new ZipError(`The file unpacks to more than ${limitBytes / MIB} MiB`, { isTooLarge: true })
}

function asZipError(cause: unknown): ZipError {
  return cause instanceof ZipError ? cause : new ZipError('The archive is damaged', { cause })
}

/** 1 January 1980, the first day of the format. */
const FIRST_DAY = 0x21
const VERSION = 20
/** Names are UTF-8. */
const UTF8_NAMES = 0x800

/** An archive of these files, stored as they are (APPNOTE.TXT 6.3, 4.3). The same files make the same bytes. */
export function zipOf(files: Iterable<readonly [name: string, content: Buffer]>): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, content] of files) {
    const name = Buffer.from(path)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(VERSION, 0)
    common.writeUInt16LE(UTF8_NAMES, 2)
    common.writeUInt16LE(FIRST_DAY, 8)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(content.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE((0o100644 << 16) >>> 0, 6)
    place.writeUInt32LE(offset, 10)
    directory.push(uint32(DIRECTORY_ENTRY), Buffer.from([VERSION, 3]), common, place, name)
    const head = Buffer.concat([uint32(LOCAL_HEADER), common, name])
    parts.push(head, content)
    offset += head.length + content.length
  }
  const listed = Buffer.concat(directory)
  const count = directory.length / 5
  const end = Buffer.alloc(18)
  end.writeUInt16LE(count, 4)
  end.writeUInt16LE(count, 6)
  end.writeUInt32LE(listed.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, listed, uint32(END_OF_DIRECTORY), end])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
