import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { dueBatches } from '../../store/batches/batches.ts'
import { callsToPlace } from '../../store/calls/outbound-calls.ts'
import { slotShares } from '../../store/campaigns/slot-shares.ts'
import type { Store } from '../../store/database/database.ts'
import { redisCallRoom } from '../../store/redis/call-room.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { storedQuotas } from '../../store/workspaces/quotas.ts'
import { queueCall } from '../calls/queue.ts'
import { openQueue, runJobs } from '../queues.ts'
import { startPeriodicJob } from '../rounds.ts'
import { advanceBatch } from './advance.ts'
import { queueBatch } from './queue.ts'

const SWEEP_INTERVAL_MS = 1_000
const MAX_BATCHES = 1_000
/** A batch stands still this long, at most twice, when the process that advances it dies. */
const LOCK_MS = 5_000
/** A call that waits longer than this to be placed is queued again, in case its job was lost. */
const LOST_AFTER_MS = 10_000
/** Of each workspace. */
const MAX_LOST = 50

interface BatchRunner {
  stop(graceMs: number): Promise<void>
}

/**
 * Works through batches. Who sends one queues its first job; the database says what is to do, and each second a job is queued for
 * every batch that is due, so a lost job or a dead process costs a second.
 */
export function startBatches(services: {
  store: Store
  redis: RedisClient
  clock: Clock
  log: Logger
  config: { readonly queueWaitMs: number; readonly inboundReserve: number; readonly workspaceShare: number }
  sweepIntervalMs?: number
  lostAfterMs?: number
}): BatchRunner {
  const { store, redis, clock, log, config, lostAfterMs = LOST_AFTER_MS } = services
  const quotas = storedQuotas(store, { webSessionsPerWorkspace: null })
  const room = redisCallRoom({ store, redis, quotas, shares: slotShares(config, { store, clock, log }) })
  const batches = openQueue('batches', redis)
  const calls = openQueue('outbound-calls', redis)
  const runner = runJobs(
    'batches',
    redis,
    {
      concurrency: 1,
      lockMs: LOCK_MS,
      onError: (err, job) => log.warn({ err, batchId: job?.batchId }, 'Could not advance a batch; trying again'),
      onPoison: ({ batchId }) => log.error({ batchId }, 'Advancing a batch ended several processes'),
    },
    ({ payload }) =>
      advanceBatch({ store, room, clock, log, place: (call, ahead) => queueCall(calls, call, null, ahead) }, payload),
  )

  const sweep = async () => {
    const nowMs = clock.nowMs()
    const due = await dueBatches(store, new Date(nowMs), MAX_BATCHES)
    for (const batch of due) await queueBatch(batches, batch, batch.ahead)
    for (const call of await callsToPlace(store, new Date(nowMs - lostAfterMs), MAX_LOST)) {
      const isRow = call.batch_id !== null || call.campaign_slug !== null
      await queueCall(calls, call, isRow ? null : config.queueWaitMs)
    }
  }
  const sweeps = startPeriodicJob(sweep, {
    intervalMs: services.sweepIntervalMs ?? SWEEP_INTERVAL_MS,
    onError: (err) => log.warn({ err }, 'Looking for due batches failed; trying again in a second'),
  })

  return {
    async stop(graceMs) {
      await sweeps.stop()
      await runner.stop(graceMs)
      await Promise.all([batches.close(), calls.close()])
    },
  }
}
