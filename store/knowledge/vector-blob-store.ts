import type { EmbeddingIdentity, ShelfRow, VectorBlobStore, VectorStore } from '../../runtime/plugin/contract.ts'
import type { PluginRegistry } from '../../runtime/plugin/host.ts'
import { asyncCommit } from '../database/async-commit.ts'
import type { Store } from '../database/database.ts'

/** The vector store of this process, which the operator's settings choose. */
export function openVectors(
  plugins: PluginRegistry,
  store: Store,
  embedding: EmbeddingIdentity | undefined,
): Promise<VectorStore> {
  return plugins.create('vectorstore', plugins.chosen('vectorstore'), { shelf: vectorShelf(store), embedding })
}

const VERSION = {
  name: 'knowledge-version',
  text: 'select knowledge_version as version from agents where id = $2 and workspace_id = $1',
}

/** Rows in one answer: the event loop reads them in a millisecond or two. */
const PAGE_ROWS = 500
const BEFORE_ALL = { document_id: '00000000-0000-0000-0000-000000000000', first_chunk: -1 }

const LIST = {
  name: 'vector-segments-list',
  text: `select s.id, s.document_id, s.first_chunk, octet_length(s.bytes) as byte_length from vector_segments s
    join documents d on d.id = s.document_id and d.status = 'ready'
    where s.workspace_id = $1 and s.agent_id = $2 and (s.document_id, s.first_chunk) > ($3::uuid, $4::integer)
    order by s.document_id, s.first_chunk limit ${PAGE_ROWS}`,
}

interface ListedRow {
  id: number
  document_id: string
  first_chunk: number
  byte_length: number
}

/** Base64 is what Node decodes fastest; the driver's own text form of bytes is twice their size. */
const READ = {
  name: 'vector-segments-read',
  text: `select id, encode(bytes, 'base64') as base64 from vector_segments
    where workspace_id = $1 and agent_id = $2 and id = any($3)`,
}

/** The rows of vector_segments; every statement carries the workspace and the agent. */
export function vectorShelf(store: Store): VectorBlobStore {
  return {
    async put({ workspaceId, agentId }, documentId, firstChunk, bytes, signal) {
      signal.throwIfAborted()
      await store
        .tenant(workspaceId)
        .db.insertInto('vector_segments')
        .values({ document_id: documentId, agent_id: agentId, first_chunk: firstChunk, bytes: Buffer.from(bytes) })
        .onConflict((conflict) =>
          conflict.columns(['document_id', 'first_chunk']).doUpdateSet((e) => ({ bytes: e.ref('excluded.bytes') })),
        )
        // Found once the document is ready, and that commit waits.
        .returning(asyncCommit)
        .execute()
    },
    async version({ workspaceId, agentId }, signal) {
      signal.throwIfAborted()
      const { rows } = await store.pool.query<{ version: number }>({ ...VERSION, values: [workspaceId, agentId] })
      return rows[0]?.version ?? 0
    },
    async list({ workspaceId, agentId }, signal) {
      const listed: ShelfRow[] = []
      let last: Pick<ListedRow, 'document_id' | 'first_chunk'> = BEFORE_ALL
      for (;;) {
        signal.throwIfAborted()
        const values: unknown[] = [workspaceId, agentId, last.document_id, last.first_chunk]
        const { rows } = await store.pool.query<ListedRow>({ ...LIST, values })
        for (const row of rows) listed.push({ id: row.id, documentId: row.document_id, byteLength: row.byte_length })
        if (rows.length < PAGE_ROWS) return listed
        last = rows.at(-1)!
      }
    },
    async read({ workspaceId, agentId }, ids, signal) {
      signal.throwIfAborted()
      const { rows } = await store.pool.query<{ id: number; base64: string }>({
        ...READ,
        values: [workspaceId, agentId, ids],
      })
      return rows.map(({ id, base64 }) => ({ id, bytes: Buffer.from(base64, 'base64') }))
    },
    async remove({ workspaceId }, documentId, signal) {
      signal.throwIfAborted()
      await store.tenant(workspaceId).db.deleteFrom('vector_segments').where('document_id', '=', documentId).execute()
    },
  }
}
