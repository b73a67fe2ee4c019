import { type DenseRows, denseRows, widthOf } from '../../runtime/knowledge/dense.ts'
import { decodeSegment, encodeSegment, type Segment } from '../../runtime/knowledge/segment.ts'
import type { VectorPoint } from '../../runtime/plugin/contract.ts'

/**
 * A row of the shelf: the segment of up to 256 chunks, alone or with their dense vectors. Little-endian:
 *   u32 magic, bytes of the segment, dimensions, model
 *   the segment, filled up to 4 bytes
 *   f32[chunks]              what a step of each vector is worth; 0: none
 *   i8[chunks][width]        the vectors
 * `model` is a hash of what made the vectors: those of different models can't be compared.
 */
export interface Row {
  segment: Segment
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

/** @throws RangeError when the bytes are no row. Vectors of another model than `model` are left out. */
export function decodeRow(bytes: Uint8Array, model: DenseModel | undefined): Row {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < HEAD_BYTES || view.getUint32(0, true) !== MAGIC) {
    return { segment: decodeSegment(bytes), dense: undefined }
  }
  const [segmentBytes, dimensions, id] = [4, 8, 12].map((at) => view.getUint32(at, true)) as [number, number, number]
  const segment = decodeSegment(bytes.subarray(HEAD_BYTES, HEAD_BYTES + segmentBytes))
  const count = segment.chunkNumbers.length
  const width = widthOf(dimensions)
  const scalesAt = HEAD_BYTES + segmentBytes + (-segmentBytes & 3)
  const rowsAt = scalesAt + count * 4
  if (bytes.length !== rowsAt + count * width) throw new RangeError('The bytes are not a row of vectors')
  if (id !== model?.id || dimensions !== model.dimensions) return { segment, dense: undefined }
  // Not slice(): that of a Buffer is a view, and of a buffer that may not be aligned.
  const scales = new Float32Array(new Uint8Array(bytes.subarray(scalesAt, rowsAt)).buffer)
  return { segment, dense: { width, scales, rows: new Int8Array(new Uint8Array(bytes.subarray(rowsAt)).buffer) } }
}

/** The vectors of several rows one after the other; rows without any have empty ones. */
export function joinDense(rows: readonly Row[]): DenseRows | undefined {
  const width = rows.find(({ dense }) => dense !== undefined)?.dense?.width
  if (width === undefined) return undefined
  const count = rows.reduce((sum, { segment }) => sum + segment.chunkNumbers.length, 0)
  const joined = { width, rows: new Int8Array(count * width), scales: new Float32Array(count) }
  let at = 0
  for (const { segment, dense } of rows) {
    if (dense !== undefined) {
      joined.rows.set(dense.rows, at * width)
      joined.scales.set(dense.scales, at)
    }
    at += segment.chunkNumbers.length
  }
  return joined
}
