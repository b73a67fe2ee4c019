import { getEnvironmentData, setEnvironmentData, type Worker } from 'node:worker_threads'
import { ownThreadId } from './own-thread-id.ts'

/**
 * The system's ids of threads, which nobody but a thread itself is told: each writes its own where the one that started it reads it,
 * whatever its loop is at.
 */

const KEY = 'patchbay.threadId'
const ids = new WeakMap<Worker, Int32Array>()

/** Starts a thread that may note its id. What it starts in turn inherits no place for one. */
export function withThreadId(start: () => Worker): Worker {
  const id = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  setEnvironmentData(KEY, id)
  try {
    const thread = start()
    ids.set(thread, id)
    return thread
  } finally {
    setEnvironmentData(KEY, undefined)
  }
}

/** Notes the calling thread's id for the thread that started it, and returns it: undefined elsewhere than on Linux. */
export function noteThreadId(): number | undefined {
  const id = ownThreadId()
  const place = getEnvironmentData(KEY)
  if (id !== undefined && place instanceof Int32Array) Atomics.store(place, 0, id)
  return id
}

/** The id a thread noted; undefined: it hasn't yet, or is gone. */
export function systemIdOf(thread: Worker): number | undefined {
  const place = ids.get(thread)
  // One that is gone has no id of Node's either; the system may have given its own to another.
  if (place === undefined || thread.threadId < 0) return undefined
  return Atomics.load(place, 0) || undefined
}
