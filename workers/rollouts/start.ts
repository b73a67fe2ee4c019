import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import {
  compareVersions,
  dispositionOf,
  guardedRollouts,
  rolloutFigures,
  stopRollout,
} from '../../store/agents/rollouts.ts'
import type { Store } from '../../store/database/database.ts'
import { startPeriodicJob } from '../rounds.ts'

const INTERVAL_MS = 10_000

interface RolloutGuardJob {
  /** Looks once, now, or waits for the look that is under way. */
  look(): Promise<void>
  stop(): Promise<void>
}

/** Stops rollouts whose new version is worse. Several nodes do no harm: a rollout is stopped once. */
export function startRolloutGuard(services: {
  store: Store
  clock: Clock
  log: Logger
  intervalMs?: number
}): RolloutGuardJob {
  const { store, log, intervalMs = INTERVAL_MS } = services
  let stopped = false
  const rounds = startPeriodicJob(
    async () => {
      for (const one of await guardedRollouts(store)) {
        if (stopped) return
        await judgeRollout(services, one).catch((err) => {
          log.warn({ err, agentId: one.agentId }, 'A rollout could not be judged; trying again in ten seconds')
        })
      }
    },
    { intervalMs, atOnce: true, onError: (err) => log.warn({ err }, 'Rollouts could not be looked for') },
  )
  return {
    look: rounds.now,
    async stop() {
      stopped = true
      await rounds.stop()
    },
  }
}

async function judgeRollout(
  { store, clock, log }: { store: Store; clock: Clock; log: Logger },
  one: Awaited<ReturnType<typeof guardedRollouts>>[number],
): Promise<void> {
  const { rollout, workspaceId, agentId, liveVersion } = one
  const { guard } = rollout
  if (guard === null) return
  const tenant = store.tenant(workspaceId)
  const found = compareVersions(rollout, await rolloutFigures(tenant, rollout.id, dispositionOf(guard.figure)))
  if (found === undefined) return
  const { earlier, later, verdict } = found
  const { stops, z, boundary } = verdict
  if (!stops || z === null || boundary === null) return
  const isStopped = await stopRollout(tenant, one, {
    at: new Date(clock.nowMs()).toISOString(),
    version: later.version,
    serves: earlier.version,
    live: liveVersion,
    figure: guard.figure,
    ...{ z, boundary },
    compared: [earlier, later].map(({ version, sample: { calls, sum } }) => ({ version, calls, mean: sum / calls })),
  })
  if (isStopped) {
    const versions = { version: later.version, serves: earlier.version }
    log.warn({ workspaceId, agentId, ...versions, figure: guard.figure }, 'A rollout was stopped')
  }
}
