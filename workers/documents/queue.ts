import type { JobQueue } from '../queues.ts'

const ATTEMPTS = 5
const BACKOFF_MS = 1_000

/** Documents that take longer than a first try wait in a line of their own, with a thread of their own. */
export const SLOW_DOCUMENTS = 'slow'

/**
 * Queues the processing of a document, once however often it is called.
 * @param ahead documents of its workspace that wait already: workspaces take turns
 */
export function queueDocument(queue: JobQueue<'documents'>, documentId: string, ahead = 0): Promise<void> {
  return queue.add({ documentId }, { jobId: documentId, attempts: ATTEMPTS, backoffMs: BACKOFF_MS, place: ahead })
}
