import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { judgeVersions } from '../../runtime/rollouts/guard.ts'
import {
  dispositionOf,
  guardedRollouts,
  isWorseHigher,
  rolloutFigures,
  sampleOf,
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
  const { guard, split } = rollout
  const [old, fresh] = split.map(({ version }) => version).sort((a, b) => a - b)
  if (guard === null || old === undefined || fresh === undefined) return
  const tenant = store.tenant(workspaceId)
  const figures = await rolloutFigures(tenant, rollout.id, dispositionOf(guard.figure))
  const samples = [sampleOf(figures.get(old), guard.figure), sampleOf(figures.get(fresh), guard.figure)] as const
  const { stops, z, boundary } = judgeVersions(...samples, {
    worseIsHigher: isWorseHigher(guard.figure),
    minCalls: guard.min_calls,
    plannedCalls: guard.planned_calls,
  })
  if (!stops || z === null || boundary === null) return
  const figure = (version: number, { calls, sum }: (typeof samples)[0]) => ({ version, calls, mean: sum / calls })
  const isStopped = await stopRollout(tenant, one, {
    at: new Date(clock.nowMs()).toISOString(),
    version: fresh,
    serves: old,
    live: liveVersion,
    figure: guard.figure,
    ...{ z, boundary },
    compared: [figure(old, samples[0]), figure(fresh, samples[1])],
  })
  if (isStopped)
    log.warn({ workspaceId, agentId, version: fresh, serves: old, figure: guard.figure }, 'A rollout was stopped')
}
