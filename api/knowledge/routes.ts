import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { hasAgent } from '../../store/agents/agents.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import {
  allDocuments,
  countDocuments,
  countProcessing,
  deleteDocument,
  listDocuments,
} from '../../store/knowledge/documents.ts'
import { queueDocument } from '../../workers/documents/queue.ts'
import { agentExample } from '../agents/schema.ts'
import { ChangedSince, cursorOf, instantIn, lastOf } from '../cursor.ts'
import { LongListOf, LongListQuery, listBody, windowOf } from '../paging.ts'
import { knowledgeRoom, requireRoom, roomOf } from '../quota.ts'
import { defineRoute } from '../route.ts'
import { type Fault, ValidationError } from '../schema.ts'
import { Detail } from '../workspaces/schema.ts'
import { retrieve } from './retrieve.ts'
import {
  DocumentBody,
  documentBody,
  documentExample,
  passageBody,
  passageExample,
  QueryBody,
  QueryInput,
  UploadBody,
} from './schema.ts'
import { drain, Upload } from './upload.ts'

const tag = 'Knowledge base'

const agent_id = { description: 'The agent.', notFound: 'agent_not_found', example: agentExample.agent_id } as const

async function requireAgent(tenant: Tenant, agentId: string): Promise<void> {
  if (!(await hasAgent(tenant, agentId))) throw new PatchbayError('agent_not_found')
}

const upload = defineRoute({
  method: 'POST',
  path: '/agents/{agent_id}/upload',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'agents',
  params: { agent_id },
  form: Type.Object({}),
  files: {
    files: { description: 'One or more txt, md, html, pdf, docx, csv or json files.', required: true, many: true },
  },
  success: { status: 201, schema: UploadBody },
  errors: ['agent_not_found', 'malformed_body', 'file_too_large', 'quota_reached'],
  tag,
  summary: 'Add documents to the knowledge base of an agent',
  description:
    'Files are kept together or not at all, and then read in the background: poll the documents until none is ' +
    '`processing`. A file that can’t be read is `failed` with its reason and doesn’t hold up the others.',
  examples: {
    body: { files: ['Breakfast is served from seven to ten.'] },
    success: { documents: [{ ...documentExample, status: 'processing', chunks: 0 }] },
  },
  handler: async (request, { documentJobs, store, config }) => {
    const { tenant, params, log } = request
    const exists = await hasAgent(tenant, params.agent_id)
    const room = await roomOf({ store, config }, tenant, ['storage_bytes'])
    const knowledge = await knowledgeRoom({ config }, tenant, params.agent_id)
    const incoming = new Upload(tenant, params.agent_id, log, (bytes) => room('storage_bytes', bytes))
    try {
      await request.form(async (file) => {
        if (exists && file.field === 'files') {
          knowledge(incoming.count + 1)
          await incoming.receive(file)
        } else await drain(file)
      })
      if (!exists) throw new PatchbayError('agent_not_found')
      await requireRoom({ store, config }, tenant, { documents: incoming.count, storage_bytes: incoming.bytes })
      const roomNow = await knowledgeRoom({ config }, tenant, params.agent_id)
      roomNow(incoming.count)
      const documents = await incoming.finish()
      const waiting = documents.filter(({ status }) => status === 'processing')
      const ahead = Math.max(0, (await countProcessing(tenant)) - waiting.length)
      for (const [i, { id }] of waiting.entries()) {
        await queueDocument(documentJobs, id, ahead + i).catch((err) => {
          log.warn({ err, documentId: id }, 'Could not queue a document; the job worker will find it')
        })
      }
      return { documents: documents.map(documentBody) }
    } catch (error) {
      await incoming.discard()
      throw error
    }
  },
})

const list = defineRoute({
  method: 'GET',
  path: '/agents/{agent_id}/documents',
  auth: 'jwt_or_key',
  role: 'member',
  params: { agent_id },
  query: Type.Object({ ...LongListQuery.properties, updated_since: ChangedSince }),
  success: { status: 200, schema: LongListOf(DocumentBody) },
  errors: ['agent_not_found'],
  tag,
  summary: 'The documents of an agent, oldest first; as pages when `page`, `page_size` or `after` is given',
  examples: { success: [documentExample] },
  handler: async ({ params, query, tenant }) => {
    await requireAgent(tenant, params.agent_id)
    const part = windowOf(query, cursorOf(query))
    const since = instantIn(query.updated_since)
    if (part === undefined) return (await allDocuments(tenant, params.agent_id, since)).map(documentBody)
    const [documents, total] = await Promise.all([
      listDocuments(tenant, params.agent_id, part, since),
      countDocuments(tenant, params.agent_id, since),
    ])
    return listBody(documents.map(documentBody), total, query, lastOf(documents))
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/agents/{agent_id}/documents/{document_id}',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'agents',
  params: {
    agent_id,
    document_id: {
      description: 'The document.',
      notFound: 'document_not_found',
      example: documentExample.document_id,
    },
  },
  success: { status: 200, schema: Detail },
  errors: ['agent_not_found', 'document_not_found'],
  tag,
  summary: 'Delete a document, also while it is processed; retrieval stops finding it at once',
  examples: { success: { detail: 'Document deleted' } },
  handler: async ({ params, tenant, signal, log }, { vectors }) => {
    const { agent_id: agentId, document_id: documentId } = params
    await requireAgent(tenant, agentId)
    if (!(await deleteDocument(tenant, agentId, documentId))) throw new PatchbayError('document_not_found')
    // Its vectors are unreachable without their texts; removing them only frees space.
    await vectors.remove({ workspaceId: tenant.workspaceId, agentId }, documentId, signal).catch((err) => {
      log.warn({ err, documentId }, 'Vectors of a deleted document could not be removed')
    })
    return { detail: 'Document deleted' }
  },
})

const query = defineRoute({
  method: 'POST',
  path: '/agents/{agent_id}/query',
  auth: 'jwt_or_key',
  role: 'member',
  audit: false,
  scope: 'read',
  params: { agent_id },
  body: QueryInput,
  success: { status: 200, schema: QueryBody },
  errors: ['agent_not_found'],
  tag,
  summary: 'Test what retrieval finds in the knowledge base of an agent',
  examples: {
    body: { query: 'How long can I return an item?', top_k: 5, by: 'both' },
    success: { query: 'How long can I return an item?', results: [passageExample] },
  },
  handler: async ({ params, body, tenant, signal }, services) => {
    await requireAgent(tenant, params.agent_id)
    const scope = { workspaceId: tenant.workspaceId, agentId: params.agent_id, agentVersion: null }
    if (body.by === 'meaning' && services.embeddings === undefined) throw new ValidationError([NO_MEANING])
    const passages = await retrieve(services, scope, body.query, body.top_k, signal, body.by)
    return { query: body.query, results: passages.map(passageBody) }
  },
})

const NO_MEANING: Fault = {
  loc: ['body', 'by'],
  msg: 'needs a provider of embeddings, and this installation has none: set OPENAI_API_KEY or PATCHBAY_EMBEDDING',
  type: 'value_error',
}

export const knowledgeRoutes = [upload, list, remove, query]
