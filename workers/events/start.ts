import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { dropEventPartitions, makeEventPartitions } from '../../store/calls/call-events.ts'
import type { Store } from '../../store/database/database.ts'
import { removeOldDeliveries } from '../../store/events/webhook-deliveries.ts'
import { dropWorkspaceEvents, makeWorkspaceEventPartitions } from '../../store/events/workspace-events.ts'
import { startPeriodicJob } from '../rounds.ts'

const DAY_MS = 86_400_000
const INTERVAL_MS = DAY_MS / 4
/** How long events of workspaces can be read again and sent again. */
const WORKSPACE_EVENTS_DAYS = 30

interface EventRetention {
  /** Waits for the running round. */
  stop(): Promise<void>
}

/** Keeps the events of calls and of workspaces in shape: makes the partitions to come, drops those that are too old. */
export function startEventRetention(services: {
  store: Store
  config: { readonly eventsDays: number }
  clock: Clock
  log: Logger
}): EventRetention {
  const { store, config, clock, log } = services
  const round = async () => {
    const nowMs = clock.nowMs()
    await makeEventPartitions(store, nowMs)
    await makeWorkspaceEventPartitions(store, nowMs)
    const tooOld = new Date(nowMs - WORKSPACE_EVENTS_DAYS * DAY_MS)
    await dropWorkspaceEvents(store, tooOld)
    while ((await removeOldDeliveries(store, tooOld)) > 0);
    const dropped = await dropEventPartitions(store, new Date(nowMs - config.eventsDays * DAY_MS))
    if (dropped.length > 0) log.info({ partitions: dropped }, 'Old events of calls were removed')
  }
  return startPeriodicJob(round, {
    intervalMs: INTERVAL_MS,
    atOnce: true,
    onError: (err) => log.warn({ err }, 'Could not maintain the partitions of the event journal'),
  })
}
