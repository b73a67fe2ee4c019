import { AdmissionGate } from '../../runtime/admission/gate.ts'
import type { Embeddings } from '../../runtime/knowledge/embeddings.ts'
import { termsOf } from '../../runtime/knowledge/terms.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import type { VectorMatch, VectorQuery, VectorScope, VectorStore } from '../../runtime/plugin/contract.ts'
import { documentsOfVersion } from '../../store/agents/agent-versions.ts'
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

/** Whose documents are searched. */
export interface KnowledgeScope extends VectorScope {
  /** The documents that this version was made with and that are still there; null: all, as the draft finds them. */
  agentVersion: number | null
}

/** More words than this say nothing new about what is wanted. */
const MAX_QUERY_CHARACTERS = 2_000

/** A search takes milliseconds, and the first of an agent waits for its index: workspaces never wait for each other's searches. */
const searching = new AdmissionGate({ kind: 'knowledge', places: 64, mostOfOne: 16, maxWaiting: 256 })

/** The passages of an agent's documents that fit the query best, best first; never another agent's. */
export async function retrieve(
  { store, vectors, embeddings }: { store: Store; vectors: VectorStore; embeddings: Embeddings | undefined },
  { agentVersion, ...scope }: KnowledgeScope,
  query: string,
  topK: number,
  signal: AbortSignal,
  by: 'both' | 'words' | 'meaning' = 'both',
): Promise<Passage[]> {
  const tenant = store.tenant(scope.workspaceId)
  const documents = agentVersion === null ? undefined : await documentsOfVersion(tenant, scope.agentId, agentVersion)
  if (documents?.size === 0) return []
  const text = cleanText(query, MAX_QUERY_CHARACTERS)
  const terms = termsOf(by === 'meaning' ? '' : text)
  const dense = by === 'words' ? undefined : await embeddings?.query(text, signal)
  if (terms.ids.length === 0 && dense === undefined) return []
  const wanted = { terms, limit: topK, ...(dense === undefined ? {} : { dense }) }
  const search = (query: VectorQuery) => searching.run(scope, () => vectors.search(scope, query, signal), signal)
  const isOfVersion = ({ documentId }: VectorMatch): boolean => documents === undefined || documents.has(documentId)
  let matches = await search(wanted)
  if (documents !== undefined && !matches.every(isOfVersion)) {
    // Seldom: a version that talks mostly has all documents, and then no list of thousands goes along. Stores may leave it unread.
    matches = (await search({ ...wanted, documents: [...documents] })).filter(isOfVersion)
  }
  const found = await findChunks(store, scope, matches)
  const byPlace = new Map(found.map((chunk) => [`${chunk.document_id}/${chunk.seq}`, chunk]))
  // A match whose text is missing belongs to a document deleted this instant.
  return matches.flatMap(({ documentId, chunk, score }) => {
    const text = byPlace.get(`${documentId}/${chunk}`)
    return text === undefined ? [] : [{ documentId, filename: text.filename, chunk, text: text.text, score }]
  })
}
