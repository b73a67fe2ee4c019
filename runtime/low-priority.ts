import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { autogroupOf, setAutogroup } from './autogroup.ts'

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

/**
 * Has a service of this process give way to the loops that carry audio, with all that it starts in its session. True: it
 * does, or nothing more can be done about it; false: not yet, ask again.
 */
export function lowerServicePriority(pid: number | undefined): boolean {
  if (pid === undefined) return true
  lower(pid, SERVICE)
  const group = autogroupOf(pid)
  if (group === undefined || group.name === autogroupOf('self')?.name || group.nice >= SERVICE) return true
  return setAutogroup(pid, SERVICE)
}

const LOWEST = 19
const STEPS_UP = 5
/** Nine times the share of a session that nobody moved: threads of the loop's own process, which give way to it, are in it too. */
const SESSION_UP = -10

/**
 * Has a child process that works beside this one, whose loop carries audio, give way to it: as everybody else does where that
 * loop could be raised.
 */
export function putBehindAudio(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(LOWEST, getPriority() + STEPS_UP))
  } catch {
    // It ended meanwhile, or the system allows no priorities.
  }
  const [own, group] = [autogroupOf('self'), pid === undefined ? undefined : autogroupOf(pid)]
  if (pid === undefined || own === undefined || group === undefined || group.name === own.name || own.nice < 0) return
  setAutogroup(pid, Math.min(LOWEST, own.nice + STEPS_UP))
}

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
  // One that somebody moved stays where they want it.
  if (autogroupOf('self')?.nice !== 0 || !setAutogroup('self', SESSION_UP)) return
  // A terminal's other programs are in it too, and stay when this one ends.
  process.once('exit', () => setAutogroup('self', 0))
}

function lower(id: number, steps: number): void {
  try {
    // What a loop that was raised starts begins as high as that.
    setPriority(id, Math.min(LOWEST, Math.max(0, getPriority()) + steps))
  } catch {
    // It ended meanwhile, or the system allows no priorities.
  }
}
