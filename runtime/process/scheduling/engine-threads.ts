import { readdirSync, readFileSync } from 'node:fs'

/** As libuv calls those of its pool; the kernel keeps 15 letters of a name. */
const POOL_THREAD = 'libuv-worker'

/**
 * Threads that V8 collects garbage and compiles with, all there is of this process's name beside the first one as long as nobody has
 * started any of ours: to be asked before that. None elsewhere than on Linux.
 */
export function engineThreads(): number[] {
  const threads = threadsOf(process.pid)
  const own = threads.get(process.pid)
  return [...threads].flatMap(([id, name]) => (id !== process.pid && name === own ? [id] : []))
}

/**
 * Threads of a Node process that do what its loops hand over: files, names of hosts, the model of voice activity. A loop that hands
 * something over takes a lock that they take, too. Empty before the first such work, and elsewhere than on Linux.
 */
export function poolThreads(pid: number): number[] {
  return [...threadsOf(pid)].flatMap(([id, name]) => (name === POOL_THREAD ? [id] : []))
}

/** Names of a process's threads by their ids; none where the system doesn't tell. */
function threadsOf(pid: number): Map<number, string> {
  try {
    const folder = `/proc/${pid}/task`
    return new Map(
      readdirSync(folder).map((id) => [Number(id), readFileSync(`${folder}/${id}/comm`, 'latin1').trimEnd()]),
    )
  } catch {
    return new Map()
  }
}
