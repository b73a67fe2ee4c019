/** Discounted gain of the first ten, over that of the best order there is; gains are 0 or 1. */
export function ndcgAt10(ranked: readonly string[], relevant: ReadonlySet<string>): number {
  const gain = (rank: number): number => 1 / Math.log2(rank + 2)
  const best = Array.from({ length: Math.min(10, relevant.size) }, (_, rank) => gain(rank))
  const got = ranked.slice(0, 10).map((name, rank) => (relevant.has(name) ? gain(rank) : 0))
  return sum(got) / sum(best)
}

/** Part of what is relevant among the first `k`. */
export function recallAt(k: number, ranked: readonly string[], relevant: ReadonlySet<string>): number {
  return ranked.slice(0, k).filter((name) => relevant.has(name)).length / relevant.size
}

export function mean(values: readonly number[]): number {
  return sum(values) / values.length
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
