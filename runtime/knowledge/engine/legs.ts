import type { Terms } from '../../plugin/contract.ts'
import { searchBm25 } from '../bm25.ts'
import { decodeSegment, mergeSegments, type Segment } from '../segment.ts'
import type { Ranking } from './blocks.ts'
import { type StoredRows, searchDense, storeRows } from './dense-search.ts'
import { PAGE_BYTES, Pages } from './pages.ts'

/** By words: BM25 over segments. */
export function wordsLeg(): Ranking<Segment, Terms> {
  return {
    keep(rows) {
      const segments = rows.map(({ segment }) => decodeSegment(segment))
      const kept = segments.length === 1 ? segments[0]! : mergeSegments(segments)
      return { kept, byteLength: kept.byteLength }
    },
    drop() {},
    rank: (segments, terms, limit, isWanted) =>
      searchBm25(segments, terms, limit, isWanted).map(({ segment, index, score }) => ({
        block: segment,
        index,
        score,
      })),
  }
}

/** By meaning: the cosine of every vector. */
export function meaningLeg(): Ranking<StoredRows | undefined, Float32Array> {
  const pages = new Pages()
  return {
    keep(rows) {
      const kept = storeRows(
        pages,
        rows.map(({ chunkNumbers, dense }) => ({ count: chunkNumbers.length, dense })),
      )
      return { kept, byteLength: kept === undefined ? 0 : kept.pages.length * PAGE_BYTES + kept.scales.byteLength }
    },
    drop(kept) {
      if (kept !== undefined) pages.give(kept.pages)
    },
    rank: searchDense,
  }
}
