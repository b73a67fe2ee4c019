/**
 * Reciprocal rank fusion (Cormack et al., 2009): what several rankings agree on comes first, independent of their scores' scales.
 * The constant is Qdrant's, so that every vector store ranks alike.
 */
const K = 2

/** Ranked by each leg before they are fused: more than anyone asks for, so that a hit low in both can still rise. */
export const LEG_LIMIT = 50

/** The best `limit` of several rankings, best first; ties in the order they are first met. */
export function fuseByRank<T>(
  rankings: readonly (readonly T[])[],
  keyOf: (item: T) => string,
  limit: number,
): { item: T; score: number }[] {
  const fused = new Map<string, { item: T; score: number }>()
  for (const ranking of rankings) {
    ranking.forEach((item, rank) => {
      const key = keyOf(item)
      const entry = fused.get(key) ?? { item, score: 0 }
      entry.score += 1 / (K + rank)
      fused.set(key, entry)
    })
  }
  return [...fused.values()].sort((a, b) => b.score - a.score).slice(0, limit)
}
