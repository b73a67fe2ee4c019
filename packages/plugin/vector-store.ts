/** Whose vectors: every call is bound to both. */
export interface VectorScope {
  readonly workspaceId: string
  readonly agentId: string
}

/** Words of a text: hashes of stemmed words, ascending and distinct, and how often each occurs. */
export interface Terms {
  readonly ids: readonly number[]
  readonly counts: readonly number[]
}

/** One chunk of a document. Its text stays with Patchbay. */
export interface VectorPoint {
  /** Number of the chunk in its document. */
  readonly chunk: number
  readonly terms: Terms
  /** Its meaning; absent where there is no provider of embeddings. */
  readonly dense?: readonly number[]
}

export interface VectorQuery {
  readonly terms: Terms
  readonly dense?: readonly number[]
  readonly limit: number
  /** Chunks of other documents are not wanted; absent: those of all are. */
  readonly documents?: readonly string[]
}

export interface VectorMatch {
  readonly documentId: string
  readonly chunk: number
  /** Higher is better; comparable within one search only. */
  readonly score: number
}

/** Keeps the chunks of documents and finds them by words (BM25) and meaning (cosine), fused by reciprocal rank. */
export interface VectorStore {
  /** Adds or replaces points of a document, at most 32 at once. The same points again change nothing. */
  upsert(scope: VectorScope, documentId: string, points: readonly VectorPoint[], signal: AbortSignal): Promise<void>
  /** The best matches, best first, at most `limit`. */
  search(scope: VectorScope, query: VectorQuery, signal: AbortSignal): Promise<readonly VectorMatch[]>
  /** Removes every point of a document; an unknown one is no error. */
  remove(scope: VectorScope, documentId: string, signal: AbortSignal): Promise<void>
  /** Removes every point of an agent, or of a whole workspace. */
  removeAll(owner: { readonly workspaceId: string; readonly agentId?: string }, signal: AbortSignal): Promise<void>
}
