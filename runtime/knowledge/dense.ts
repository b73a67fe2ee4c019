import { DOTS_WASM } from './dots.ts'

/**
 * Dense vectors in eight bits and their exhaustive search: every row is compared with the query, none is left out. A row
 * keeps its own scale; rounding to 8 bits moves a cosine by less than 0.005.
 */
export interface DenseRows {
  /** Numbers of a row, a multiple of 16: vectors are filled up with zeros. */
  readonly width: number
  readonly rows: Int8Array
  /** What one step of each row is worth; 0 for a row that has no vector. */
  readonly scales: Float32Array
}

/** Longest vector the search has room for. */
export const MAX_DIMENSIONS = 4_096
const LANE = 16
const ROW_STEPS = 127
/** 127 × 4,096 × 4,096 still fits 32 bits. */
const QUERY_STEPS = 4_095
/** Rows given to the module at once. */
const MAX_ROWS_BYTES = 1 << 20
/** The module's memory: the query, the sums, the rows. */
const QUERY_AT = 0
const OUT_AT = MAX_DIMENSIONS * 2
const ROWS_AT = 65_536
const MAX_ROWS = (ROWS_AT - OUT_AT) / 4

interface DotsModule {
  memory: { buffer: ArrayBuffer }
  dots(rows: number, count: number, dims: number, query: number, out: number): void
}

/** Every JavaScript engine has it, TypeScript's library of the language alone has not. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

let compiled: DotsModule | undefined

/** Compiled on first use: 1 ms and 1.1 MiB. */
function dotsModule(): DotsModule {
  compiled ??= new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(DOTS_WASM, 'base64'))).exports as DotsModule
  return compiled
}

export function widthOf(dimensions: number): number {
  return Math.ceil(dimensions / LANE) * LANE
}

/** The vectors at length 1, in eight bits; `undefined` is a row without a vector. @throws RangeError on other lengths. */
export function denseRows(vectors: readonly (Float32Array | undefined)[], dimensions: number): DenseRows {
  if (dimensions < 1 || dimensions > MAX_DIMENSIONS) {
    throw new RangeError(`Vectors have 1 to ${MAX_DIMENSIONS} numbers, not ${dimensions}`)
  }
  const width = widthOf(dimensions)
  const rows = new Int8Array(vectors.length * width)
  const scales = new Float32Array(vectors.length)
  vectors.forEach((vector, row) => {
    if (vector === undefined) return
    if (vector.length !== dimensions) throw new RangeError(`A vector has ${vector.length} numbers, not ${dimensions}`)
    const { largest, norm } = sizeOf(vector)
    if (!(norm > 0) || !Number.isFinite(norm)) return
    const step = largest / ROW_STEPS
    vector.forEach((value, i) => {
      rows[row * width + i] = Math.round(value / step)
    })
    scales[row] = step / norm
  })
  return { width, rows, scales }
}

export interface DenseHit {
  /** Index of the rows in the list searched. */
  block: number
  /** Index of the row in its block. */
  index: number
  /** Cosine. */
  score: number
}

/** The `limit` rows nearest to `query`, nearest first; ties in the order of the blocks. Blocks of other widths have none. */
export function searchDense(
  blocks: readonly (DenseRows | undefined)[],
  query: Float32Array,
  limit: number,
): DenseHit[] {
  const { largest, norm } = sizeOf(query)
  if (!(norm > 0) || !Number.isFinite(norm)) return []
  const { memory, dots } = dotsModule()
  const width = widthOf(query.length)
  const step = largest / QUERY_STEPS
  const packed = new Int16Array(memory.buffer, QUERY_AT, width).fill(0)
  query.forEach((value, i) => {
    packed[i] = Math.round(value / step)
  })
  const bytes = new Int8Array(memory.buffer)
  const out = new Int32Array(memory.buffer, OUT_AT, MAX_ROWS)
  const rowsAtOnce = Math.min(MAX_ROWS, Math.floor(MAX_ROWS_BYTES / width))
  const best: DenseHit[] = []
  let threshold = Number.NEGATIVE_INFINITY
  blocks.forEach((dense, block) => {
    if (dense?.width !== width) return
    const { rows, scales } = dense
    for (let first = 0; first < scales.length; first += rowsAtOnce) {
      const count = Math.min(rowsAtOnce, scales.length - first)
      bytes.set(rows.subarray(first * width, (first + count) * width), ROWS_AT)
      dots(ROWS_AT, count, width, QUERY_AT, OUT_AT)
      for (let i = 0; i < count; i++) {
        const scale = scales[first + i]!
        const score = out[i]! * scale
        if (scale === 0 || score <= threshold) continue
        keepBest(best, { block, index: first + i, score }, limit)
        if (best.length === limit) threshold = best[limit - 1]!.score
      }
    }
  })
  for (const hit of best) hit.score *= step / norm
  return best
}

function sizeOf(vector: Float32Array): { largest: number; norm: number } {
  let largest = 0
  let squares = 0
  for (const value of vector) {
    largest = Math.max(largest, Math.abs(value))
    squares += value * value
  }
  return { largest, norm: Math.sqrt(squares) }
}

function keepBest(best: DenseHit[], hit: DenseHit, limit: number): void {
  let at = best.length
  while (at > 0 && best[at - 1]!.score < hit.score) at--
  best.splice(at, 0, hit)
  if (best.length > limit) best.pop()
}
