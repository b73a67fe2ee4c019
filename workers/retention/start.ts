import type { ObjectStore } from '../../runtime/plugin/contract.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { removeDeletedVersions } from '../../store/agents/versions-page.ts'
import { forgetRecordings } from '../../store/calls/recordings.ts'
import type { Store } from '../../store/database/database.ts'
import {
  oldRecordings,
  type Retention,
  removeExpired,
  removeOldCalls,
  removeOldChats,
  removeOldTranscripts,
  workspacesWithRetention,
} from '../../store/workspaces/retention.ts'
import { startPeriodicJob } from '../rounds.ts'

const INTERVAL_MS = 3_600_000
/** A call that is placed now may have read its version already. */
const DELETED_VERSIONS_S = 3_600
const RECORDINGS_AT_ONCE = 16

interface RetentionJob {
  /** Looks once, now, or waits for the look that is under way. */
  look(): Promise<void>
  stop(): Promise<void>
}

/** Removes, each hour, what workspaces keep for so many days alone, a few rows a statement. Several nodes do no harm. */
export function startRetention(services: {
  store: Store
  objects: ObjectStore
  log: Logger
  intervalMs?: number
}): RetentionJob {
  const { store, objects, log, intervalMs = INTERVAL_MS } = services
  const stopping = new AbortController()

  async function removeRecordings(workspaceId: string, days: number): Promise<void> {
    for (;;) {
      const calls = await oldRecordings(store, workspaceId, days, RECORDINGS_AT_ONCE)
      if (calls.length === 0) return
      await Promise.all(calls.map(({ recording_key }) => objects.remove(recording_key ?? '', stopping.signal)))
      await forgetRecordings(
        store,
        workspaceId,
        calls.map(({ id }) => id),
      )
    }
  }

  async function lookAt({ workspace_id: id, ...retention }: Retention & { workspace_id: string }): Promise<void> {
    const { recordings_days, transcripts_days, chats_days, logs_days } = retention
    // A call that goes takes its recording with it.
    const days = [recordings_days, logs_days].filter((one) => one !== null)
    if (days.length > 0) await removeRecordings(id, Math.min(...days))
    const remove = async (limit: number | null, some: (days: number) => Promise<number>) => {
      while (limit !== null && !stopping.signal.aborted && (await some(limit)) > 0);
    }
    await remove(transcripts_days, (limit) => removeOldTranscripts(store, id, limit))
    await remove(chats_days, (limit) => removeOldChats(store, id, limit))
    await remove(logs_days, (limit) => removeOldCalls(store, id, limit))
  }

  async function lookOnce(): Promise<void> {
    for (const workspace of await workspacesWithRetention(store)) {
      if (stopping.signal.aborted) return
      await lookAt(workspace).catch((err) => {
        log.warn({ err, workspaceId: workspace.workspace_id }, 'Old data of a workspace could not be removed')
      })
    }
    await removeExpired(store)
    await removeDeletedVersions(store, DELETED_VERSIONS_S)
  }

  const rounds = startPeriodicJob(lookOnce, {
    intervalMs,
    atOnce: true,
    onError: (err) => log.warn({ err }, 'Looking for old data failed; trying again in an hour'),
  })
  return {
    look: rounds.now,
    async stop() {
      stopping.abort()
      await rounds.stop()
    },
  }
}
