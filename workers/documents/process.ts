import type { Embeddings } from '../../runtime/knowledge/embeddings.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { VectorStore } from '../../runtime/plugin/contract.ts'
import { ProviderError } from '../../runtime/plugin-sdk/provider-error.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { type Store, sqlState } from '../../store/database/database.ts'
import type { Document } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { writeRows } from '../../store/database/write-rows.ts'
import { putChunks } from '../../store/knowledge/chunks.ts'
import { failDocument, findDocument, finishDocument, readUpload } from '../../store/knowledge/documents.ts'
import { ExtractionError, ExtractionTimeout } from './extract/extraction-error.ts'
import { type ExtractionLimits, extractChunks } from './extract/run.ts'

interface DocumentServices {
  store: Store
  vectors: VectorStore
  /** Undefined: documents are found by their words alone. */
  embeddings?: Embeddings | undefined
  log: Logger
  limits: ExtractionLimits
  /** Of all documents of an agent together. */
  maxPassages: number
  /** Takes a document that needs longer than these limits; absent: it has failed then. */
  postpone?: (documentId: string) => Promise<void>
}

const GIVE_UP_TIMEOUT_MS = 10_000
const FOREIGN_KEY_VIOLATION = '23503'
const GAVE_UP = 'The file could not be processed; delete it and upload it again'

/**
 * Turns one document from `processing` to `ready`, or to `failed` when the file is at fault. Every step may be done twice
 * with the same result, so a job that died, or runs in two processes, needs no cleaning up. Throws what is worth a retry.
 */
export async function processDocument(
  services: DocumentServices,
  { documentId, lastAttempt, signal }: { documentId: string; lastAttempt: boolean; signal: AbortSignal },
): Promise<void> {
  const { store, log, maxPassages } = services
  const document = await findDocument(store, documentId)
  if (document?.status !== 'processing') return
  const tenant = store.tenant(document.workspace_id)
  try {
    const chunkCount = await index(services, tenant, document, signal)
    const end = chunkCount === undefined ? 'gone' : await finishDocument(tenant, document, chunkCount, maxPassages)
    if (end === 'full')
      throw new ExtractionError(`All documents of an agent together have at most ${maxPassages} passages`)
    if (end === 'gone') {
      await services.vectors.remove(scopeOf(document), documentId, signal)
      return
    }
    log.info({ documentId, agentId: document.agent_id, chunks: chunkCount }, 'Document ready')
  } catch (error) {
    if (error instanceof ExtractionTimeout && services.postpone !== undefined) return services.postpone(documentId)
    const atFault = error instanceof ExtractionError
    const refused = error instanceof ProviderError && !error.failure.retryable
    if (!atFault && !refused && (!lastAttempt || signal.aborted)) throw error
    const told = atFault || error instanceof ProviderError
    await failDocument(tenant, documentId, told ? error.message : GAVE_UP)
    await services.vectors.remove(scopeOf(document), documentId, signal)
    if (!atFault && !refused) throw error
    log.info({ documentId, agentId: document.agent_id, reason: error.message }, 'Document failed')
  }
}

/** Ends a document whose processing killed its process again and again. */
export async function giveUpDocument(
  { store, vectors }: Pick<DocumentServices, 'store' | 'vectors'>,
  documentId: string,
): Promise<void> {
  const document = await findDocument(store, documentId)
  if (document?.status !== 'processing') return
  await failDocument(store.tenant(document.workspace_id), documentId, GAVE_UP)
  await vectors.remove(scopeOf(document), documentId, signalWithin(GIVE_UP_TIMEOUT_MS))
}

/** Number of chunks, or undefined when the document was deleted meanwhile. */
async function index(
  { store, vectors, embeddings, limits, log }: DocumentServices,
  tenant: Tenant,
  document: Document,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { id, format } = document
  if (format === 'unsupported') throw new ExtractionError('Unsupported file type')
  const bytes = await readUpload(tenant, id, document.size_bytes)
  if (bytes === undefined) {
    if ((await findDocument(store, id))?.status !== 'processing') return undefined
    throw new PatchbayError('internal', { cause: new Error(`The upload of document ${id} is incomplete`) })
  }
  try {
    return await extractChunks(
      format,
      bytes,
      async (chunks, first) => {
        signal.throwIfAborted()
        const texts = chunks.map((chunk) => chunk.text)
        const { left, error } = await writeRows({
          ...{ table: 'chunks', rows: texts.map((text, i) => ({ text, seq: first + i })), log },
          // Halves of a run are runs.
          write: (some) =>
            putChunks(
              tenant,
              id,
              some[0]?.seq ?? first,
              some.map(({ text }) => text),
            ),
          about: ({ seq }) => ({ documentId: id, seq }),
          passes: (cause) => sqlState(cause) === FOREIGN_KEY_VIOLATION,
        })
        if (left.length > 0) throw error
        const dense = (await embeddings?.passages(texts, signal)) ?? []
        const points = chunks.map(({ terms }, i) => {
          const vector = dense[i]
          return { chunk: first + i, terms, ...(vector === undefined ? {} : { dense: vector }) }
        })
        await vectors.upsert(scopeOf(document), id, points, signal)
      },
      { workspaceId: tenant.workspaceId, signal, ...(limits === undefined ? {} : { limits }) },
    )
  } catch (error) {
    // Chunks and segments refer to their document: it was deleted.
    if (sqlState(error) === FOREIGN_KEY_VIOLATION) return undefined
    throw error
  }
}

function scopeOf(document: Document): { workspaceId: string; agentId: string } {
  return { workspaceId: document.workspace_id, agentId: document.agent_id }
}
