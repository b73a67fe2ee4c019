import type { JobQueue } from '../queues.ts'

const ATTEMPTS = 5
const BACKOFF_MS = 500

/** Queues a call that waits to be placed, once however often it is called. */
export function queueCall(
  queue: JobQueue<'outbound-calls'>,
  call: { id: string; workspace_id: string },
  waitMs: number,
): Promise<void> {
  const payload = { callId: call.id, workspaceId: call.workspace_id, waitMs }
  return queue.add(payload, { jobId: call.id, attempts: ATTEMPTS, backoffMs: BACKOFF_MS })
}
