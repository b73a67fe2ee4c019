import type { VectorMatch, VectorPoint, VectorQuery, VectorScope, VectorStore } from '@patchbay/plugin'
import { byMeaning, byWords, type Chunk } from './rank.ts'

/** Of each ranking, so many are fused. */
const RANKED = 50

/** Chunks in memory, by whose they are. */
export class Shelf implements VectorStore {
  /** Workspace, agent → document → number → chunk. */
  readonly #agents = new Map<string, Map<string, Map<number, Chunk>>>()

  async upsert(scope: VectorScope, documentId: string, points: readonly VectorPoint[]): Promise<void> {
    const documents = this.#agents.get(keyOf(scope)) ?? new Map<string, Map<number, Chunk>>()
    this.#agents.set(keyOf(scope), documents)
    const chunks = documents.get(documentId) ?? new Map<number, Chunk>()
    documents.set(documentId, chunks)
    for (const { chunk, terms, dense } of points) {
      const counts = new Map(terms.ids.map((id, n) => [id, terms.counts[n] ?? 0]))
      const length = terms.counts.reduce((sum, count) => sum + count, 0)
      chunks.set(chunk, { documentId, chunk, counts, length, ...(dense === undefined ? {} : { dense }) })
    }
  }

  async search(scope: VectorScope, { terms, dense, limit, documents: wanted }: VectorQuery): Promise<VectorMatch[]> {
    const documents = this.#agents.get(keyOf(scope)) ?? new Map<string, Map<number, Chunk>>()
    const among =
      wanted === undefined ? documents.values() : wanted.map((id) => documents.get(id) ?? new Map<number, Chunk>())
    const chunks = [...among].flatMap((document) => [...document.values()])
    const words = byWords(chunks, terms.ids)
    if (dense === undefined) return matches(words).slice(0, limit)
    const fused = new Map<Chunk, number>()
    for (const ranking of [words, byMeaning(chunks, dense)]) {
      for (const [rank, { chunk }] of ranking.slice(0, RANKED).entries()) {
        fused.set(chunk, (fused.get(chunk) ?? 0) + 1 / (rank + 2))
      }
    }
    const scored = Array.from(fused, ([chunk, score]) => ({ chunk, score })).sort((a, b) => b.score - a.score)
    return matches(scored).slice(0, limit)
  }

  async remove(scope: VectorScope, documentId: string): Promise<void> {
    this.#agents.get(keyOf(scope))?.delete(documentId)
  }

  async removeAll({ workspaceId, agentId }: { workspaceId: string; agentId?: string }): Promise<void> {
    for (const key of this.#agents.keys()) {
      if (agentId === undefined ? key.startsWith(`${workspaceId}/`) : key === keyOf({ workspaceId, agentId })) {
        this.#agents.delete(key)
      }
    }
  }
}

const keyOf = ({ workspaceId, agentId }: VectorScope): string => `${workspaceId}/${agentId}`

function matches(ranking: readonly { chunk: Chunk; score: number }[]): VectorMatch[] {
  return ranking.map(({ chunk: { documentId, chunk }, score }) => ({ documentId, chunk, score }))
}
