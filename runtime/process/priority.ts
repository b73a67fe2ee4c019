import { getPriority, setPriority } from 'node:os'

const HIGHEST = -20
const LOWEST = 19
const STEPS_UP = 5
/** Below a normal priority: a tenth of its share of the processor, and a third. */
const STEPS_DOWN = { later: 10, service: 5, loop: 0 } as const

/**
 * Moves a process, or a thread of this process, so many steps before this process's loop. False: the system refuses it. Threads have
 * priorities, and ids, on Linux alone.
 */
export function raise(id: number | undefined, steps = STEPS_UP): boolean {
  return moveTo(id, getPriority(process.pid) - steps)
}

/** Moves a process, or a thread of this process, behind the loops that carry audio. False: there is no id yet, ask again. */
export function lower(id: number | undefined, work: keyof typeof STEPS_DOWN = 'later'): boolean {
  // It may have ended, or the system allows no priorities: it takes more than its share, and works all the same.
  moveTo(id, nicenessOf(work))
  return id !== undefined
}

/** What `lower` gives. */
export function nicenessOf(work: keyof typeof STEPS_DOWN): number {
  return Math.max(0, getPriority(process.pid)) + STEPS_DOWN[work]
}

/** Undoes `raise` and `lower`, and what a process or a thread has of the loop that started it. False: the system refuses it. */
export function restore(id: number | undefined): boolean {
  return moveTo(id, Math.max(0, getPriority(process.pid)))
}

/** Moves a child process behind this process's loop: as everything else where the loop was raised. */
export function setPriorityBelowAudio(pid: number | undefined): void {
  moveTo(pid, getPriority(process.pid) + STEPS_UP)
}

function moveTo(id: number | undefined, niceness: number): boolean {
  if (id === undefined) return false
  try {
    setPriority(id, Math.min(LOWEST, Math.max(HIGHEST, niceness)))
    return true
  } catch {
    return false
  }
}
