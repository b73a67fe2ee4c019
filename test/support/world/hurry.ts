import { setPriority } from 'node:os'

const FIRST = -10

/**
 * Has a program that plays and hears in real time go before the tests beside it, as it would on a machine of its own: where a
 * caller's own clock stalls in the middle of a sentence, what was said until then is a turn. Default: this process.
 */
export function hurry(pid: number | undefined = process.pid): void {
  try {
    if (pid !== undefined) setPriority(pid, FIRST)
  } catch {
    // Not root: it shares the processor with the rest.
  }
}
