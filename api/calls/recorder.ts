import { join } from 'node:path'
import type { AudioFormat } from '../../runtime/call/types/leg.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { ObjectStore } from '../../runtime/plugin/contract.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { CallTap } from '../../runtime/recording/call-recording.ts'
import { RecordingSpool, type SpooledCall } from '../../runtime/recording/spool.ts'
import type { Store } from '../../store/database/database.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { startRecordings } from '../../workers/recordings/start.ts'

/** The part of an api node that records its calls and brings the recordings into the object store. */
interface Recorder {
  /** Records a call from that monotonic moment on. */
  readonly record: (call: SpooledCall, format: AudioFormat, startMs: number) => CallTap | undefined
  /** Closes what is still recorded, and stores what it can in `graceMs`; the rest waits for the next start. */
  stop(graceMs: number): Promise<void>
}

export async function startRecorder(services: {
  config: { readonly dataDir: string }
  store: Store
  redis: RedisClient
  objects: ObjectStore
  clock: Clock
  log: Logger
}): Promise<Recorder> {
  const { config, store, redis, objects, clock, log } = services
  const spool = await RecordingSpool.open({
    dir: join(config.dataDir, 'recordings'),
    nowMs: () => clock.monotonicMs(),
    log,
    finished: (call) => uploads.queue(call),
  })
  // Also where calls are no longer recorded: what was recorded before may still wait.
  const uploads = startRecordings({ store, redis, objects, spool, log })
  return {
    record: (call, format, startMs) => spool.record(call, format, startMs),
    async stop(graceMs) {
      await spool.close()
      await uploads.stop(graceMs)
    },
  }
}
