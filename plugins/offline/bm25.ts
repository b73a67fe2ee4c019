/**
 * Ranks short documents by Okapi BM25 (Robertson and Zaragoza 2009; k1 = 1.2, b = 0.75), as if there were some more documents without
 * any of their terms: in a prompt of one or two sentences every word would be common otherwise, and worth nothing.
 */
export class Bm25 {
  readonly #frequencies: Map<string, number>[]
  readonly #lengths: number[]
  readonly #averageLength: number
  readonly #holders = new Map<string, number>()

  /** Each document is the list of its terms. */
  constructor(documents: readonly (readonly string[])[]) {
    this.#frequencies = documents.map(count)
    this.#lengths = documents.map((document) => document.length)
    this.#averageLength = this.#lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, documents.length)
    for (const frequencies of this.#frequencies) {
      for (const term of frequencies.keys()) this.#holders.set(term, (this.#holders.get(term) ?? 0) + 1)
    }
  }

  /** How much a term tells apart: never negative, largest for a term no document has. */
  inverseFrequency(term: string): number {
    const holders = this.#holders.get(term) ?? 0
    return Math.log(1 + (this.#lengths.length + OTHER_DOCUMENTS - holders + 0.5) / (holders + 0.5))
  }

  has(document: number, term: string): boolean {
    return this.#frequencies[document]?.has(term) ?? false
  }

  /** The part of a document's score that one term brings. */
  score(document: number, term: string): number {
    const frequency = this.#frequencies[document]?.get(term)
    if (frequency === undefined) return 0
    const norm = 1 - B + (B * (this.#lengths[document] ?? 0)) / (this.#averageLength || 1)
    return (this.inverseFrequency(term) * frequency * (K1 + 1)) / (frequency + K1 * norm)
  }
}

const OTHER_DOCUMENTS = 20
const K1 = 1.2
const B = 0.75

function count(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}
