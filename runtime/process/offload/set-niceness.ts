import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

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
