import { type ExecFileException, execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { inBackground } from '../lib/async/boundary.ts'
import type { Logger } from './log.ts'
import { asProcess } from './own-act.ts'
import { statFields } from './process-usage.ts'

/** Of SCHED_RR, the least there are, the highest first: what the kernel itself runs in real time goes before them. */
type RealtimePriority = 1 | 2 | 3 | 4
/** An api node's loop and the media worker beside it: all calls' audio goes through them. */
export const NODE_PRIORITY = 4
/** A voice worker's loop: while it thinks about one conversation, the node carries the others on. */
export const VOICE_PRIORITY = 3
/** V8's threads, for which a loop waits while garbage is collected: behind all loops, since they can use a whole turn. */
const ENGINE_PRIORITY = 2
/** Carries no audio, does little at a time, and each call waits for it: Redis, and the loop that starts all jobs. */
export const SERVICE_PRIORITY = 1
/** The priority that the system has to allow. */
export const HIGHEST_PRIORITY = NODE_PRIORITY
export const REALTIME_CURE = `allow real-time priority ${HIGHEST_PRIORITY} (systemd: LimitRTPRIO=${HIGHEST_PRIORITY}; containers: the ulimit rtprio=${HIGHEST_PRIORITY}; else CAP_SYS_NICE)`

const TIMEOUT_MS = 5_000
/** SCHED_RR of sched(7), and the place of the policy among `statFields`. */
const SCHED_RR = '2'
const POLICY_FIELD = 38
/** As libuv names the threads of its pool. */
const POOL_THREAD = 'libuv-worker'
const run = promisify(execFile)

export interface LoopScheduling {
  scheduling: 'realtime' | 'normal'
  /** Why the system refused real time, in its words. */
  refused?: string
}

let refused: string | undefined
let isEnabled = false
const companions = new Map<number, RealtimePriority>()

/** How the kernel schedules this process's loop now. */
export function loopScheduling(): LoopScheduling {
  const isRealtime = process.platform === 'linux' && statFields('/proc/self/stat')[POLICY_FIELD] === SCHED_RR
  return { scheduling: isRealtime ? 'realtime' : 'normal', ...(refused !== undefined && { refused }) }
}

/**
 * Runs this process's loop, which carries audio, in real time where Linux allows it, with the threads for which it waits: libuv's pool
 * and `engine`, the result of `engineThreads`. The kernel limits a loop that spins (kernel.sched_rt_runtime_us, RLIMIT_RTTIME).
 */
export async function runLoopInRealtime(
  log: Logger,
  priority: RealtimePriority,
  engine: readonly number[],
): Promise<void> {
  if (process.platform !== 'linux' || isEnabled) return
  refused = await setRealtime(process.pid, priority)
  if (refused !== undefined) {
    // A child of Patchbay repeats what its parent has logged.
    const level = process.send === undefined ? 'info' : 'debug'
    log[level]({ reason: refused }, `Audio waits for its turn of the processor: ${REALTIME_CURE}`)
    return
  }
  isEnabled = true
  log.debug({ pid: process.pid }, 'A loop runs in real time')
  const pool = threadsNamed(process.pid, POOL_THREAD).map((id) => setRealtime(id, priority))
  await Promise.all([...pool, ...engine.map((id) => setRealtime(id, ENGINE_PRIORITY))])
  for (const [pid, own] of companions) inBackground('process', setAllRealtime(pid, own))
}

/** Runs the loop of another process in real time once this process's loop does. Call the result when that process has ended. */
export function runInRealtimeToo(pid: number, priority: RealtimePriority): () => void {
  companions.set(pid, priority)
  if (isEnabled) inBackground('process', setAllRealtime(pid, priority))
  return () => companions.delete(pid)
}

async function setAllRealtime(pid: number, priority: RealtimePriority): Promise<void> {
  await Promise.all([pid, ...threadsNamed(pid, POOL_THREAD)].map((id) => setRealtime(id, priority)))
}

/**
 * Sets SCHED_RR for a thread, the first of a process by the process's id; what the thread starts later is normal. Resolves with the
 * system's reason for a refusal, or undefined. Node has no such call: `chrt` of util-linux does it.
 */
export async function setRealtime(threadId: number, priority: RealtimePriority): Promise<string | undefined> {
  const args = ['--rr', '--reset-on-fork', '--pid', String(priority), String(threadId)]
  const options = { timeout: TIMEOUT_MS, env: { PATH: process.env.PATH, LC_ALL: 'C' } }
  try {
    await asProcess(() => run('chrt', args, options))
    return undefined
  } catch (error) {
    const { code, stderr, message } = error as ExecFileException
    return code === 'ENOENT' ? 'there is no chrt (Debian: util-linux)' : stderr?.trim().split('\n')[0] || message
  }
}

/** V8's threads. They share the name of the first thread with threads of ours, so ask before the process starts any. */
export function engineThreads(): number[] {
  return threadsNamed(process.pid).filter((id) => id !== process.pid)
}

/** Threads of a process with a name, or with that of its first thread. None once the process ended, and elsewhere than on Linux. */
function threadsNamed(pid: number, name?: string): number[] {
  const folder = `/proc/${pid}/task`
  const nameOf = (id: string) => readFileSync(`${folder}/${id}/comm`, 'latin1').trimEnd()
  try {
    const wanted = name ?? nameOf(String(pid))
    return readdirSync(folder).flatMap((id) => (nameOf(id) === wanted ? [Number(id)] : []))
  } catch {
    return []
  }
}
