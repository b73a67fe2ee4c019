import { sql } from 'kysely'
import { cleanText } from '../../runtime/lib/text.ts'
import { ASYNC_COMMIT } from '../database/async-commit.ts'
import type { Store } from '../database/database.ts'
import type { Tenant } from '../database/tenant.ts'

/** Passages of documents. */

/** Keeps chunks numbered from `first`; the same ones again replace themselves. Throws a foreign key violation once the document is gone. */
export async function putChunks(
  tenant: Tenant,
  documentId: string,
  first: number,
  texts: readonly string[],
): Promise<void> {
  // Found once the document is ready: that commit waits for the disk, and this one need not (async-commit.ts).
  // As one value: a statement with a variable for each value of each row takes longer to write and to read than to carry out.
  await sql`
    insert into chunks (document_id, seq, text, workspace_id)
    select ${documentId}, ${first} + listed.place - 1, listed.text, ${tenant.workspaceId}
    from ${sql.raw(ASYNC_COMMIT)},
      json_array_elements_text(${JSON.stringify(texts.map((text) => cleanText(text)))}::json) with ordinality as listed (text, place)
    on conflict (document_id, seq) do update set text = excluded.text
    where chunks.workspace_id = ${tenant.workspaceId}`.execute(tenant.db)
}

interface FoundChunk {
  document_id: string
  seq: number
  filename: string
  text: string
}

const CHUNKS_OF_MATCHES = {
  name: 'chunks-of-matches',
  text: `select c.document_id, c.seq, d.filename, c.text
    from unnest($3::uuid[], $4::int[]) as wanted (document_id, seq)
    join documents d on d.id = wanted.document_id and d.workspace_id = $1 and d.agent_id = $2 and d.status = 'ready'
    join chunks c on c.document_id = wanted.document_id and c.seq = wanted.seq and c.workspace_id = $1`,
}

/** Texts of an agent's chunks, in any order; those of documents that are gone or not ready are missing. */
export async function findChunks(
  store: Store,
  scope: { workspaceId: string; agentId: string },
  wanted: readonly { documentId: string; chunk: number }[],
): Promise<FoundChunk[]> {
  if (wanted.length === 0) return []
  const { rows } = await store.pool.query<FoundChunk>({
    ...CHUNKS_OF_MATCHES,
    values: [
      scope.workspaceId,
      scope.agentId,
      wanted.map(({ documentId }) => documentId),
      wanted.map(({ chunk }) => chunk),
    ],
  })
  return rows
}
