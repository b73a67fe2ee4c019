import { searchBm25 } from '../../runtime/knowledge/bm25.ts'
import { searchDense } from '../../runtime/knowledge/dense.ts'
import { fuseByRank, LEG_LIMIT } from '../../runtime/knowledge/fusion.ts'
import type {
  EmbeddingIdentity,
  VectorMatch,
  VectorPoint,
  VectorQuery,
  VectorScope,
  VectorShelf,
  VectorStore,
} from '../../runtime/plugin/contract.ts'
import { type Block, IndexCache } from './cache.ts'
import { type DenseModel, denseModel, encodeRow } from './row.ts'

/** A vector store whose engine is this process: rows kept on the shelf, searched in memory. */
export class EmbeddedVectors implements VectorStore {
  readonly #shelf: VectorShelf
  readonly #cache: IndexCache
  readonly #model: DenseModel | undefined

  constructor(shelf: VectorShelf, cacheBytes: number, embedding?: EmbeddingIdentity) {
    this.#shelf = shelf
    this.#model = denseModel(embedding)
    this.#cache = new IndexCache(shelf, cacheBytes, this.#model)
  }

  async upsert(
    scope: VectorScope,
    documentId: string,
    points: readonly VectorPoint[],
    signal: AbortSignal,
  ): Promise<void> {
    const [first] = points
    if (first !== undefined) {
      await this.#shelf.put(scope, documentId, first.chunk, encodeRow(points, this.#model), signal)
    }
  }

  async search(scope: VectorScope, query: VectorQuery, signal: AbortSignal): Promise<VectorMatch[]> {
    const blocks = await this.#cache.get(scope, signal)
    const { terms, dense, limit } = query
    if (dense === undefined) return sparseMatches(blocks, terms, limit)
    const legs = [denseMatches(blocks, dense, LEG_LIMIT), sparseMatches(blocks, terms, LEG_LIMIT)]
    const fused = fuseByRank(legs, ({ documentId, chunk }) => `${documentId}/${chunk}`, limit)
    return fused.map(({ item, score }) => ({ ...item, score }))
  }

  remove(scope: VectorScope, documentId: string, signal: AbortSignal): Promise<void> {
    return this.#shelf.remove(scope, documentId, signal)
  }

  /** Rows of the shelf go with their documents. */
  async removeAll(): Promise<void> {}
}

function sparseMatches(blocks: readonly Block[], terms: VectorQuery['terms'], limit: number): VectorMatch[] {
  const hits = searchBm25(
    blocks.map(({ segment }) => segment),
    terms,
    limit,
  )
  return hits.map(({ segment, index, score }) => matchOf(blocks[segment]!, index, score))
}

function denseMatches(blocks: readonly Block[], dense: Float32Array, limit: number): VectorMatch[] {
  const hits = searchDense(
    blocks.map((block) => block.dense),
    dense,
    limit,
  )
  return hits.map(({ block, index, score }) => matchOf(blocks[block]!, index, score))
}

function matchOf({ documentIds, segment }: Block, index: number, score: number): VectorMatch {
  return { documentId: documentIds[index]!, chunk: segment.chunkNumbers[index]!, score }
}
