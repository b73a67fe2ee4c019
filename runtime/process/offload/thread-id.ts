import { readlinkSync } from 'node:fs'
import { getEnvironmentData, setEnvironmentData, type Worker } from 'node:worker_threads'

/** The system's ids of threads: a thread alone can read its own, so it notes it where the thread that started it can read it. */

const KEY = 'patchbay.threadId'
const ids = new WeakMap<Worker, Int32Array>()

/** Starts a thread that may note its id. The threads that it starts inherit no place for one. */
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

/** Notes the calling thread's id for the thread that started it, and returns it; undefined elsewhere than on Linux. */
export function noteThreadId(): number | undefined {
  try {
    const [, id] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? []
    if (id === undefined) return undefined
    const place = getEnvironmentData(KEY)
    if (place instanceof Int32Array) Atomics.store(place, 0, Number(id))
    return Number(id)
  } catch {
    return undefined
  }
}

/** The id a thread noted; undefined: it has not noted it yet, or has ended. */
export function systemIdOf(thread: Worker): number | undefined {
  const place = ids.get(thread)
  // After its end the system may have given the id to another thread.
  if (place === undefined || thread.threadId < 0) return undefined
  return Atomics.load(place, 0) || undefined
}
