export interface Chunk {
  documentId: string
  chunk: number
  /** How often each word occurs. */
  counts: ReadonlyMap<number, number>
  length: number
  dense?: readonly number[]
}

export interface Ranked {
  chunk: Chunk
  score: number
}

const K1 = 1.2
const B = 0.75

/** Best first, by BM25; those that share no word are left out. */
export function byWords(chunks: readonly Chunk[], words: readonly number[]): Ranked[] {
  const average = chunks.reduce((sum, { length }) => sum + length, 0) / Math.max(1, chunks.length)
  const rarity = new Map(
    words.map((word) => {
      const having = chunks.filter(({ counts }) => counts.has(word)).length
      return [word, Math.log(1 + (chunks.length - having + 0.5) / (having + 0.5))]
    }),
  )
  const scoreOf = ({ counts, length }: Chunk): number =>
    words.reduce((sum, word) => {
      const count = counts.get(word) ?? 0
      const norm = K1 * (1 - B + (B * length) / Math.max(1, average))
      return sum + ((rarity.get(word) ?? 0) * count * (K1 + 1)) / (count + norm)
    }, 0)
  return sorted(chunks.map((chunk) => ({ chunk, score: scoreOf(chunk) })).filter(({ score }) => score > 0))
}

/** Best first, by cosine; chunks without a vector are left out. */
export function byMeaning(chunks: readonly Chunk[], query: readonly number[]): Ranked[] {
  return sorted(
    chunks.flatMap((chunk) => (chunk.dense === undefined ? [] : [{ chunk, score: cosine(chunk.dense, query) }])),
  )
}

const sorted = (ranked: Ranked[]): Ranked[] => ranked.sort((a, b) => b.score - a.score)

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, n) => sum + value * (b[n] ?? 0), 0)
  return dot / (Math.hypot(...a) * Math.hypot(...b) || 1)
}
