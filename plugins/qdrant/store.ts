import { createHash } from 'node:crypto'
import type { Schemas } from '@qdrant/js-client-rest'
import { LEG_LIMIT } from '../../runtime/knowledge/fusion.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type {
  EmbeddingIdentity,
  Terms,
  VectorMatch,
  VectorPoint,
  VectorQuery,
  VectorScope,
  VectorStore,
} from '../../runtime/plugin/contract.ts'
import { type QdrantServer, statusOf } from './server.ts'

const DENSE = 'dense'
const SPARSE = 'bm25'
/** BM25 as embedded-vectors has it; a sparse vector can't know the mean length, which chunks of 250 tokens vary little from. */
const K1 = 1.2
const B = 0.75
const MEAN_WORDS = 110
const CONFLICT = 409

/** Where the chunks of all workspaces are: one collection, in which every request names the workspace and the agent. */
export class QdrantStore implements VectorStore {
  readonly #server: QdrantServer
  readonly #embedding: EmbeddingIdentity | undefined
  #prepared: Promise<void> | undefined

  constructor(server: QdrantServer, embedding: EmbeddingIdentity | undefined) {
    this.#server = server
    this.#embedding = embedding
  }

  async upsert(
    scope: VectorScope,
    documentId: string,
    points: readonly VectorPoint[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.#prepare(signal)
    if (points.length === 0) return
    const structs = points.map((point) => this.#structOf(scope, documentId, point))
    await this.#server.ask(signal, (client) => client.upsert(this.#server.collection, { wait: true, points: structs }))
  }

  async search(scope: VectorScope, query: VectorQuery, signal: AbortSignal): Promise<VectorMatch[]> {
    await this.#prepare(signal)
    const { terms } = query
    const dense = this.#embedding?.dimensions === query.dense?.length ? query.dense : undefined
    if (terms.ids.length === 0 && dense === undefined) return []
    const { points } = await this.#server.ask(signal, (client) =>
      client.query(this.#server.collection, this.#requestOf(scope, query, dense)),
    )
    return points.flatMap(({ payload, score }) => {
      const { document_id: documentId, chunk } = payload ?? {}
      return typeof documentId === 'string' && typeof chunk === 'number' ? [{ documentId, chunk, score }] : []
    })
  }

  async remove(scope: VectorScope, documentId: string, signal: AbortSignal): Promise<void> {
    const filter = { must: [...mustBe(scope), matches('document_id', documentId)] }
    await this.#delete(filter, signal)
  }

  async removeAll(owner: { workspaceId: string; agentId?: string }, signal: AbortSignal): Promise<void> {
    await this.#delete({ must: mustBe(owner) }, signal)
  }

  /** Creates the collection if missing. After a failure the next request tries again. */
  #prepare(signal: AbortSignal): Promise<void> {
    this.#prepared ??= this.#makeCollection(signal).catch((error) => {
      this.#prepared = undefined
      throw error
    })
    return this.#prepared
  }

  async #makeCollection(signal: AbortSignal): Promise<void> {
    const { collection } = this.#server
    const ask: QdrantServer['ask'] = (given, request) => this.#server.ask(given, request)
    const { exists } = await ask(signal, (client) => client.collectionExists(collection))
    if (!exists) {
      const config: Schemas['CreateCollection'] = {
        vectors:
          this.#embedding === undefined
            ? {}
            : { [DENSE]: { size: this.#embedding.dimensions, distance: 'Cosine', on_disk: true } },
        sparse_vectors: { [SPARSE]: { modifier: 'idf' } },
        // A graph for each agent, and none over all of them: no search crosses agents.
        hnsw_config: { m: 0, payload_m: 16 },
      }
      await ask(signal, (client) => client.createCollection(collection, config)).catch((error: unknown) => {
        // Another process was faster.
        if (statusOf(error) !== CONFLICT) throw error
      })
    }
    // Also for an existing collection: its creator may have died before this step.
    for (const [field_name, is_tenant] of [
      ['agent_id', true],
      ['workspace_id', false],
      ['document_id', false],
    ] as const) {
      const field_schema = { type: 'keyword' as const, is_tenant }
      await ask(signal, (client) => client.createPayloadIndex(collection, { wait: true, field_name, field_schema }))
    }
    if (this.#embedding === undefined) return
    const { config } = await ask(signal, (client) => client.getCollection(collection))
    const { vectors } = config.params
    const size = (vectors as Record<string, { size?: number } | undefined> | undefined)?.[DENSE]?.size
    if (size !== this.#embedding.dimensions) {
      const has = size === undefined ? 'no dense vectors' : `vectors of ${size} numbers`
      const reason = `The Qdrant collection "${collection}" has ${has}, but "${this.#embedding.model}" makes ${this.#embedding.dimensions}; set QDRANT_COLLECTION to a new name and upload the documents again`
      throw new PatchbayError('plugin', { params: { reason } })
    }
  }

  #structOf(
    { workspaceId, agentId }: VectorScope,
    documentId: string,
    { chunk, terms, dense }: VectorPoint,
  ): Schemas['PointStruct'] {
    return {
      id: pointId(documentId, chunk),
      vector: {
        [SPARSE]: sparseOf(terms),
        ...(dense === undefined || this.#embedding === undefined ? {} : { [DENSE]: Array.from(dense) }),
      },
      payload: {
        workspace_id: workspaceId,
        agent_id: agentId,
        document_id: documentId,
        chunk,
        ...(dense === undefined || this.#embedding === undefined ? {} : { model: this.#embedding.model }),
      },
    }
  }

  #requestOf(
    scope: VectorScope,
    { terms, limit, documents }: VectorQuery,
    dense: Float32Array | undefined,
  ): Schemas['QueryRequest'] {
    const corpus: Schemas['Filter'] = { must: mustBe(scope) }
    const among = documents === undefined ? [] : [{ key: 'document_id', match: { any: [...documents] } }]
    const filter = { must: [...mustBe(scope), ...among] } satisfies Schemas['Filter']
    const words = {
      query: { indices: Array.from(terms.ids), values: Array.from(terms.ids, () => 1) },
      using: SPARSE,
      filter,
      // Servers before 1.19 don't know it and weigh words by all workspaces together.
      params: { idf: { corpus } },
    } satisfies Schemas['Prefetch']
    const common = { limit, with_payload: ['document_id', 'chunk'] }
    if (dense === undefined) return { ...words, ...common }
    const meaning: Schemas['Prefetch'] = {
      query: Array.from(dense),
      using: DENSE,
      filter: { must: [...filter.must, matches('model', this.#embedding?.model ?? '')] },
      limit: LEG_LIMIT,
    }
    const prefetch = terms.ids.length === 0 ? [meaning] : [meaning, { ...words, limit: LEG_LIMIT }]
    return { prefetch, query: { fusion: 'rrf' }, filter, ...common }
  }

  async #delete(filter: Schemas['Filter'], signal: AbortSignal): Promise<void> {
    await this.#prepare(signal)
    await this.#server.ask(signal, (client) => client.delete(this.#server.collection, { wait: true, filter }))
  }
}

function mustBe({ workspaceId, agentId }: { workspaceId: string; agentId?: string }): Schemas['FieldCondition'][] {
  const workspace = matches('workspace_id', workspaceId)
  return agentId === undefined ? [workspace] : [workspace, matches('agent_id', agentId)]
}

function matches(key: string, value: string): Schemas['FieldCondition'] {
  return { key, match: { value } }
}

/** The weights of BM25 that depend on the chunk alone; the server multiplies by the rarity of each word. */
function sparseOf({ ids, counts }: Terms): Schemas['SparseVector'] {
  const length = counts.reduce((sum, count) => sum + count, 0)
  const norm = K1 * (1 - B + (B * length) / MEAN_WORDS)
  return { indices: Array.from(ids), values: Array.from(counts, (count) => (count * (K1 + 1)) / (count + norm)) }
}

/** The same chunk always has the same id, so that putting it again replaces it. A UUID of version 8. */
function pointId(documentId: string, chunk: number): string {
  const hash = createHash('sha256').update(`${documentId}/${chunk}`).digest()
  hash[6] = (hash[6]! & 0x0f) | 0x80
  hash[8] = (hash[8]! & 0x3f) | 0x80
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
