import { inflateRawSync } from 'node:zlib'
import { ExtractionError } from './extraction-error.ts'

/** APPNOTE.TXT 4.3.16, 4.3.12 and 4.3.7. */
const END_OF_DIRECTORY = 0x06054b50
const DIRECTORY_ENTRY = 0x02014b50
const LOCAL_HEADER = 0x04034b50
const MAX_ENTRIES = 10_000

/**
 * Unpacks every entry into nothing to see how big it really is, since the sizes an archive states may lie.
 * @throws ExtractionError when the archive is damaged, or unpacks to more than `limitBytes`.
 */
export function checkZip(bytes: Uint8Array, limitBytes: number): void {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const end = findEnd(zip)
    const entries = zip.readUInt16LE(end + 10)
    if (entries > MAX_ENTRIES) throw new ExtractionError(`The file holds more than ${MAX_ENTRIES} parts`)
    // A file of several disks, or a ZIP64, has another directory, which is the one that other readers would take.
    if (zip.readUInt32LE(end + 4) !== 0 || zip.readUInt16LE(end + 8) !== entries) throw new RangeError('Several disks')
    let at = zip.readUInt32LE(end + 16)
    let left = limitBytes
    for (let i = 0; i < entries; i++) {
      if (zip.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new RangeError('No directory entry')
      left -= unpackedBytes(zip, at, left)
      if (left < 0) throw new ExtractionError(`The file unpacks to more than ${limitBytes / 1024 / 1024} MiB`)
      at += 46 + zip.readUInt16LE(at + 28) + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
    }
    // Where bytes stand before or between, other readers look for a directory elsewhere.
    if (at !== end) throw new RangeError('The directory does not end where its end says')
  } catch (cause) {
    if (cause instanceof ExtractionError) throw cause
    throw new ExtractionError('The Word document is damaged or not a .docx file', { cause })
  }
}

function findEnd(zip: Buffer): number {
  const signature = Buffer.alloc(4)
  signature.writeUInt32LE(END_OF_DIRECTORY)
  const at = zip.lastIndexOf(signature)
  if (at < 0) throw new RangeError('No end of central directory')
  return at
}

function unpackedBytes(zip: Buffer, entry: number, limitBytes: number): number {
  const method = zip.readUInt16LE(entry + 10)
  const packed = zip.readUInt32LE(entry + 20)
  const local = zip.readUInt32LE(entry + 42)
  if (zip.readUInt32LE(local) !== LOCAL_HEADER) throw new RangeError('No local header')
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
  if (method === 0) return packed
  if (method !== 8) throw new RangeError(`Compression method ${method}`)
  try {
    return inflateRawSync(zip.subarray(start, start + packed), { maxOutputLength: Math.max(limitBytes, 1) }).length
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return limitBytes + 1
    throw cause
  }
}
