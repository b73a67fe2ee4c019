import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { AskStores } from '../../store/connections/readiness.ts'
import type { JobQueue } from '../queues.ts'

const ATTEMPTS = 5
const BACKOFF_MS = 500

/**
 * Queues a call that waits to be placed, once however often it is called.
 * @param waitMs how long it may wait for a free place and voice worker before it ends with no_capacity; null: as long as it takes
 * @param ahead calls of its workspace that wait already: workspaces take turns in the queue
 */
export function queueCall(
  queue: JobQueue<'outbound-calls'>,
  call: { id: string; workspace_id: string },
  waitMs: number | null,
  ahead = 0,
): Promise<void> {
  const payload = { callId: call.id, workspaceId: call.workspace_id, waitMs }
  return queue.add(payload, { jobId: call.id, attempts: ATTEMPTS, backoffMs: BACKOFF_MS, place: ahead })
}

/** Throws `unavailable` where Redis takes no job: a call would wait for as long as that lasts. */
export async function requireQueues(stores: AskStores): Promise<void> {
  const { redis: reason } = await stores()
  if (reason !== undefined) throw new PatchbayError('unavailable', { reason })
}
