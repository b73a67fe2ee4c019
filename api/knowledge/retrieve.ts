import { AdmissionGate } from '../../runtime/admission/gate.ts'
import type { Embeddings } from '../../runtime/knowledge/embeddings.ts'
import { termsOf } from '../../runtime/knowledge/terms.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import type { VectorScope, VectorStore } from '../../runtime/plugin/contract.ts'
import type { Store } from '../../store/database/database.ts'
import { findChunks } from '../../store/knowledge/chunks.ts'

export interface Passage {
  documentId: string
  filename: string
  /** Number of the passage in its document, from 0. */
  chunk: number
  text: string
  score: number
}

/** More words than this say nothing new about what is wanted. */
const MAX_QUERY_CHARACTERS = 2_000

/** A search takes milliseconds, and the first of an agent waits for its index: workspaces never wait for each other's searches. */
const searching = new AdmissionGate({ kind: 'knowledge', places: 64, mostOfOne: 16, maxWaiting: 256 })

/** The passages of an agent's documents that fit the query best, best first; never another agent's. */
export async function retrieve(
  { store, vectors, embeddings }: { store: Store; vectors: VectorStore; embeddings: Embeddings | undefined },
  scope: VectorScope,
  query: string,
  topK: number,
  signal: AbortSignal,
  by: 'both' | 'words' | 'meaning' = 'both',
): Promise<Passage[]> {
  const text = cleanText(query, MAX_QUERY_CHARACTERS)
  const terms = termsOf(by === 'meaning' ? '' : text)
  const dense = by === 'words' ? undefined : await embeddings?.query(text, signal)
  if (terms.ids.length === 0 && dense === undefined) return []
  const wanted = { terms, limit: topK, ...(dense === undefined ? {} : { dense }) }
  const matches = await searching.run(scope, () => vectors.search(scope, wanted, signal), signal)
  const found = await findChunks(store, scope, matches)
  const byPlace = new Map(found.map((chunk) => [`${chunk.document_id}/${chunk.seq}`, chunk]))
  // A match whose text is missing belongs to a document deleted this instant.
  return matches.flatMap(({ documentId, chunk, score }) => {
    const text = byPlace.get(`${documentId}/${chunk}`)
    return text === undefined ? [] : [{ documentId, filename: text.filename, chunk, text: text.text, score }]
  })
}
