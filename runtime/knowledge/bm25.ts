import type { Terms } from '../plugin/contract.ts'
import { findTerm, MAX_SEGMENT_CHUNKS, type Segment } from './segment.ts'

/** Robertson's BM25 with Lucene's never-negative idf. */
const K1 = 1.2
const B = 0.75

interface Hit {
  /** Index of the segment in the list searched. */
  segment: number
  /** Index of the chunk in its segment. */
  index: number
  score: number
}

/**
 * The `limit` chunks of `segments` that fit `query` best, best first; ties in the order of the segments. Statistics are
 * those of all segments together, so the ranking doesn't depend on how documents were cut into segments, nor on which chunks are wanted.
 */
export function searchBm25(
  segments: readonly Segment[],
  query: Terms,
  limit: number,
  isWanted?: (segment: number, index: number) => boolean,
): Hit[] {
  let chunks = 0
  let length = 0
  for (const segment of segments) {
    chunks += segment.chunkNumbers.length
    length += segment.totalLength
  }
  if (chunks === 0) return []

  const termCount = query.ids.length
  const found = new Int32Array(segments.length * termCount)
  const frequencies = new Uint32Array(termCount)
  segments.forEach((segment, s) => {
    for (let t = 0; t < termCount; t++) {
      const at = findTerm(segment, query.ids[t]!)
      found[s * termCount + t] = at
      if (at >= 0) frequencies[t]! += segment.starts[at + 1]! - segment.starts[at]!
    }
  })
  const weights = Float64Array.from(frequencies, (n) => Math.log(1 + (chunks - n + 0.5) / (n + 0.5)) * (K1 + 1))

  const perWord = (K1 * B) / Math.max(length / chunks, 1)
  const scores = new Float64Array(MAX_SEGMENT_CHUNKS)
  const norms = new Float64Array(MAX_SEGMENT_CHUNKS)
  const best: Hit[] = []
  let threshold = 0
  for (let s = 0; s < segments.length; s++) {
    const { lengths, starts, postings, chunkNumbers } = segments[s]!
    const size = chunkNumbers.length
    let touched = false
    for (let t = 0; t < termCount; t++) {
      const at = found[s * termCount + t]!
      if (at < 0) continue
      if (!touched) {
        touched = true
        for (let index = 0; index < size; index++) {
          scores[index] = 0
          norms[index] = K1 * (1 - B) + perWord * lengths[index]!
        }
      }
      const weight = weights[t]!
      const end = starts[at + 1]!
      for (let p = starts[at]!; p < end; p++) {
        const posting = postings[p]!
        const index = posting >>> 8
        const count = posting & 0xff
        scores[index]! += (weight * count) / (count + norms[index]!)
      }
    }
    if (!touched) continue
    for (let index = 0; index < size; index++) {
      const score = scores[index]!
      if (score <= threshold || isWanted?.(s, index) === false) continue
      keepBest(best, { segment: s, index, score }, limit)
      if (best.length === limit) threshold = best[limit - 1]!.score
    }
  }
  return best
}

function keepBest(best: Hit[], hit: Hit, limit: number): void {
  let at = best.length
  while (at > 0 && best[at - 1]!.score < hit.score) at--
  best.splice(at, 0, hit)
  if (best.length > limit) best.pop()
}
