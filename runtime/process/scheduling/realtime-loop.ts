import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Logger } from '../log.ts'
import { startThread } from '../offload/thread.ts'
import { poolThreads } from './engine-threads.ts'
import {
  HIGHEST_PRIORITY,
  NODE_PRIORITY,
  type RealtimePriority,
  type Scheduling,
  setScheduling,
} from './set-scheduling.ts'

/** How a process's first thread is scheduled now, as the thread that watches it tells. */
export interface Standing {
  pid: number
  scheduling: Scheduling
  /** Why not in real time, in the system's words. */
  refused?: string
  /** The thread that watches it ended, without which nothing runs in real time. */
  unwatched?: true
}

export interface RealtimeOptions {
  log: Logger
  /** Of this process's loop. */
  priority: RealtimePriority
  /** Of this process, which its loop waits for while garbage is collected: `engineThreads`. */
  helpers: readonly number[]
  /** How often is looked at what a loop takes. */
  lookMs?: number
}

/** What the thread is asked to give real time to. */
export interface Watch {
  pid: number
  priority: RealtimePriority
  helpers: readonly number[]
  withPool: boolean
}

/** What gives the right to real time, wherever Patchbay runs. */
export const REALTIME_CURE = `allow real-time priority ${HIGHEST_PRIORITY} (systemd: LimitRTPRIO=${HIGHEST_PRIORITY}; containers: the ulimit rtprio=${HIGHEST_PRIORITY}; else CAP_SYS_NICE)`

const LOOK_MS = 1_000
/** Nobody waits longer for a thread that does not come to its turn. */
const MOST_WAIT_MS = 5_000

let watcher: { thread: Worker; log: Logger } | undefined
let own: Standing = { pid: process.pid, scheduling: 'normal' }
const told = Promise.withResolvers<void>()
/** What is to run in real time, by its process, once there is somebody who watches it. */
const wanted = new Map<number, Watch>()

/** How this process's loop is scheduled. */
export const loopStanding = (): Standing => own

/**
 * Has this process's loop, which carries audio, run in real time where Linux allows it (CAP_SYS_NICE or RLIMIT_RTPRIO): before all that
 * is scheduled by shares, so that it waits for no other work's turn; the threads of libuv's pool beside it, V8's own right behind. Other
 * threads and the processes it starts stay normal. A loop that takes nearly all of a core, or half of an only one, is normal again for a
 * while. Resolves once it is so, or the system refused it; soon in any case.
 */
export async function runLoopInRealtime(options: RealtimeOptions): Promise<void> {
  const { log, priority, helpers, lookMs = LOOK_MS } = options
  if (process.platform !== 'linux' || watcher !== undefined) return
  const env = { PATH: process.env.PATH }
  const thread = startThread(new URL('./realtime-thread.ts', import.meta.url), { env, workerData: { lookMs } })
  watcher = { thread, log }
  thread.unref()
  thread.on('message', boundary('process', heard))
  thread.on(
    'error',
    boundary('process', (err) => {
      log.warn({ err }, 'The thread that watches loops in real time ended: audio shares the processor with other work')
      own = { pid: process.pid, scheduling: 'normal', unwatched: true }
      for (const { pid, priority, helpers, withPool } of wanted.values()) {
        const pool = withPool ? poolThreads(pid) : []
        for (const id of [pid, ...helpers, ...pool]) inBackground('process', setScheduling(id, 'normal', priority))
      }
      wanted.clear()
      told.resolve()
    }),
  )
  wanted.set(process.pid, { pid: process.pid, priority, helpers, withPool: true })
  for (const one of wanted.values()) watch(one)
  await Promise.race([told.promise, sleep(MOST_WAIT_MS, undefined, { ref: false })])
}

/**
 * Has another process's first thread run in real time as soon as this one's loop does: one that carries its audio, or one whose
 * turn of the processor everybody would wait for. Returns what is to be called once the process is gone.
 */
export function runInRealtimeToo(
  pid: number,
  priority: RealtimePriority = NODE_PRIORITY,
  withPool = false,
): () => void {
  if (own.unwatched) return () => {}
  const one: Watch = { pid, priority, helpers: [], withPool }
  wanted.set(pid, one)
  watch(one)
  return () => {
    // Another process may have its id by now.
    if (wanted.get(pid) === one) wanted.delete(pid)
  }
}

function watch(asked: Watch): void {
  watcher?.thread.postMessage(asked)
}

function heard(standing: Standing): void {
  const isOwn = standing.pid === process.pid
  if (isOwn) own = standing
  tell(standing, isOwn)
  if (isOwn) told.resolve()
}

function tell({ pid, scheduling, refused }: Standing, isOwn: boolean): void {
  const log = watcher?.log
  if (refused !== undefined) {
    // Of a Patchbay's several processes on a machine the first one says it.
    const level = isOwn && process.send === undefined ? 'info' : 'debug'
    log?.[level]({ pid, reason: refused }, `Audio waits for its turn of the processor: ${REALTIME_CURE}`)
  } else if (scheduling === 'realtime') log?.debug({ pid }, 'A loop runs in real time')
  else
    log?.warn({ pid }, 'A loop in real time took nearly all of a core: it goes before other work no more for a while')
}
