import type { Socket } from 'node:net'
import { boundary } from '../../lib/async/boundary.ts'
import { processEntry } from '../module-cache.ts'
import { nicenessOf } from '../priority.ts'
import { processUsage } from '../process-usage.ts'
import type { OffloadTask } from './offload.ts'
import { type RunningProgram, startProgram } from './spawner.ts'
import {
  frameOf,
  messageReader,
  type OffloadWorker,
  type ToWorker,
  WORKER_DESCRIPTOR,
  type WorkerListener,
} from './worker.ts'

/** What Node takes for itself: its code on the heap, stacks of its threads. */
const NODE_BYTES = 192 * 1024 * 1024
/** By which a program of Node ends that gets no more memory. */
const OUT_OF_MEMORY = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS'])

/**
 * A process of its own whose memory the kernel bounds: all it may write, of which V8's heap is half, and buffers and native code the
 * other half. (Linux; elsewhere V8 bounds its heap alone.)
 */
export function startProcessWorker(
  { name, entry, priority, stackMb }: OffloadTask,
  memoryMb: number | undefined,
  listener: WorkerListener,
): OffloadWorker {
  const flags = [
    '--v8-pool-size=1',
    ...(memoryMb === undefined ? [] : [`--max-old-space-size=${memoryMb}`]),
    ...(stackMb === undefined ? [] : [`--stack-size=${stackMb * 1024}`]),
  ]
  const boundKib = memoryMb === undefined ? 'unlimited' : (NODE_BYTES >> 10) + 2 * memoryMb * 1024
  let program: RunningProgram | undefined
  let isOver = false
  let isAwaited = false
  const waiting: ToWorker[] = []
  const over = (error: Error, isOutOfMemory = false): void => {
    if (isOver) return
    isOver = true
    listener.over({ error, isOutOfMemory })
  }
  const starting = startProgram({
    program: '/bin/sh',
    args: ['-c', `ulimit -d ${boundKib}; exec "$@"`, 'sh', process.execPath, ...flags, ...processEntry(entry)],
    variables: {},
    pipes: 4,
    niceness: nicenessOf(priority),
  })
  const begun = starting.then(
    (started) => {
      program = started
      if (!isAwaited) started.unref()
      const [stdin, ...outputs] = started.pipes
      stdin?.on('error', () => {}).end()
      const pipe = started.pipes[WORKER_DESCRIPTOR]!
      // What libraries print may be of a tenant's file.
      for (const output of outputs) output.on('error', () => {}).resume()
      pipe.on(
        'data',
        boundary('process', messageReader(listener.message), () => over(new Error('It sent no message'))),
      )
      started.once(
        'exit',
        boundary('process', (code, signal) =>
          over(new Error(`The process "${name}" ended (${signal ?? code})`), OUT_OF_MEMORY.has(signal ?? '')),
        ),
      )
      for (const message of waiting.splice(0)) pipe.write(frameOf(message))
    },
    (error: Error) => over(error),
  )
  return {
    post(message) {
      if (program === undefined) waiting.push(message)
      else (program.pipes[WORKER_DESCRIPTOR] as Socket).write(frameOf(message))
    },
    ref() {
      isAwaited = true
      program?.ref()
    },
    unref() {
      isAwaited = false
      program?.unref()
    },
    usedMs: () => processUsage(program?.pid)?.cpuMs,
    memoryBytes: async () => processUsage(program?.pid)?.memoryBytes,
    async end() {
      isAwaited = true
      await begun
      if (program === undefined || isOver) return
      const exited = new Promise((resolve) => program!.once('exit', resolve))
      program.ref()
      program.kill()
      await exited
    },
  }
}
