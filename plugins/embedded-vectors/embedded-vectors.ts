import { SearchEngine } from '../../runtime/knowledge/engine/engine.ts'
import { type DenseModel, denseModel, encodeRow } from '../../runtime/knowledge/engine/row.ts'
import type {
  EmbeddingIdentity,
  VectorBlobStore,
  VectorMatch,
  VectorPoint,
  VectorQuery,
  VectorScope,
  VectorStore,
} from '../../runtime/plugin/contract.ts'
import { IndexCache } from './cache.ts'

/** A vector store whose engine runs in threads of this process: rows kept on the shelf, searched in memory. */
export class EmbeddedVectors implements VectorStore {
  readonly #shelf: VectorBlobStore
  readonly #cache: IndexCache
  readonly #model: DenseModel | undefined

  /** `onLost` gets the reason when the search threads end unexpectedly; the next search starts others. */
  constructor(
    shelf: VectorBlobStore,
    cacheBytes: number,
    embedding?: EmbeddingIdentity,
    onLost: (error: Error) => void = () => {},
  ) {
    const model = denseModel(embedding)
    this.#shelf = shelf
    this.#model = model
    this.#cache = new IndexCache(shelf, cacheBytes, () => new SearchEngine({ model, onLost }))
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

  search(scope: VectorScope, query: VectorQuery, signal: AbortSignal): Promise<VectorMatch[]> {
    return this.#cache.search(scope, query, signal)
  }

  remove(scope: VectorScope, documentId: string, signal: AbortSignal): Promise<void> {
    return this.#shelf.remove(scope, documentId, signal)
  }

  /** Rows of the shelf go with their documents. */
  async removeAll(): Promise<void> {}

  /** Ends the search threads. */
  close(): Promise<void> {
    return this.#cache.close()
  }
}
