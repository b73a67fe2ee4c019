import { type DenseRows, denseQuery } from '../dense.ts'
import { type Bank, PAGE_BYTES, type Pages, STREAMS, type VectorPage } from './pages.ts'

/** Rows that lie in pages, each page filled before the next. */
export interface StoredRows {
  readonly width: number
  /** One for each row; 0 for a row that has no vector. */
  readonly scales: Float32Array
  readonly pages: readonly VectorPage[]
}

/** Puts the rows of several parts one after the other; of a part without vectors, `count` rows are empty. */
export function storeRows(
  pages: Pages,
  parts: readonly { count: number; dense: DenseRows | undefined }[],
): StoredRows | undefined {
  const width = parts.find(({ dense }) => dense !== undefined)?.dense?.width
  if (width === undefined) return undefined
  const rowsOfPage = Math.floor(PAGE_BYTES / width)
  const scales = new Float32Array(parts.reduce((sum, { count }) => sum + count, 0))
  const taken: VectorPage[] = []
  try {
    while (taken.length * rowsOfPage < scales.length) taken.push(pages.take())
  } catch (error) {
    pages.give(taken)
    throw error
  }
  let row = 0
  for (const { count, dense } of parts) {
    if (dense !== undefined) {
      scales.set(dense.scales, row)
      for (let done = 0; done < count; ) {
        const page = taken[Math.floor((row + done) / rowsOfPage)]!
        const at = (row + done) % rowsOfPage
        const fits = Math.min(rowsOfPage - at, count - done)
        page.bank.write(page, at * width, dense.rows.subarray(done * width, (done + fits) * width))
        done += fits
      }
    }
    row += count
  }
  return { width, scales, pages: taken }
}

export interface DenseHit {
  /** Index of the rows in the list searched. */
  block: number
  /** Index of the row in its block. */
  index: number
  /** Cosine. */
  score: number
}

/** A page to compare: its rows are `first`, `first` + 1, … of a block. */
interface Part {
  readonly block: number
  readonly first: number
  readonly page: VectorPage
}

/**
 * The `limit` rows nearest to `query`, nearest first, ties in the order of the blocks. Every row is compared with the query;
 * those that are not wanted are left out, and blocks of other widths have none.
 */
export function searchDense(
  blocks: readonly (StoredRows | undefined)[],
  query: Float32Array,
  limit: number,
  isWanted?: (block: number, index: number) => boolean,
): DenseHit[] {
  const prepared = denseQuery(query)
  if (prepared === undefined) return []
  const { width, steps, scale } = prepared
  const rowsOfPage = Math.floor(PAGE_BYTES / width)
  const best = new Best(limit)
  const ready = new Set<Bank>()
  const compare = (parts: readonly Part[]) => {
    const { bank } = parts[0]!.page
    if (!ready.has(bank)) bank.setQuery(steps)
    ready.add(bank)
    const rowsIn = ({ block, first }: Part) => Math.min(rowsOfPage, blocks[block]!.scales.length - first)
    const pages = parts.map(({ page }) => page)
    bank.dots(pages, Math.max(...parts.map(rowsIn)), width)
    const { sums } = bank
    parts.forEach((part, stream) => {
      const { block, first } = part
      const { scales } = blocks[block]!
      const count = rowsIn(part)
      for (let row = 0; row < count; row++) {
        row = nextAtLeast(best.threshold, sums, stream, scales, first, row, count)
        if (row < count && scales[first + row] !== 0 && isWanted?.(block, first + row) !== false) {
          best.add({ block, index: first + row, score: sums[row * STREAMS + stream]! * scales[first + row]! })
        }
      }
    })
  }

  // Pages are compared as many at once as the module reads; those that are not full among themselves, to read less.
  const waiting = new Map<Bank, { full: Part[]; others: Part[] }>()
  blocks.forEach((rows, block) => {
    if (rows?.width !== width) return
    rows.pages.forEach((page, i) => {
      const first = i * rowsOfPage
      let lists = waiting.get(page.bank)
      if (lists === undefined) {
        lists = { full: [], others: [] }
        waiting.set(page.bank, lists)
      }
      const list = first + rowsOfPage <= rows.scales.length ? lists.full : lists.others
      list.push({ block, first, page })
      if (list.length < STREAMS) return
      compare(list)
      list.length = 0
    })
  })
  for (const { full, others } of waiting.values()) {
    if (full.length > 0) compare(full)
    if (others.length > 0) compare(others)
  }
  return best.hits.map((hit) => ({ ...hit, score: hit.score * scale }))
}

/** The first row from `row` on whose score reaches the threshold, or `count`. */
function nextAtLeast(
  threshold: number,
  sums: Int32Array,
  stream: number,
  scales: Float32Array,
  first: number,
  row: number,
  count: number,
): number {
  let at = row
  while (at < count && sums[at * STREAMS + stream]! * scales[first + at]! < threshold) at++
  return at
}

/** The best hits so far, best first. */
class Best {
  readonly hits: DenseHit[] = []
  /** Hits below it are not among the best. */
  threshold = Number.NEGATIVE_INFINITY
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  add(hit: DenseHit): void {
    const { hits } = this
    let at = hits.length
    while (at > 0 && isBefore(hit, hits[at - 1]!)) at--
    hits.splice(at, 0, hit)
    if (hits.length > this.#limit) hits.pop()
    if (hits.length === this.#limit) this.threshold = hits.at(-1)?.score ?? Number.POSITIVE_INFINITY
  }
}

function isBefore(a: DenseHit, b: DenseHit): boolean {
  if (a.score !== b.score) return a.score > b.score
  return a.block === b.block ? a.index < b.index : a.block < b.block
}
