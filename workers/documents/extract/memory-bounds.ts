/**
 * How much memory the threads that read documents may take in total: a quarter of what this process may have, so that a hostile
 * file ends its own thread and never the process beside which calls run. Pure.
 */

const MIB = 1024 * 1024
const SHARE = 1 / 4
const MOST_THREADS = 4
/** Of a thread's heap, and again of its buffers. */
const MOST_MEMORY_BYTES = 512 * MIB
/** With less no PDF can be read. */
const LEAST_MEMORY_BYTES = 64 * MIB

interface MemoryBounds {
  /** That read at once. */
  threads: number
  /** Of each thread's heap, and again of its buffers. */
  memoryBytes: number
}

/** @param availableBytes what the machine has, or what its container may use */
export function memoryBounds(availableBytes: number): MemoryBounds {
  const totalBytes = availableBytes * SHARE
  const ofOne = Math.floor(totalBytes / 2 / MIB) * MIB
  const memoryBytes = Math.min(MOST_MEMORY_BYTES, Math.max(LEAST_MEMORY_BYTES, ofOne))
  const threads = Math.floor(totalBytes / (2 * memoryBytes))
  return { threads: Math.min(MOST_THREADS, Math.max(1, threads)), memoryBytes }
}
