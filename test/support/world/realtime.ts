import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { HIGHEST_PRIORITY, setRealtime } from '../../../runtime/process/realtime.ts'

/** Policies of sched(7): SCHED_OTHER and SCHED_RR. */
export const NORMAL = 0
export const REALTIME = 2

/** How Linux schedules a thread, the first of a process by the process's id; undefined when it is gone. */
export const policyOf = (id: number | 'thread-self'): Promise<number | undefined> => fieldOf(id, 41)

/** Of a thread in real time, the higher the sooner. */
export const priorityOf = (id: number): Promise<number | undefined> => fieldOf(id, 40)

/** Of proc_pid_stat(5), counted as there. */
async function fieldOf(id: number | 'thread-self', field: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${id}/stat`, 'latin1').catch(() => undefined)
  // The second, a name, may hold blanks.
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field - 3])
}

const LIMIT_MS = 60_000

/** As `policyOf`, once it is as wanted, or after a minute whatever it is. */
export async function policyWhen(id: number, wanted: number): Promise<number | undefined> {
  const endMs = performance.now() + LIMIT_MS
  for (;;) {
    const policy = await policyOf(id)
    if (policy === wanted || performance.now() > endMs) return policy
    await sleep(20)
  }
}

/** Why this machine schedules nothing of ours in real time; false where it does. */
export async function withoutRealtime(): Promise<string | false> {
  if (process.platform !== 'linux') return 'real time is for Linux alone'
  const child = spawn('sleep', ['60'])
  try {
    return (await setRealtime(child.pid ?? 0, HIGHEST_PRIORITY)) ?? false
  } finally {
    child.kill()
  }
}
