import { sql } from 'kysely'
import type { DocumentFormat } from '../../runtime/knowledge/blocks.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import { documentsOfVersion, settleDraft } from '../agents/agent-versions.ts'
import { asyncCommit } from '../database/async-commit.ts'
import type { Store } from '../database/database.ts'
import type { ListPart } from '../database/list-place.ts'
import type { Document } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Documents of agents, and the uploads they are read from. */

/** Of what is wrong with a file. */
const MAX_ERROR_CHARS = 2_000

export interface NewDocument {
  id: string
  filename: string
  format: DocumentFormat | 'unsupported'
  size_bytes: number
  status: 'processing' | 'failed'
  error: string | null
}

export async function openUpload(tenant: Tenant, uploadId: string, agentId: string): Promise<void> {
  await tenant.db.insertInto('uploads').values({ id: uploadId, agent_id: agentId }).returning(asyncCommit).execute()
}

export async function appendToUpload(tenant: Tenant, uploadId: string, seq: number, bytes: Buffer): Promise<void> {
  await tenant.db
    .insertInto('upload_parts')
    .values({ upload_id: uploadId, seq, bytes })
    .returning(asyncCommit)
    .execute()
}

export async function discardUploads(tenant: Tenant, uploadIds: readonly string[]): Promise<void> {
  if (uploadIds.length > 0) await tenant.db.deleteFrom('uploads').where('id', 'in', uploadIds).execute()
}

/** Makes documents of finished uploads, all or none; returned in the order given. */
export async function addDocuments(
  tenant: Tenant,
  agentId: string,
  documents: readonly NewDocument[],
): Promise<Document[]> {
  const rows = await tenant.db
    .insertInto('documents')
    .values(documents.map((document) => ({ ...document, agent_id: agentId })))
    .returningAll()
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return documents.flatMap(({ id }) => byId.get(id) ?? [])
}

/** Rows in one answer: the event loop reads them in a few milliseconds. */
const PAGE_ROWS = 500

/** Oldest first. */
export function listDocuments(
  tenant: Tenant,
  agentId: string,
  { offset, limit, after }: ListPart,
  updatedSince?: Date,
): Promise<Document[]> {
  const query = documentsOf(tenant, agentId, updatedSince).offset(offset).limit(limit)
  return (after === undefined ? query : query.where('id', '>', after.id)).execute()
}

/** Oldest first. */
export async function allDocuments(tenant: Tenant, agentId: string, updatedSince?: Date): Promise<Document[]> {
  const documents: Document[] = []
  let page = await documentsOf(tenant, agentId, updatedSince).limit(PAGE_ROWS).execute()
  while (page.length > 0) {
    documents.push(...page)
    if (page.length < PAGE_ROWS) break
    const rest = documentsOf(tenant, agentId, updatedSince).where('id', '>', page.at(-1)!.id)
    page = await rest.limit(PAGE_ROWS).execute()
  }
  return documents
}

function documentsOf(tenant: Tenant, agentId: string, updatedSince: Date | undefined) {
  const query = tenant.db.selectFrom('documents').selectAll().where('agent_id', '=', agentId).orderBy('id')
  return updatedSince === undefined ? query : query.where('updated_at', '>=', updatedSince)
}

