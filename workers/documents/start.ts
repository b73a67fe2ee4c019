import { AdmissionGate } from '../../runtime/admission/gate.ts'
import type { Embeddings } from '../../runtime/knowledge/embeddings.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { VectorStore } from '../../runtime/plugin/contract.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Store } from '../../store/database/database.ts'
import { aheadOf, findDocument, processingDocuments, removeStaleUploads } from '../../store/knowledge/documents.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { openQueue, RescheduleJob, runJobs } from '../queues.ts'
import { startPeriodicJob } from '../rounds.ts'
import { DEFAULT_LIMITS, type ExtractionLimits } from './extract/run.ts'
import { giveUpDocument, processDocument } from './process.ts'
import { queueDocument, SLOW_DOCUMENTS } from './queue.ts'

/**
 * A file is read in a thread of its own. A first try may take a few seconds; what needs longer waits in a line of its own, so
 * that a short file is ready in seconds behind any number of long ones. In both queues workspaces take turns, and in the first none
 * has all places.
 */
const PLACES = 3
/** The third place is another workspace's: its short file never waits for long ones. */
const MOST_OF_ONE = 2
const SLOW_PLACES = 1
/**
 * Jobs that wait for a place of their workspace, so that the next one begins as one ends; after a second they go back in line. So
 * many that there is room to look at another workspace's job as it comes: the jobs of one that has uploaded hundreds come by turns.
 */
const WAITING = 32
const WAIT_MS = 1_000
const AGAIN_MS = 1_000
const FIRST_TRY_MS = 4_000
const SWEEP_INTERVAL_MS = 60_000
/** A document that waits longer than this is queued again, in case its job was lost. */
const LOST_AFTER_MS = 30_000
const SWEEP_LIMIT = 500
/** Longer than any upload takes. */
const STALE_UPLOAD_MS = 24 * 60 * 60_000

interface DocumentsWorker {
  stop(graceMs: number): Promise<void>
}

/** Runs the `documents` queue: uploaded files become passages that retrieval finds. */
export function startDocuments(services: {
  store: Store
  redis: RedisClient
  vectors: VectorStore
  embeddings?: Embeddings | undefined
  log: Logger
  /** Of all documents of an agent together. */
  maxPassages: number
  limits?: ExtractionLimits
  sweepIntervalMs?: number
  lostAfterMs?: number
}): DocumentsWorker {
  const { store, redis, vectors, embeddings, log, maxPassages } = services
  const { limits = DEFAULT_LIMITS, lostAfterMs = LOST_AFTER_MS } = services
  const queue = openQueue('documents', redis)
  const slow = openQueue('documents', redis, SLOW_DOCUMENTS)
  const firstTry = { ...limits, timeoutMs: Math.min(limits.timeoutMs, FIRST_TRY_MS) }
  const postpone = async (documentId: string) => queueDocument(slow, documentId, await aheadOf(store, documentId))
  const gate = new AdmissionGate({
    kind: 'document',
    places: PLACES,
    mostOfOne: MOST_OF_ONE,
    maxWaiting: PLACES + WAITING,
  })
  /** Runs the work in a place of its workspace. Throws RescheduleJob when none is free. */
  const inPlace = async (documentId: string, signal: AbortSignal, work: () => Promise<void>) => {
    const document = await findDocument(store, documentId)
    if (document === undefined) return
    const waiting = signalWithin(WAIT_MS, signal)
    const place = { workspaceId: document.workspace_id }
    const leave = await gate.enter(place, waiting).catch((error) => {
      throw waiting.aborted && !signal.aborted ? new RescheduleJob(AGAIN_MS) : error
    })
    await work().finally(leave)
  }
  const run = (part: string | undefined) => {
    const isFirst = part === undefined
    const process = {
      store,
      vectors,
      embeddings,
      log,
      maxPassages,
      limits: isFirst ? firstTry : limits,
      ...(isFirst && { postpone }),
    }
    return runJobs(
      'documents',
      redis,
      {
        ...(part !== undefined && { part }),
        concurrency: isFirst ? PLACES + WAITING : SLOW_PLACES,
        onError: (err, job) => log.warn({ err, documentId: job?.documentId }, 'Document job failed'),
        onPoison: ({ documentId }) => {
          giveUpDocument({ store, vectors }, documentId).catch((err) => {
            log.warn({ err, documentId }, 'Could not mark a document as failed; trying again')
          })
        },
      },
      ({ payload: { documentId }, lastAttempt, signal }) => {
        const work = () => processDocument(process, { documentId, lastAttempt, signal })
        return isFirst ? inPlace(documentId, signal, work) : work()
      },
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
  const sweeps = startPeriodicJob(sweep, {
    intervalMs: services.sweepIntervalMs ?? SWEEP_INTERVAL_MS,
    atOnce: true,
    onError: (err) => log.warn({ err }, 'Could not look for unqueued documents; trying again in a minute'),
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
