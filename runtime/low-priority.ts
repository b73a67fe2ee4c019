import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Of the 19 steps down: a tenth of the share of a loop that carries audio, where both want the processor. */
const WORK_FOR_LATER = 10
/** A third of that share: what everybody waits for, and no caller hears. */
const SERVICE = 5

/**
 * Has the calling thread give way to the loops that carry audio: for threads that read what tenants upload. Elsewhere than on
 * Linux, where a thread has no priority of its own, nothing happens.
 */
export function lowerThreadPriority(): void {
  try {
    const [, id] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? []
    if (id !== undefined) lower(Number(id), WORK_FOR_LATER)
  } catch {
    // Without it the thread takes more than its share; it works all the same.
  }
}

/** Has a service of this process, and all that it will start, give way to the loops that carry audio. */
export function lowerServicePriority(pid: number | undefined): void {
  if (pid !== undefined) lower(pid, SERVICE)
}

const LOWEST = 19
const STEPS_UP = 5

/**
 * Has the calling thread, which carries audio, go before the machine's other work, as telephone exchanges do. Where the
 * process may not (it is neither root nor has CAP_SYS_NICE), everything else gives way to it all the same.
 */
export function raiseLoopPriority(): void {
  try {
    setPriority(getPriority() - STEPS_UP)
  } catch {
    // EACCES: not allowed.
  }
}

function lower(id: number, steps: number): void {
  try {
    // What a loop that was raised starts begins as high as that.
    setPriority(id, Math.min(LOWEST, Math.max(0, getPriority()) + steps))
  } catch {
    // It ended meanwhile, or the system allows no priorities.
  }
}