export async function countDocuments(tenant: Tenant, agentId: string, updatedSince?: Date): Promise<number> {
  let query = tenant.db.selectFrom('documents').where('agent_id', '=', agentId)
  if (updatedSince !== undefined) query = query.where('updated_at', '>=', updatedSince)
  const { count } = await query.select((e) => e.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  return count
}

interface KnowledgeSize {
  documents: number
  /** Of those that are ready. */
  passages: number
}

const passagesSum = sql<number>`coalesce(sum(chunk_count), 0)::float8`.as('passages')

export function knowledgeSize(tenant: Tenant, agentId: string): Promise<KnowledgeSize> {
  return tenant.db
    .selectFrom('documents')
    .select((e) => [e.fn.countAll<number>().as('documents'), passagesSum])
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow()
}

/** True when a call of the agent should look things up: in the documents of the version that talks, or of the draft (null). */
export async function hasReadyDocuments(
  tenant: Tenant,
  { id, agent_version: version }: { id: string; agent_version: number | null },
): Promise<boolean> {
  const ready = tenant.db
    .selectFrom('documents')
    .select('id')
    .where('agent_id', '=', id)
    .where('status', '=', 'ready')
    .orderBy('id')
    .limit(1)
  // The oldest one: a version lacks those that were added after it.
  const any = await ready.executeTakeFirst()
  if (any === undefined || version === null) return any !== undefined
  const documents = await documentsOfVersion(tenant, id, version)
  if (documents.has(any.id)) return true
  const row = await ready.where('id', '=', sql<string>`any(${[...documents]}::uuid[])`).executeTakeFirst()
  return row !== undefined
}

/** Removes the document with its upload, chunks and index; retrieval stops finding it at once. False: there was none. */
export function deleteDocument(tenant: Tenant, agentId: string, documentId: string): Promise<boolean> {
  return tenant.db.transaction().execute(async (db) => {
    const deleted = await db
      .deleteFrom('documents')
      .where('id', '=', documentId)
      .where('agent_id', '=', agentId)
      .returning('id')
      .executeTakeFirst()
    if (deleted === undefined) return false
    await db.deleteFrom('uploads').where('id', '=', documentId).execute()
    await db.updateTable('agents').set(bumped).where('id', '=', agentId).execute()
    await settleDraft({ workspaceId: tenant.workspaceId, db }, agentId, { by: null })
    return true
  })
}

/** For the documents job, which knows an id alone. Undefined once the document is gone. */
export function findDocument(store: Store, documentId: string): Promise<Document | undefined> {
  return store.acrossTenants.selectFrom('documents').selectAll().where('id', '=', documentId).executeTakeFirst()
}

/** The bytes of an upload, or undefined when a part is missing. */
export async function readUpload(
  tenant: Tenant,
  uploadId: string,
  sizeBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = new Uint8Array(sizeBytes)
  let at = 0
  for (let seq = 0; at < sizeBytes; seq++) {
    const part = await tenant.db
      .selectFrom('upload_parts')
      .select('bytes')
      .where('upload_id', '=', uploadId)
      .where('seq', '=', seq)
      .executeTakeFirst()
    if (part === undefined || at + part.bytes.length > sizeBytes) return undefined
    bytes.set(part.bytes, at)
    at += part.bytes.length
  }
  return bytes
}

/**
 * Makes the document findable and drops its upload. `gone`: it was deleted meanwhile. `full`: its agent would have more than
 * `maxPassages`; nothing was changed.
 */
export function finishDocument(
  tenant: Tenant,
  document: Document,
  chunkCount: number,
  maxPassages: number,
): Promise<'ready' | 'gone' | 'full'> {
  return tenant.db.transaction().execute(async (db) => {
    // One document of an agent at a time: two that fit alone may not fit together.
    await db.selectFrom('agents').select('id').where('id', '=', document.agent_id).forNoKeyUpdate().execute()
    const { passages, finished } = await db
      .with('size', (sized) =>
        sized.selectFrom('documents').select(passagesSum).where('agent_id', '=', document.agent_id),
      )
      .with('finished', (within) =>
        within
          .updateTable('documents')
          .set({ status: 'ready', chunk_count: chunkCount, error: null, updated_at: sql<Date>`now()` })
          .where('id', '=', document.id)
          .where('status', '=', 'processing')
          .where((e) => e(e.selectFrom('size').select('passages'), '<=', maxPassages - chunkCount))
          .returning('id'),
      )
      .with('left_over', (within) =>
        within
          .deleteFrom('chunks')
          .where('document_id', 'in', (e) => e.selectFrom('finished').select('id'))
          .where('seq', '>=', chunkCount),
      )
      .with('uploaded', (within) =>
        within.deleteFrom('uploads').where('id', 'in', (e) => e.selectFrom('finished').select('id')),
      )
      .with('agent', (within) =>
        within
          .updateTable('agents')
          .set(bumped)
          .where('id', '=', document.agent_id)
          .where((e) => e.exists(e.selectFrom('finished').select('id'))),
      )
      .selectFrom('size')
      .select((e) => ['passages', e.exists(e.selectFrom('finished').select('id')).as('finished')])
      .executeTakeFirstOrThrow()
    if (finished) {
      await settleDraft({ workspaceId: tenant.workspaceId, db }, document.agent_id, { by: null })
      return 'ready'
    }
    return passages + chunkCount > maxPassages ? 'full' : 'gone'
  })
}

/** Ends the processing of a document that can't be read, and drops what was kept of it. */
export function failDocument(tenant: Tenant, documentId: string, error: string): Promise<void> {
  return tenant.db.transaction().execute(async (db) => {
    const failed = await db
      .updateTable('documents')
      .set({ status: 'failed', chunk_count: 0, error: cleanText(error, MAX_ERROR_CHARS), updated_at: sql<Date>`now()` })
      .where('id', '=', documentId)
      .where('status', '=', 'processing')
      .returning('id')
      .executeTakeFirst()
    if (failed === undefined) return
    await db.deleteFrom('chunks').where('document_id', '=', documentId).execute()
    await db.deleteFrom('uploads').where('id', '=', documentId).execute()
  })
}

/** Ids of documents that have waited this long: their job may have been lost with Redis, or never been queued. */
export async function processingDocuments(store: Store, olderThanMs: number, limit: number): Promise<string[]> {
  const rows = await store.acrossTenants
    .selectFrom('documents')
    .select('id')
    .where('status', '=', 'processing')
    .where('created_at', '<', sql<Date>`now() - ${`${olderThanMs} milliseconds`}::interval`)
    .orderBy('created_at')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** Documents of the same workspace that wait and are older than this one. */
export async function aheadOf(store: Store, documentId: string): Promise<number> {
  const { count } = await store.acrossTenants
    .selectFrom('documents as other')
    .innerJoin('documents as own', 'own.workspace_id', 'other.workspace_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('own.id', '=', documentId)
    .where('other.status', '=', 'processing')
    .whereRef('other.id', '<', 'own.id')
    .executeTakeFirstOrThrow()
  return count
}

/** Documents of the workspace that are not read yet. */
export async function countProcessing(tenant: Tenant): Promise<number> {
  const { count } = await tenant.db
    .selectFrom('documents')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('status', '=', 'processing')
    .executeTakeFirstOrThrow()
  return count
}

/** Removes uploads whose request died before they became documents. */
export async function removeStaleUploads(store: Store, olderThanMs: number): Promise<number> {
  const { numDeletedRows } = await store.acrossTenants
    .deleteFrom('uploads')
    .where('created_at', '<', sql<Date>`now() - ${`${olderThanMs} milliseconds`}::interval`)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('documents').select('id').whereRef('documents.id', '=', 'uploads.id'))),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Of an agent whose documents changed: who keeps what it read of them reads it anew. */
const bumped = { knowledge_version: sql<number>`knowledge_version + 1` }

const WORKSPACE_OF_CALL = {
  name: 'workspace-of-call',
  text: 'select workspace_id as "workspaceId" from calls where id = $1 and agent_id is not null',
}

/** In whose workspace a call's agents look things up; undefined: there is no such call. */
export async function workspaceOfCall(store: Store, callId: string): Promise<string | undefined> {
  const { rows } = await store.pool.query<{ workspaceId: string }>({ ...WORKSPACE_OF_CALL, values: [callId] })
  return rows[0]?.workspaceId
}
