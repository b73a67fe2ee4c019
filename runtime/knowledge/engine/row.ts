import type { VectorPoint } from '../../plugin/contract.ts'
import { type DenseRows, denseRows, widthOf } from '../dense.ts'
import { chunkNumbersOf, encodeSegment } from '../segment.ts'

/**
 * A row of the shelf: the segment of up to 256 chunks, alone or with their dense vectors. Little-endian:
 *   u32 magic, bytes of the segment, dimensions, model
 *   the segment, filled up to 4 bytes
 *   f32[chunks]              what a step of each vector is worth; 0: none
 *   i8[chunks][width]        the vectors
 * `model` is a hash of what made the vectors: those of different models can't be compared.
 */
export interface Row {
  /** Bytes for decodeSegment. */
  segment: Uint8Array
  chunkNumbers: Uint32Array
  dense: DenseRows | undefined
}

/** Whose vectors are kept and understood. */
export interface DenseModel {
  dimensions: number
  id: number
}

const MAGIC = 0x31564250
const HEAD_BYTES = 16

export function denseModel(embedding: { model: string; dimensions: number } | undefined): DenseModel | undefined {
  if (embedding === undefined) return undefined
  let id = 0x811c9dc5
  for (let i = 0; i < embedding.model.length; i++) id = Math.imul(id ^ embedding.model.charCodeAt(i), 0x01000193)
  return { dimensions: embedding.dimensions, id: id >>> 0 }
}

export function encodeRow(points: readonly VectorPoint[], model: DenseModel | undefined): Buffer {
  const segment = encodeSegment(points)
  if (model === undefined || points.every(({ dense }) => dense === undefined)) return segment
  const { rows, scales } = denseRows(
    points.map(({ dense }) => dense),
    model.dimensions,
  )
  const head = Buffer.alloc(HEAD_BYTES)
  for (const [i, value] of [MAGIC, segment.length, model.dimensions, model.id].entries())
    head.writeUInt32LE(value, i * 4)
  const padding = Buffer.alloc(-segment.length & 3)
  return Buffer.concat([head, segment, padding, Buffer.from(scales.buffer), Buffer.from(rows.buffer)])
}

/** Views of `bytes`. @throws RangeError when they are no row. Vectors of another model than `model` are left out. */
export function decodeRow(bytes: Uint8Array, model: DenseModel | undefined): Row {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < HEAD_BYTES || view.getUint32(0, true) !== MAGIC) {
    return { segment: bytes, chunkNumbers: chunkNumbersOf(bytes), dense: undefined }
  }
  const [segmentBytes, dimensions, id] = [4, 8, 12].map((at) => view.getUint32(at, true)) as [number, number, number]
  const segment = bytes.subarray(HEAD_BYTES, HEAD_BYTES + segmentBytes)
  const chunkNumbers = chunkNumbersOf(segment)
  const width = widthOf(dimensions)
  const scalesAt = HEAD_BYTES + segmentBytes + (-segmentBytes & 3)
  const rowsAt = scalesAt + chunkNumbers.length * 4
  if (bytes.length !== rowsAt + chunkNumbers.length * width) throw new RangeError('The bytes are not a row of vectors')
  if (id !== model?.id || dimensions !== model.dimensions) return { segment, chunkNumbers, dense: undefined }
  // A copy, which is thus aligned; not slice(), since that of a Buffer is a view.
  const scales = new Float32Array(new Uint8Array(bytes.subarray(scalesAt, rowsAt)).buffer)
  return {
    segment,
    chunkNumbers,
    dense: { width, scales, rows: new Int8Array(bytes.buffer, bytes.byteOffset + rowsAt, chunkNumbers.length * width) },
  }
}

/** The row without its vectors, in memory of its own. */
export function withoutVectors(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < HEAD_BYTES || view.getUint32(0, true) !== MAGIC) return new Uint8Array(bytes)
  return new Uint8Array(bytes.subarray(HEAD_BYTES, HEAD_BYTES + view.getUint32(4, true)))
}
