import { deserialize, serialize } from 'node:v8'
import type { ErrorCode } from '../../lib/errors.ts'
import { FrameReader, OffloadFrameWriter } from './frames.ts'

/** What a role and a worker of its offload pool say to each other, and what the pool needs of a worker. */

/** `id` numbers the runs of a worker. */
export type ToWorker =
  | { type: 'run'; id: number; input: unknown }
  | { type: 'answer'; id: number; answer: unknown }
  /** Nobody waits for it any more. */
  | { type: 'cancel'; id: number }

export type FromWorker =
  | { type: 'ready' }
  | { type: 'ask'; id: number; question: unknown }
  /** `isSpoilt`: the worker is to run nothing more. */
  | { type: 'done'; id: number; result: unknown; isSpoilt: boolean }
  | { type: 'failed'; id: number; fault: TaskFault; isSpoilt: boolean }

/** What a task threw. */
export interface TaskFault {
  name: string
  message: string
  stack: string | undefined
  /** Of a PatchbayError. */
  code: ErrorCode | undefined
}

/** A thread, or a process of its own. */
export interface OffloadWorker {
  post(message: ToWorker): void
  /** This process ends no sooner than it. */
  ref(): void
  unref(): void
  /** Of the processor, since it began; undefined: the system doesn't tell. */
  usedMs(): number | undefined
  /** What it holds now; undefined: the system doesn't tell. */
  memoryBytes(): Promise<number | undefined>
  /** Ends it in any state; resolves once it is gone. */
  end(): Promise<void>
}

export interface WorkerListener {
  message(message: FromWorker): void
  /** Once. */
  over(end: { error: Error; isOutOfMemory: boolean }): void
}

/** Data of a thread's start. */
export interface WorkerStart {
  priority: TaskPriority
  setup: unknown
}

/** Behind the loops that carry audio: by a tenth of their share, or a third; or as this process's loop. */
export type TaskPriority = 'later' | 'service' | 'loop'

/** As child_process numbers the pipes of a program: the fourth is the worker's. */
export const WORKER_DESCRIPTOR = 3

/** Messages over a pipe, as node:v8 writes them. */
export function frameOf(message: ToWorker | FromWorker): Uint8Array {
  const frames = new OffloadFrameWriter()
  frames.put(0, serialize(message))
  return frames.take()
}

export function messageReader<M>(receive: (message: M) => void): (bytes: Uint8Array) => void {
  const frames = new FrameReader(() => Number.POSITIVE_INFINITY)
  return (bytes) => {
    frames.push(bytes)
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) receive(deserialize(frame.body) as M)
  }
}
