import { readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'

const KERNEL_PAGE_BYTES = 4_096
/** The kernel counts CPU time in hundredths of a second on every Linux. */
const TICK_MS = 10

export interface ProcessUsage {
  memoryBytes: number
  /** Of all its threads, since it began. */
  cpuMs: number
}

/** What a process holds and has used; undefined where the system doesn't tell, or it is gone. */
export function processUsage(pid: number | undefined): ProcessUsage | undefined {
  try {
    // At once: the kernel has it in memory, and a read by another thread waits for its turn on a busy machine.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // proc(5): the name, in brackets, may hold spaces; utime is field 14, stime 15 and rss 24 of all.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [utime = 0, stime = 0, pages = 0] = [fields[11], fields[12], fields[21]].map(Number)
    return { memoryBytes: pages * KERNEL_PAGE_BYTES, cpuMs: (utime + stime) * TICK_MS }
  } catch {
    return undefined
  }
}

/** Gives all threads of a process this niceness. Linux has one for each; those it starts later have their maker's. */
export function setNiceness(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return
  let threads = [pid]
  try {
    threads = readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    // No Linux.
  }
  for (const thread of threads) {
    try {
      setPriority(thread, niceness)
    } catch {
      // It ended meanwhile, or we may only lower.
    }
  }
}
