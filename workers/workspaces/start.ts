import type { ObjectStore, VectorStore } from '../../runtime/plugin/contract.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { forgetRecordings, recordedCalls } from '../../store/calls/recordings.ts'
import type { Store } from '../../store/database/database.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { requestHangup } from '../../store/redis/hangup.ts'
import { deletedWorkspaces, openCallsOf, purgeWorkspace } from '../../store/workspaces/workspace-deletion.ts'
import { openQueue, runJobs } from '../queues.ts'
import { startPeriodicJob } from '../rounds.ts'
import { giveBackNumbers, type ReleaseNumber } from './give-back-numbers.ts'

const SWEEP_INTERVAL_MS = 5_000
const SWEEP_LIMIT = 100
const ATTEMPTS = 10
const BACKOFF_MS = 1_000
const RECORDINGS_AT_ONCE = 16

interface WorkspaceDeletion {
  stop(graceMs: number): Promise<void>
}

/**
 * Removes the data of deleted workspaces. A marked workspace is invisible at once; the mark in the
 * database is the truth, so a job that is lost, or broken off by a crash, is queued again by the next sweep.
 */
export function startWorkspaceDeletion(services: {
  store: Store
  redis: RedisClient
  objects: ObjectStore
  vectors: VectorStore
  releaseNumber: ReleaseNumber
  log: Logger
  sweepIntervalMs?: number
}): WorkspaceDeletion {
  const { store, redis, objects, vectors, releaseNumber: release, log } = services
  const queue = openQueue('workspace-deletion', redis)

  const runner = runJobs(
    'workspace-deletion',
    redis,
    {
      concurrency: 1,
      onError: (err, job) => log.warn({ err, workspaceId: job?.workspaceId }, 'Deleting a workspace was interrupted'),
      onPoison: ({ workspaceId }) => log.error({ workspaceId }, 'Deleting a workspace ended several processes'),
    },
    async ({ payload: { workspaceId }, signal }) => {
      const calls = await openCallsOf(store, workspaceId)
      for (const callId of calls) await requestHangup(redis, callId)
      await removeRecordings(store, objects, workspaceId, signal)
      await vectors.removeAll({ workspaceId }, signal)
      const numbers = await giveBackNumbers(store, workspaceId, { release, log, signal })
      const rows = await purgeWorkspace(store, workspaceId, signal, { keepNumbers: numbers > 0 })
      if (numbers > 0) throw new Error(`${numbers} phone numbers of workspace "${workspaceId}" are not given back yet`)
      log.info({ workspaceId, rows, calls: calls.length }, 'Workspace deleted')
    },
  )

  const sweep = async () => {
    for (const workspaceId of await deletedWorkspaces(store, SWEEP_LIMIT)) {
      await queue.add({ workspaceId }, { jobId: workspaceId, attempts: ATTEMPTS, backoffMs: BACKOFF_MS })
    }
  }
  const sweeps = startPeriodicJob(sweep, {
    intervalMs: services.sweepIntervalMs ?? SWEEP_INTERVAL_MS,
    atOnce: true,
    onError: (err) => log.warn({ err }, 'Looking for deleted workspaces failed; trying again in a few seconds'),
  })

  return {
    async stop(graceMs) {
      await sweeps.stop()
      await runner.stop(graceMs)
      await queue.close()
    },
  }
}

/** Objects go before the rows that name them, so that a crash in between leaves no orphans. */
async function removeRecordings(
  store: Store,
  objects: ObjectStore,
  workspaceId: string,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const calls = await recordedCalls(store, workspaceId, RECORDINGS_AT_ONCE)
    if (calls.length === 0) return
    await Promise.all(calls.map(({ key }) => objects.remove(key, signal)))
    await forgetRecordings(
      store,
      workspaceId,
      calls.map(({ callId }) => callId),
    )
  }
}
