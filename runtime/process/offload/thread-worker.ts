import { boundary } from '../../lib/async/boundary.ts'
import { processUsage } from '../process-usage.ts'
import type { OffloadTask } from './offload.ts'
import { endThread, startThread } from './thread.ts'
import { systemIdOf } from './thread-id.ts'
import type { FromWorker, OffloadWorker, WorkerListener, WorkerStart } from './worker.ts'

/** A thread of this process. */
export function startThreadWorker(
  { name, entry, setup, priority, youngMb, stackMb, readsEnvironment = false }: OffloadTask,
  memoryMb: number | undefined,
  listener: WorkerListener,
): OffloadWorker {
  const worker = startThread(entry, {
    name,
    workerData: { priority, setup } satisfies WorkerStart,
    resourceLimits: {
      ...(memoryMb === undefined ? {} : { maxOldGenerationSizeMb: memoryMb }),
      ...(youngMb === undefined ? {} : { maxYoungGenerationSizeMb: youngMb }),
      ...(stackMb === undefined ? {} : { stackSizeMb: stackMb }),
    },
    ...(readsEnvironment ? {} : { env: {} }),
  })
  worker.unref()
  worker.on(
    'message',
    boundary('process', (message: FromWorker) => listener.message(message)),
  )
  worker.on(
    'error',
    boundary('process', (error: NodeJS.ErrnoException) =>
      listener.over({ error, isOutOfMemory: error.code === 'ERR_WORKER_OUT_OF_MEMORY' }),
    ),
  )
  worker.on(
    'exit',
    boundary('process', (code) =>
      listener.over({ error: new Error(`The thread "${name}" ended with code ${code}`), isOutOfMemory: false }),
    ),
  )
  return {
    post: (message) => worker.postMessage(message),
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    usedMs() {
      const id = systemIdOf(worker)
      return id === undefined ? undefined : processUsage('self', id)?.cpuMs
    },
    async memoryBytes() {
      // It may have ended meanwhile.
      const heap = await worker.getHeapStatistics().catch(() => undefined)
      return heap && heap.used_heap_size + heap.external_memory
    },
    end: () => endThread(worker),
  }
}
