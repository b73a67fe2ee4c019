import type { Terms } from '../plugin/contract.ts'

/**
 * A segment is the inverted index of at most 256 chunks of one document, immutable, in one buffer that is searched as it
 * was stored. All fields are little-endian unsigned integers:
 *   u32 magic, chunks, terms, postings
 *   u32[chunks]     number of each chunk in its document
 *   u32[chunks]     words in each chunk
 *   u32[terms]      term ids, ascending
 *   u32[terms + 1]  where each term's postings start
 *   u16[postings]   chunk index << 8 | occurrences, capped at 255
 */
export interface Segment {
  readonly chunkNumbers: Uint32Array
  readonly lengths: Uint32Array
  readonly termIds: Uint32Array
  readonly starts: Uint32Array
  readonly postings: Uint16Array
  readonly totalLength: number
  readonly byteLength: number
}

const MAGIC = 0x31534250
export const MAX_SEGMENT_CHUNKS = 256

/** @throws RangeError when there are more than 256 points. */
export function encodeSegment(points: readonly { chunk: number; terms: Terms }[]): Buffer {
  const postingsOf = new Map<number, number[]>()
  points.forEach(({ terms }, index) => {
    terms.ids.forEach((id, i) => {
      const posting = (index << 8) | Math.min(terms.counts[i]!, 255)
      const list = postingsOf.get(id)
      if (list === undefined) postingsOf.set(id, [posting])
      else list.push(posting)
    })
  })
  const chunks = points.map(({ chunk, terms }) => ({
    number: chunk,
    length: terms.counts.reduce((sum, count) => sum + count, 0),
  }))
  return write(chunks, postingsOf)
}

function write(
  chunks: readonly { number: number; length: number }[],
  postingsOf: ReadonlyMap<number, readonly number[]>,
): Buffer {
  if (chunks.length > MAX_SEGMENT_CHUNKS) throw new RangeError(`A segment holds at most ${MAX_SEGMENT_CHUNKS} chunks`)
  const ids = Uint32Array.from(postingsOf.keys()).sort()
  let postingCount = 0
  for (const postings of postingsOf.values()) postingCount += postings.length
  const buffer = Buffer.alloc(16 + 8 * chunks.length + 4 * ids.length + 4 * (ids.length + 1) + 2 * postingCount)
  let at = 0
  const u32 = (value: number) => {
    at = buffer.writeUInt32LE(value, at)
  }
  for (const value of [MAGIC, chunks.length, ids.length, postingCount]) u32(value)
  for (const { number } of chunks) u32(number)
  for (const { length } of chunks) u32(length)
  for (const id of ids) u32(id)
  let start = 0
  for (const id of ids) {
    u32(start)
    start += postingsOf.get(id)!.length
  }
  u32(start)
  for (const id of ids) for (const posting of postingsOf.get(id)!) at = buffer.writeUInt16LE(posting, at)
  return buffer
}

/** Views over a copy of `bytes`, which is thus aligned. @throws RangeError when the bytes are no segment. */
export function decodeSegment(bytes: Uint8Array): Segment {
  const buffer = new ArrayBuffer(bytes.byteLength)
  new Uint8Array(buffer).set(bytes)
  const header = bytes.byteLength >= 16 ? new Uint32Array(buffer, 0, 4) : new Uint32Array(4)
  const [magic, chunks, terms, postings] = header as unknown as [number, number, number, number]
  const expected = 16 + 8 * chunks + 4 * terms + 4 * (terms + 1) + 2 * postings
  if (magic !== MAGIC || expected !== bytes.byteLength) throw new RangeError('The bytes are not an index segment')
  const lengths = new Uint32Array(buffer, 16 + 4 * chunks, chunks)
  return {
    chunkNumbers: new Uint32Array(buffer, 16, chunks),
    lengths,
    termIds: new Uint32Array(buffer, 16 + 8 * chunks, terms),
    starts: new Uint32Array(buffer, 16 + 8 * chunks + 4 * terms, terms + 1),
    postings: new Uint16Array(buffer, 16 + 8 * chunks + 4 * terms + 4 * (terms + 1), postings),
    totalLength: lengths.reduce((sum, length) => sum + length, 0),
    byteLength: bytes.byteLength,
  }
}

/** What `decodeSegment` would say, without the rest. @throws RangeError when the bytes can't be a segment. */
export function chunkNumbersOf(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const chunks = bytes.byteLength >= 16 && view.getUint32(0, true) === MAGIC ? view.getUint32(4, true) : -1
  if (chunks < 0 || 16 + 4 * chunks > bytes.byteLength) throw new RangeError('The bytes are not an index segment')
  return Uint32Array.from({ length: chunks }, (_, i) => view.getUint32(16 + 4 * i, true))
}

/** One segment of the chunks of several, in their order; chunks keep their numbers. @throws RangeError beyond 256 chunks. */
export function mergeSegments(segments: readonly Segment[]): Segment {
  const postingsOf = new Map<number, number[]>()
  const chunks: { number: number; length: number }[] = []
  for (const { chunkNumbers, lengths, termIds, starts, postings } of segments) {
    const first = chunks.length
    chunkNumbers.forEach((number, i) => {
      chunks.push({ number, length: lengths[i]! })
    })
    termIds.forEach((id, t) => {
      const list = postingsOf.get(id) ?? []
      if (list.length === 0) postingsOf.set(id, list)
      for (let p = starts[t]!; p < starts[t + 1]!; p++) list.push(postings[p]! + (first << 8))
    })
  }
  return decodeSegment(write(chunks, postingsOf))
}

/** Index of `id` among the segment's terms, or -1. */
export function findTerm(segment: Segment, id: number): number {
  const { termIds } = segment
  let low = 0
  let high = termIds.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const value = termIds[middle]!
    if (value === id) return middle
    if (value < id) low = middle + 1
    else high = middle - 1
  }
  return -1
}
