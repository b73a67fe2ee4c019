import type { JobQueue } from '../queues.ts'

const ATTEMPTS = 5
const BACKOFF_MS = 1_000

/** Queues the processing of a document, once however often it is called. */
export function queueDocument(queue: JobQueue<'documents'>, documentId: string): Promise<void> {
  return queue.add({ documentId }, { jobId: documentId, attempts: ATTEMPTS, backoffMs: BACKOFF_MS })
}
