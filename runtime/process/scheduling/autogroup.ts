import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Linux shares the processor out among sessions first (setsid(2)) and weighs priorities only within one, where
 * kernel.sched_autogroup_enabled is on and no control group of its own holds the process: see sched(7), "The autogroup
 * feature". There a process that is to give way, or to go before others, needs its session's group moved as well.
 */
export interface Autogroup {
  /** Unique on this machine. */
  name: string
  /** −20, which goes first, to 19. */
  nice: number
}

/** The group of a process; undefined where there are none, or no such process. */
export function autogroupOf(pid: number | 'self'): Autogroup | undefined {
  try {
    const [, name, nice] = /^(\S+) nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'latin1')) ?? []
    return name === undefined ? undefined : { name, nice: Number(nice) }
  } catch {
    return undefined
  }
}

/** False: the system doesn't let this process, or not now: who isn't root may once in 100 ms, and only downwards. */
export function setAutogroup(pid: number | 'self', nice: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice))
    return true
  } catch {
    return false
  }
}
