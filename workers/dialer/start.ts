import { openCallingLaw } from '../../runtime/dialing/calling-law.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Reloads } from '../../runtime/process/reloads.ts'
import { dueCampaigns, tellMissedCallBacks } from '../../store/campaigns/campaign-runs.ts'
import { purgeCampaigns } from '../../store/campaigns/campaigns.ts'
import { slotShares } from '../../store/campaigns/slot-shares.ts'
import type { Store } from '../../store/database/database.ts'
import { failUpload, uploadsToLoad } from '../../store/prospects/prospect-uploads.ts'
import { expireProspects } from '../../store/prospects/prospects.ts'
import { redisCallRoom } from '../../store/redis/call-room.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { storedQuotas } from '../../store/workspaces/quotas.ts'
import { queueCall } from '../calls/queue.ts'
import { openQueue, runJobs } from '../queues.ts'
import { startPeriodicJob } from '../rounds.ts'
import { loadUpload } from './load-upload.ts'
import { tickCampaign } from './tick.ts'

const SWEEP_INTERVAL_MS = 500
/** How often what lies around is tidied: expired prospects, call backs that were missed, deleted campaigns. */
const TIDY_EVERY = 20
const MOST_CAMPAIGNS = 50
const TICKS_AT_ONCE = 4
const MOST_UPLOADS = 100
/** Of one upload, some seconds' work; then the others have their turn. */
const BATCHES_A_TURN = 50
const LOADING_ATTEMPTS = 5
const LOCK_MS = 10_000

interface Dialer {
  stop(graceMs: number): Promise<void>
}

/**
 * Runs campaigns and loads their prospects. Work is claimed in the database; the first process to ask gets a campaign's tick, and a
 * process that dies costs it that one.
 */
export async function startDialer(services: {
  store: Store
  redis: RedisClient
  databaseUrl: string
  clock: Clock
  log: Logger
  config: {
    readonly inboundReserve: number
    readonly workspaceShare: number
    readonly callingRules?: string | undefined
  }
  reloads: Pick<Reloads<{ readonly callingRules?: string | undefined }>, 'watch'>
  sweepIntervalMs?: number
}): Promise<Dialer> {
  const { store, redis, databaseUrl, clock, log, config } = services
  const calling = await openCallingLaw(services)
  const quotas = storedQuotas(store, { webSessionsPerWorkspace: null })
  const room = redisCallRoom({ store, redis, quotas, shares: slotShares(config, { store, clock, log }) })
  const calls = openQueue('outbound-calls', redis)
  const uploads = openQueue('prospect-uploads', redis)
  const loading = runJobs(
    'prospect-uploads',
    redis,
    {
      concurrency: 1,
      lockMs: LOCK_MS,
      onError: (err, job) => log.warn({ err, uploadId: job?.uploadId }, 'Prospects could not be loaded; trying again'),
      onPoison: ({ uploadId }) => log.error({ uploadId }, 'Loading prospects ended several processes'),
    },
    async ({ payload: { uploadId, workspaceId }, lastAttempt, signal }) => {
      try {
        const options = { databaseUrl, uploadId, workspaceId, rules: calling.rules, maxBatches: BATCHES_A_TURN }
        const state = await loadUpload(options, signal)
        if (state === 'gone') {
          await failUpload(store.tenant(workspaceId), uploadId, 'Its list was deleted', new Date(clock.nowMs()))
        }
      } catch (error) {
        if (!lastAttempt || signal.aborted) throw error
        log.error({ err: error, uploadId }, 'An upload failed')
        const sentence = 'The rows could not be loaded; what is left can be retried'
        await failUpload(store.tenant(workspaceId), uploadId, sentence, new Date(clock.nowMs()))
      }
    },
  )

  const tick = async (campaignId: string, workspaceId: string) => {
    const place = (call: { id: string; workspace_id: string }, waitMs: number, ahead: number) =>
      queueCall(calls, call, waitMs, ahead)
    try {
      await tickCampaign({ store, room, calling, clock, log, place }, store.tenant(workspaceId), campaignId)
    } catch (err) {
      log.warn({ err, campaignId }, 'A campaign could not be advanced; its next tick tries again')
    }
  }

  let swept = 0
  const sweep = async () => {
    const now = new Date(clock.nowMs())
    const due = await dueCampaigns(store, now, MOST_CAMPAIGNS)
    const lanes = Array.from({ length: TICKS_AT_ONCE }, async () => {
      for (let one = due.pop(); one !== undefined; one = due.pop()) await tick(one.campaign_id, one.workspace_id)
    })
    await Promise.all(lanes)
    for (const upload of await uploadsToLoad(store, MOST_UPLOADS)) {
      await uploads.add(
        { uploadId: upload.id, workspaceId: upload.workspace_id },
        { jobId: upload.id, attempts: LOADING_ATTEMPTS, backoffMs: 500 },
      )
    }
    if (swept++ % TIDY_EVERY === 0) {
      await expireProspects(store, now)
      await tellMissedCallBacks(store, now)
      await purgeCampaigns(store)
    }
  }
  const sweeps = startPeriodicJob(sweep, {
    intervalMs: services.sweepIntervalMs ?? SWEEP_INTERVAL_MS,
    onError: (err) => log.warn({ err }, 'Looking for due campaigns failed; trying again in a moment'),
  })

  return {
    async stop(graceMs) {
      await sweeps.stop()
      await loading.stop(graceMs)
      await Promise.all([calls.close(), uploads.close()])
    },
  }
}
