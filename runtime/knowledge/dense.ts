/** Dense vectors in eight bits. A row keeps its own scale; rounding to 8 bits moves a cosine by less than 0.005. */
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
/** 127 × 4,095 × 4,096 still fits 32 bits. */
const QUERY_STEPS = 4_095

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

/** A query in whole steps, to be multiplied with rows. */
interface DenseQuery {
  readonly width: number
  readonly steps: Int16Array
  /** What a step is worth at length 1. */
  readonly scale: number
}

/** Undefined: it has no direction, or is longer than any row. */
export function denseQuery(vector: Float32Array): DenseQuery | undefined {
  const { largest, norm } = sizeOf(vector)
  if (!(norm > 0) || !Number.isFinite(norm) || vector.length > MAX_DIMENSIONS) return undefined
  const step = largest / QUERY_STEPS
  const steps = new Int16Array(widthOf(vector.length))
  vector.forEach((value, i) => {
    steps[i] = Math.round(value / step)
  })
  return { width: steps.length, steps, scale: step / norm }
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
