import { getPriority, setPriority } from 'node:os'
import type { Worker } from 'node:worker_threads'
import { boundary } from '../lib/async/boundary.ts'
import { autogroupOf, setAutogroup } from './scheduling/autogroup.ts'
import { noteThreadId, systemIdOf } from './scheduling/thread-ids.ts'

/** Of the 19 steps down: a tenth of the share of a loop that carries audio, where both want the processor. */
const WORK_FOR_LATER = 10
/** A third of that share: what everybody waits for, and no caller hears. */
const SERVICE = 5

/**
 * Has the calling thread give way to the loops that carry audio: for threads that read what tenants upload. Elsewhere than on
 * Linux, where a thread has no priority of its own, nothing happens.
 */
export function lowerThreadPriority(): void {
  const id = noteThreadId()
  // Without it the thread takes more than its share; it works all the same.
  if (id !== undefined) lower(id, WORK_FOR_LATER)
}

/** Has the calling thread be one like any other, though it has its priority of a raised loop: for those of `lowerThread`. */
export function useNormalPriority(): void {
  const id = noteThreadId()
  if (id !== undefined) lower(id, 0)
}

/**
 * Has the calling thread have the share that its process's loop has by its niceness: one that callers wait for, and that holds locks
 * of the process's memory, for which the loop would stand until it came to its turn. A thread that a loop in real time starts has
 * everybody's.
 */
export function beginAsLoop(): void {
  const id = noteThreadId()
  // Where the system refuses it the thread stays as it began; it works all the same.
  if (id !== undefined) moved(id, getPriority(process.pid))
}

/** Has another thread of this process give way from now on. False: not yet, ask again. */
export function lowerThread(thread: Worker): boolean {
  const id = systemIdOf(thread)
  if (id === undefined) return false
  lower(id, WORK_FOR_LATER)
  return true
}

/** Has a thread that was lowered be as any other again. False: this process may not undo it. */
export function restoreThread(thread: Worker): boolean {
  const id = systemIdOf(thread)
  return id !== undefined && moved(id, Math.max(0, getPriority()))
}

/** Has a child process in a session of its own give way from now on, to those in other sessions, too. False: not yet, ask again. */
export function lowerProcess(pid: number): boolean {
  lower(pid, WORK_FOR_LATER)
  return autogroupOf(pid) === undefined || setAutogroup(pid, WORK_FOR_LATER)
}

/** Has a process that was lowered be as any other again. False: this process may not undo it, or not now. */
export function restoreProcess(pid: number): boolean {
  return moved(pid, 0) && (autogroupOf(pid) === undefined || setAutogroup(pid, 0))
}

function moved(id: number, niceness: number): boolean {
  try {
    setPriority(id, niceness)
    return true
  } catch {
    return false
  }
}

/**
 * Has a thread of this process, about to be ended, go before others to its end: the loop that ends it stands until it is gone, and
 * would wait for its turns with it.
 */
export function hurryThread(thread: Worker): void {
  const id = systemIdOf(thread)
  if (id === undefined) return
  for (const niceness of [-LOWEST - 1, -STEPS_UP, 0]) {
    try {
      setPriority(id, niceness)
      return
    } catch {
      // EACCES: as far as the process may; or it is gone already.
    }
  }
}

/** Has a service of this process, and all that it will start, give way to the loops that carry audio. */
export function lowerServicePriority(pid: number | undefined): void {
  if (pid !== undefined) lower(pid, SERVICE)
}

let giveWay = false

/** Whether the session of this process's loop could not be raised, so that those of others have to be lowered. */
export const sessionsGiveWay = (): boolean => giveWay

/** Has a session give way. True: it does, or is the caller's own; false: not yet, ask again. */
export const lowerSession = (pid: number): boolean => moveSession(pid, SERVICE, (nice) => nice >= SERVICE)

/** Has a session that nobody moved go before other programs', as the loop's own does. As `lowerSession`. */
export const raiseSession = (pid: number): boolean => moveSession(pid, SESSION_UP, (nice) => nice !== 0)

function moveSession(pid: number, to: number, staysAt: (nice: number) => boolean): boolean {
  const group = autogroupOf(pid)
  if (group === undefined || group.name === autogroupOf('self')?.name || staysAt(group.nice)) return true
  return setAutogroup(pid, to)
}

const LOWEST = 19
const STEPS_UP = 5
/** Three times the share of a session that nobody moved, such as a connection of the database, for which calls wait, too. */
const SESSION_UP = -5

/**
 * Has a child process that works beside this one, whose loop carries audio, give way to it: as everybody else does where that
 * loop could be raised.
 */
export function setPriorityBelowAudio(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(LOWEST, getPriority() + STEPS_UP))
  } catch {
    // It ended meanwhile, or the system allows no priorities.
  }
  if (pid !== undefined && giveWay) lowerSession(pid)
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
  if (autogroupOf('self')?.nice !== 0) return
  giveWay = !setAutogroup('self', SESSION_UP)
  // A terminal's other programs are in it too, and stay when this one ends.
  if (!giveWay)
    process.once(
      'exit',
      boundary('process', () => setAutogroup('self', 0)),
    )
}

function lower(id: number, steps: number): void {
  try {
    // What a loop that was raised starts begins as high as that.
    setPriority(id, Math.min(LOWEST, Math.max(0, getPriority()) + steps))
  } catch {
    // It ended meanwhile, or the system allows no priorities.
  }
}
