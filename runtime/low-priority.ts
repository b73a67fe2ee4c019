import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Of the 19 steps down: a tenth of the share of a loop that carries audio, where both want the processor. */
const STEPS_DOWN = 10

/**
 * Has the calling thread give way to the loops that carry audio: for threads that read what tenants upload. Elsewhere than on
 * Linux, where a thread has no priority of its own, nothing happens.
 */
export function lowerThreadPriority(): void {
  try {
    const [, id] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? []
    if (id !== undefined) setPriority(Number(id), STEPS_DOWN)
  } catch {
    // Without it the thread takes more than its share; it works all the same.
  }
}
