import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { ObjectStore } from '../../runtime/plugin/contract.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { RecordingSpool, SpooledCall } from '../../runtime/recording/spool.ts'
import { callIsKept, callStatuses, writeRecordingKey } from '../../store/calls/recordings.ts'
import type { Store } from '../../store/database/database.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { openQueue, runJobs } from '../queues.ts'
import { startPeriodicJob } from '../rounds.ts'

const CONCURRENCY = 2
const ATTEMPTS = 6
const BACKOFF_MS = 2_000
const SWEEP_INTERVAL_MS = 30_000
/** Sending an hour of stereo over a slow line; a server that is silent is noticed long before. */
const UPLOAD_TIMEOUT_MS = 30 * 60_000
/** A file not written to for this long, of an ended call, has lost its process. */
const ABANDONED_AFTER_MS = 15_000

interface RecordingUploads {
  /** Queues the recording of a call. What can't be queued now, the next sweep finds. */
  queue(call: SpooledCall): void
  stop(graceMs: number): Promise<void>
}

/** Key of a call's recording in the object store. */
export function recordingKey({ workspaceId, callId }: SpooledCall): string {
  return `recordings/${workspaceId}/${callId}.wav`
}

/**
 * Brings recordings from this node's spool into the object store. The jobs of a spool are its node's own, because no other node
 * has the files. The files are the truth: a job that was lost, or a call whose process died, is found by the sweep,
 * and a recording leaves the spool only when the object store has it or its call is gone.
 */
export function startRecordings(services: {
  store: Store
  redis: RedisClient
  objects: ObjectStore
  spool: RecordingSpool
  log: Logger
  sweepIntervalMs?: number
  abandonedAfterMs?: number
}): RecordingUploads {
  const { store, redis, spool, log, abandonedAfterMs = ABANDONED_AFTER_MS } = services
  const queue = openQueue('recordings', redis, spool.id)
  const runner = runJobs(
    'recordings',
    redis,
    {
      part: spool.id,
      concurrency: CONCURRENCY,
      onError: (err, job) => log.warn({ err, callId: job?.callId }, 'A recording could not be stored yet'),
      onPoison: ({ callId }) => log.error({ callId }, 'Storing a recording ended several processes'),
    },
    ({ payload, signal }) => storeRecording(services, payload, signal),
  )

  const add = (call: SpooledCall) =>
    queue.add({ ...call }, { jobId: call.callId, attempts: ATTEMPTS, backoffMs: BACKOFF_MS })

  const sweep = async () => {
    const { whole, unfinished } = await spool.list()
    const untouched = unfinished.filter(({ touchedMs }) => Date.now() - touchedMs > abandonedAfterMs)
    const statuses = await callStatuses(
      store,
      untouched.map(({ callId }) => callId),
    )
    for (const call of untouched) if (isOver(statuses.get(call.callId))) await spool.complete(call)
    for (const call of whole) await add(call)
  }
  const sweeps = startPeriodicJob(sweep, {
    intervalMs: services.sweepIntervalMs ?? SWEEP_INTERVAL_MS,
    atOnce: true,
    onError: (err) => log.warn({ err }, 'Could not look for unqueued recordings; trying again soon'),
  })

  return {
    queue(call) {
      add(call).catch((err) => log.warn({ err, callId: call.callId }, 'A recording could not be queued yet'))
    },
    async stop(graceMs) {
      const swept = sweeps.stop()
      await runner.stop(graceMs)
      await swept
      await queue.close()
    },
  }
}

/** Every step may be done twice with the same result. Throws what is worth another try. */
async function storeRecording(
  { store, objects, spool, log }: { store: Store; objects: ObjectStore; spool: RecordingSpool; log: Logger },
  call: SpooledCall,
  stop: AbortSignal,
): Promise<void> {
  const { callId, workspaceId } = call
  const key = recordingKey(call)
  if (!(await callIsKept(store, workspaceId, callId))) return spool.remove(call)
  const signal = signalWithin(UPLOAD_TIMEOUT_MS, stop)
  const sent = await spool.read(call, (source) => objects.put(key, source, 'audio/wav', signal))
  if (sent === undefined) return
  if (await writeRecordingKey(store, workspaceId, callId, key)) log.info({ callId }, 'Recording stored')
  else await objects.remove(key, signal)
  await spool.remove(call)
}

function isOver(status: string | undefined): boolean {
  return status !== 'queued' && status !== 'ringing' && status !== 'in_progress'
}
