import { readdirSync, readFileSync } from 'node:fs'

/**
 * Threads that V8 collects garbage and compiles with, all there is of this process's name beside the first one as long as nobody has
 * started any of ours: to be asked before that. None elsewhere than on Linux.
 */
export function engineThreads(): number[] {
  try {
    const nameOf = (id: number | string): string => readFileSync(`/proc/self/task/${id}/comm`, 'latin1')
    const own = nameOf(process.pid)
    const ids = readdirSync('/proc/self/task').map(Number)
    return ids.filter((id) => id !== process.pid && nameOf(id) === own)
  } catch {
    return []
  }
}

/** As libuv calls those of its pool; the kernel keeps 15 letters of a name. */
const POOL_THREAD = 'libuv-worker'

/**
 * Threads of a Node process that do what its loops hand over: files, names of hosts, the model of voice activity. A loop that hands
 * something over takes a lock that they take, too. Empty before the first such work, and elsewhere than on Linux.
 */
export function poolThreads(pid: number): number[] {
  try {
    const nameOf = (id: string): string => readFileSync(`/proc/${pid}/task/${id}/comm`, 'latin1').trimEnd()
    return readdirSync(`/proc/${pid}/task`).flatMap((id) => (nameOf(id) === POOL_THREAD ? [Number(id)] : []))
  } catch {
    return []
  }
}
