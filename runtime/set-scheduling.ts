import { type ExecFileException, execFile } from 'node:child_process'
import { asProcess } from './plugin/scope.ts'

/** `realtime`: before everything that is `normal`, in turns with others of its kind. */
export type Scheduling = 'realtime' | 'normal'

/** The least there are: what the kernel itself runs in real time goes before them. */
export type RealtimePriority = 1 | 2
/** A loop goes before the engine's threads, its own and those of other loops. */
export const LOOP_PRIORITY = 2
export const HELPER_PRIORITY = 1
const TIMEOUT_MS = 5_000

/**
 * Sets how Linux schedules a thread: SCHED_RR of a priority, or SCHED_OTHER. What the thread starts, processes and threads
 * alike, is normal either way. By `chrt` of util-linux, since Node has no such call. Resolves with why it could not, in words of the
 * system, or undefined.
 */
export function setScheduling(
  threadId: number,
  to: Scheduling,
  priority: RealtimePriority = LOOP_PRIORITY,
): Promise<string | undefined> {
  const [policy, level] = to === 'realtime' ? ['--rr', priority] : ['--other', 0]
  // Who may not take the flag off again may go back and forth all the same.
  const args = [policy, '--reset-on-fork', '--pid', String(level), String(threadId)]
  return new Promise((resolve) => {
    const ended = (error: ExecFileException | null, _out: string, told: string) => {
      if (error === null) return resolve(undefined)
      if (error.code === 'ENOENT') return resolve('there is no chrt (Debian: util-linux)')
      resolve(told.trim().split('\n')[0] || error.message)
    }
    const options = { timeout: TIMEOUT_MS, env: { PATH: process.env.PATH, LC_ALL: 'C' } }
    try {
      asProcess(() => execFile('chrt', args, options, ended))
    } catch (error) {
      resolve(error instanceof Error ? error.message : String(error))
    }
  })
}
