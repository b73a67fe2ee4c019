import type { JobQueue } from '../queues.ts'

/**
 * Has a batch advanced now, once however often it is asked for meanwhile. What is lost is found by the sweep.
 * @param ahead batches of its workspace that come before it: workspaces take turns
 */
export function queueBatch(
  queue: JobQueue<'batches'>,
  batch: { id: string; workspace_id: string },
  ahead: number,
): Promise<void> {
  const payload = { batchId: batch.id, workspaceId: batch.workspace_id }
  return queue.add(payload, { jobId: batch.id, attempts: 1, backoffMs: 1_000, place: ahead })
}
