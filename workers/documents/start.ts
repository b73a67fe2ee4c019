import type { Embeddings } from '../../runtime/knowledge/embeddings.ts'
import type { Logger } from '../../runtime/log.ts'
import type { VectorStore } from '../../runtime/plugin/contract.ts'
import type { Store } from '../../store/database.ts'
import { processingDocuments, removeStaleUploads } from '../../store/documents.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { openQueue, runJobs } from '../queues.ts'
import { DEFAULT_LIMITS, type ExtractionLimits } from './extract/run.ts'
import { giveUpDocument, processDocument } from './process.ts'
import { queueDocument } from './queue.ts'

/** A file is read in a thread of its own; two keep both a small machine's cores and its memory in bounds. */
const CONCURRENCY = 2
const SWEEP_INTERVAL_MS = 60_000
/** A document that waits longer than this is queued again, in case its job was lost. */
const LOST_AFTER_MS = 30_000
const SWEEP_LIMIT = 500
/** Longer than any upload takes. */
const STALE_UPLOAD_MS = 24 * 60 * 60_000

export interface DocumentsWorker {
  stop(graceMs: number): Promise<void>
}

/** Runs the `documents` queue: uploaded files become passages that retrieval finds. */
export function startDocuments(services: {
  store: Store
  redis: RedisClient
  vectors: VectorStore
  embeddings?: Embeddings | undefined
  log: Logger
  limits?: ExtractionLimits
  sweepIntervalMs?: number
  lostAfterMs?: number
}): DocumentsWorker {
  const { store, redis, vectors, embeddings, log, limits = DEFAULT_LIMITS, lostAfterMs = LOST_AFTER_MS } = services
  const queue = openQueue('documents', redis)
  const runner = runJobs(
    'documents',
    redis,
    {
      concurrency: CONCURRENCY,
      onError: (err, job) => log.warn({ err, documentId: job?.documentId }, 'Document job failed'),
      onPoison: ({ documentId }) => {
        giveUpDocument({ store, vectors, log, limits }, documentId).catch((err) => {
          log.warn({ err, documentId }, 'Giving up a document failed; it will be tried again')
        })
      },
    },
    ({ payload, lastAttempt, signal }) =>
      processDocument(
        { store, vectors, embeddings, log, limits },
        { documentId: payload.documentId, lastAttempt, signal },
      ),
  )

  /** Redis may have lost a job, or been away when the upload ended: the database knows what is still to do. */
  const sweep = async () => {
    try {
      const waiting = await processingDocuments(store, lostAfterMs, SWEEP_LIMIT)
      for (const documentId of waiting) await queueDocument(queue, documentId)
      const removed = await removeStaleUploads(store, STALE_UPLOAD_MS)
      if (removed > 0) log.info({ removed }, 'Unfinished uploads removed')
    } catch (err) {
      log.warn({ err }, 'Looking for forgotten documents failed; trying again in a minute')
    }
  }
  let sweeping = sweep()
  const timer = setInterval(() => {
    sweeping = sweeping.then(sweep)
  }, services.sweepIntervalMs ?? SWEEP_INTERVAL_MS)

  return {
    async stop(graceMs) {
      clearInterval(timer)
      await runner.stop(graceMs)
      await sweeping
      await queue.close()
    },
  }
}
