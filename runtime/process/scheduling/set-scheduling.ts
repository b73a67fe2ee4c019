import { type ExecFileException, execFile } from 'node:child_process'
import { asProcess } from '../plugin-scope.ts'
import { statFields } from '../process-usage.ts'

/** `realtime`: before everything that is `normal`, in turns with others of its kind. */
export type Scheduling = 'realtime' | 'normal'

/** The least there are, the highest first: what the kernel itself runs in real time goes before them. */
export type RealtimePriority = 1 | 2 | 3 | 4
/** An api node's loop and the media worker beside it: all calls' audio goes through them. */
export const NODE_PRIORITY = 4
/** A voice worker's loop: while it thinks of one conversation, the node carries the others on. */
export const VOICE_PRIORITY = 3
/** The engine's threads, behind all loops that carry audio, and before what carries none. */
export const HELPER_PRIORITY = 2
/** What carries no audio, does little at a time, and everybody waits for: Redis, and the loop that begins all jobs. */
export const SERVICE_PRIORITY = 1
/** Of the above, for which the system has to be asked. */
export const HIGHEST_PRIORITY = NODE_PRIORITY
const TIMEOUT_MS = 5_000
/** sched(7); the policy's place among `statFields`. */
const SCHED_RR = '2'
const POLICY_FIELD = 38

/**
 * Sets how Linux schedules a thread: SCHED_RR of a priority, or SCHED_OTHER. What the thread starts, processes and threads
 * alike, is normal either way. By `chrt` of util-linux, since Node has no such call. Resolves with why it could not, in words of the
 * system, or undefined.
 */
export function setScheduling(
  threadId: number,
  to: Scheduling,
  priority: RealtimePriority,
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

/** How this process's first thread is scheduled now, whoever saw to it. */
export function ownScheduling(): Scheduling {
  try {
    return statFields('/proc/self/stat')[POLICY_FIELD] === SCHED_RR ? 'realtime' : 'normal'
  } catch {
    return 'normal'
  }
}
