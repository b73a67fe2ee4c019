import type { CallRoom } from '../../runtime/admission/call-room.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { batchDemand, claimRows } from '../../store/batches/batch-claim.ts'
import { cancelBatch } from '../../store/batches/batch-control.ts'
import { beginDueBatch, finishBatch, settleItems } from '../../store/batches/batches.ts'
import { countWaitingCalls } from '../../store/calls/outbound-calls.ts'
import type { Store } from '../../store/database/database.ts'
import { workerPoolOf } from '../../store/workspaces/worker-pools.ts'

/**
 * One step of a batch: rows whose calls are over get their result, as many new rows are taken as there is room for now, and a
 * batch with nothing left ends; one whose agent is gone is canceled. Safe to run twice, at once or after a crash: the database
 * decides.
 */
export async function advanceBatch(
  services: {
    store: Store
    room: CallRoom
    clock: Clock
    log: Logger
    /** @param ahead calls of the workspace that wait already */
    place: (call: { id: string; workspace_id: string }, ahead: number) => Promise<void>
  },
  { batchId, workspaceId }: { batchId: string; workspaceId: string },
): Promise<void> {
  const { store, room, clock, log, place } = services
  const tenant = store.tenant(workspaceId)
  const now = () => new Date(clock.nowMs())
  let demand = await batchDemand(tenant, batchId)
  if (demand?.status === 'scheduled') {
    await beginDueBatch(tenant, batchId, now())
    demand = await batchDemand(tenant, batchId)
  }
  if (demand === undefined) return
  if (demand.isCalling) await settleItems(tenant, batchId)
  if (demand.status === 'running' && demand.agentId === null) {
    await cancelBatch(tenant, batchId, now())
    log.info({ batchId }, 'Batch canceled: its agent is gone')
    return
  }
  let calls: { id: string; workspace_id: string }[] = []
  const { wanted, number, agentId } = demand
  const pool = await workerPoolOf(store, { agentId, workspaceId, number })
  await room.claim({ workspaceId, unit: `batch:${batchId}`, wanted, number, pool }, async (most) => {
    calls = await claimRows(tenant, batchId, most, now())
    return calls.length
  })
  if (calls.length > 0) {
    const ahead = (await countWaitingCalls(tenant)) - calls.length
    // A crash here loses no call: the sweep queues those that wait too long.
    for (const [i, call] of calls.entries()) await place(call, Math.max(0, ahead) + i)
  }
  if (await finishBatch(tenant, batchId, now())) log.info({ batchId }, 'Batch completed')
}
