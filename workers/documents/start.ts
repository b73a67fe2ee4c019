import type { Embeddings } from '../../runtime/knowledge/embeddings.ts'
import type { Logger } from '../../runtime/log.ts'
import type { VectorStore } from '../../runtime/plugin/contract.ts'
import type { Store } from '../../store/database.ts'
import { aheadOf, processingDocuments, removeStaleUploads } from '../../store/documents.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { openQueue, runJobs } from '../queues.ts'
import { startRounds } from '../rounds.ts'
import { DEFAULT_LIMITS, type ExtractionLimits } from './extract/run.ts'
import { giveUpDocument, processDocument } from './process.ts'
import { queueDocument, SLOW_DOCUMENTS } from './queue.ts'

/**
 * A file is read in a thread of its own. A first try may take a few seconds; what needs longer waits in a line of its own, so
 * that a short file is ready in seconds whatever others have uploaded. In both lines workspaces take turns.
 */
const CONCURRENCY = 2
const SLOW_CONCURRENCY = 1
const FIRST_TRY_MS = 4_000
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
  const slow = openQueue('documents', redis, SLOW_DOCUMENTS)
  const firstTry = { ...limits, timeoutMs: Math.min(limits.timeoutMs, FIRST_TRY_MS) }
  const postpone = async (documentId: string) => queueDocument(slow, documentId, await aheadOf(store, documentId))
  const run = (part: string | undefined) => {
    const isFirst = part === undefined
    const process = {
      store,
      vectors,
      embeddings,
      log,
      limits: isFirst ? firstTry : limits,
      ...(isFirst && { postpone }),
    }
    return runJobs(
      'documents',
      redis,
      {
        ...(part !== undefined && { part }),
        concurrency: isFirst ? CONCURRENCY : SLOW_CONCURRENCY,
        onError: (err, job) => log.warn({ err, documentId: job?.documentId }, 'Document job failed'),
        onPoison: ({ documentId }) => {
          giveUpDocument({ store, vectors, log, limits }, documentId).catch((err) => {
            log.warn({ err, documentId }, 'Giving up a document failed; it will be tried again')
          })
        },
      },
      ({ payload, lastAttempt, signal }) =>
        processDocument(process, { documentId: payload.documentId, lastAttempt, signal }),
    )
  }
  const runners = [run(undefined), run(SLOW_DOCUMENTS)]

  /** Redis may have lost a job, or been away when the upload ended: the database knows what is still to do. */
  const sweep = async () => {
    const waiting = await processingDocuments(store, lostAfterMs, SWEEP_LIMIT)
    for (const documentId of waiting) {
      if (!(await slow.has(documentId))) await queueDocument(queue, documentId, await aheadOf(store, documentId))
    }
    const removed = await removeStaleUploads(store, STALE_UPLOAD_MS)
    if (removed > 0) log.info({ removed }, 'Unfinished uploads removed')
  }
  const sweeps = startRounds(sweep, {
    intervalMs: services.sweepIntervalMs ?? SWEEP_INTERVAL_MS,
    atOnce: true,
    onError: (err) => log.warn({ err }, 'Looking for forgotten documents failed; trying again in a minute'),
  })

  return {
    async stop(graceMs) {
      const swept = sweeps.stop()
      await Promise.all(runners.map((runner) => runner.stop(graceMs)))
      await swept
      await Promise.all([queue.close(), slow.close()])
    },
  }
}
