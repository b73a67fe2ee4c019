import { readFileSync } from 'node:fs'

const KERNEL_PAGE_BYTES = 4_096
/** The kernel counts processor time in hundredths of a second on every Linux. */
const TICK_MS = 10

export interface ProcessUsage {
  memoryBytes: number
  /** Since it began; a process's with all its threads. */
  cpuMs: number
  parentPid: number
}

/**
 * What a process holds and has used, or one of its threads, whose memory is its process's; undefined where the system doesn't tell, or
 * it is gone. The first thread of a process has the process's id.
 */
export function processUsage(pid: number | 'self' | undefined, threadId?: number): ProcessUsage | undefined {
  const path = threadId === undefined ? `/proc/${pid}/stat` : `/proc/${pid}/task/${threadId}/stat`
  try {
    const fields = statFields(path)
    // Ppid is field 4, utime 14, stime 15 and rss 24 of all.
    const [parentPid = 0, utime = 0, stime = 0, pages = 0] = [1, 11, 12, 21].map((at) => Number(fields[at]))
    return { memoryBytes: pages * KERNEL_PAGE_BYTES, cpuMs: (utime + stime) * TICK_MS, parentPid }
  } catch {
    return undefined
  }
}

/** What proc_pid_stat(5) has behind the name, its third field first. Throws what reading throws. */
export function statFields(path: string): string[] {
  // At once: the kernel has it in memory, and a read by another thread waits for its turn on a busy machine.
  const stat = readFileSync(path, 'latin1')
  // The name, in brackets, may hold blanks.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
