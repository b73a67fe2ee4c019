import { availableParallelism, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { processUsage } from '../process-usage.ts'
import { poolThreads } from './engine-threads.ts'
import { ownThreadId } from './own-thread-id.ts'
import type { Standing, Watch } from './realtime-loop.ts'
import { RealtimeShare } from './realtime-share.ts'
import { HELPER_PRIORITY, type RealtimePriority, type Scheduling, setScheduling } from './set-scheduling.ts'

/**
 * Entry of the thread that realtime-loop.ts starts: gives first threads of processes real-time scheduling, and looks every now and
 * then at what they take, apart from the loops themselves, since one that spins comes to nothing else.
 */

/** On a machine where loops take all there is, this one still comes to its turn. */
const OWN_NICENESS = -10

interface Watched extends Watch {
  share: RealtimeShare
  /** There may be none yet when its loop begins, and is none where it stays behind. */
  pool: readonly number[]
  scheduling: Scheduling
}

const port = parentPort!
const { lookMs } = workerData as { lookMs: number }
const watched = new Set<Watched>()
raiseOwn()
port.on('message', (asked: Watch) => {
  // biome-ignore lint/complexity/noVoid: what it throws ends this thread, which its owner hears of
  void begin(asked)
})
for (;;) {
  await sleep(lookMs)
  for (const one of watched) await look(one)
}

async function begin(asked: Watch): Promise<void> {
  const { pid } = asked
  const one: Watched = { ...asked, share: new RealtimeShare(availableParallelism()), pool: [], scheduling: 'realtime' }
  const refused = await schedule(one, 'realtime')
  if (refused !== undefined) return tell({ pid, scheduling: 'normal', refused })
  tell({ pid, scheduling: 'realtime' })
  watched.add(one)
}

async function look(one: Watched): Promise<void> {
  const { pid } = one
  const usedMs = processUsage(pid, pid)?.cpuMs
  if (usedMs === undefined) {
    watched.delete(one)
    return
  }
  const wanted = one.share.look(performance.now(), usedMs)
  if (wanted === one.scheduling) return schedulePool(one, wanted)
  if ((await schedule(one, wanted)) !== undefined) return
  one.scheduling = wanted
  tell({ pid, scheduling: wanted })
}

/** Resolves with why the system refuses it. A thread behind the loop that is gone, or refused, is its loop's delay alone. */
async function schedule(one: Watched, to: Scheduling): Promise<string | undefined> {
  const refused = await setScheduling(one.pid, to, one.priority)
  if (refused !== undefined) return refused
  await setAll(one.helpers, to, Math.min(one.priority, HELPER_PRIORITY) as RealtimePriority)
  await setAll(one.pool, to, one.priority)
  return schedulePool(one, to)
}

/**
 * A loop stands while a thread of its pool that lost its turn holds their lock, or a page of memory that both want: they have its own
 * priority, since other processes' helpers may work through a whole turn of real time. Nothing once they are known.
 */
async function schedulePool(one: Watched, to: Scheduling): Promise<undefined> {
  if (!one.withPool || one.pool.length > 0) return
  one.pool = poolThreads(one.pid)
  await setAll(one.pool, to, one.priority)
}

async function setAll(ids: readonly number[], to: Scheduling, priority: RealtimePriority): Promise<void> {
  await Promise.all(ids.map((id) => setScheduling(id, to, priority)))
}

function raiseOwn(): void {
  try {
    setPriority(ownThreadId() ?? 0, OWN_NICENESS)
  } catch {
    // EACCES: it has its share as every thread.
  }
}

function tell(standing: Standing): void {
  port.postMessage(standing)
}
