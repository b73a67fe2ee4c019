import type { JobQueue } from '../queues.ts'

/** Has a batch advanced now, once however often it is asked for meanwhile. What is lost is found by the sweep. */
export function queueBatch(queue: JobQueue<'batches'>, batch: { id: string; workspace_id: string }): Promise<void> {
  const payload = { batchId: batch.id, workspaceId: batch.workspace_id }
  return queue.add(payload, { jobId: batch.id, attempts: 1, backoffMs: 1_000 })
}
