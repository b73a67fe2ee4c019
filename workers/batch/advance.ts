import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/log.ts'
import { beginDueBatch, claimRows, finishBatch, settleItems } from '../../store/batches.ts'
import type { Store } from '../../store/database.ts'
import { countWaitingCalls } from '../../store/outbound-calls.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { countSlots } from '../../store/redis/slots.ts'

/** Rows taken at once: the calls of a tick are made in one transaction. */
const MAX_CLAIM = 200

/**
 * One step of a batch: rows whose calls are over get their result, as many new rows are taken as voice workers have room
 * for, and a batch with nothing left ends. Safe to run twice, at once or after a crash: the database decides.
 */
export async function advanceBatch(
  services: {
    store: Store
    redis: RedisClient
    clock: Clock
    log: Logger
    place: (call: { id: string; workspace_id: string }) => Promise<void>
  },
  { batchId, workspaceId }: { batchId: string; workspaceId: string },
): Promise<void> {
  const { store, redis, clock, log, place } = services
  const tenant = store.tenant(workspaceId)
  await beginDueBatch(tenant, batchId, new Date(clock.nowMs()))
  await settleItems(tenant, batchId)
  const [{ ready }, waiting] = await Promise.all([countSlots(redis), countWaitingCalls(store)])
  const room = Math.min(ready - waiting, MAX_CLAIM)
  if (room > 0) {
    const calls = await claimRows(tenant, batchId, room, new Date(clock.nowMs()))
    // A crash here loses no call: the sweep queues those that wait too long.
    for (const call of calls) await place(call)
  }
  if (await finishBatch(tenant, batchId, new Date(clock.nowMs()))) log.info({ batchId }, 'Batch completed')
}
