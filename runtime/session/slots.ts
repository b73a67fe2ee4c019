import type { RedisClient } from '../../store/redis/client.ts'
import { loadScript } from '../../store/redis/scripts/run.ts'

/**
 * The slots of all voice workers, in the one Redis that all api nodes share. A slot is `<worker>/<index>`; it is ready,
 * taken under a lease, or unknown until its worker is registered again. Redis' clock is the only one.
 */

const READY = 'patchbay:{slots}:ready'
const TAKEN = 'patchbay:{slots}:taken'
const HOLDERS = 'patchbay:{slots}:holders'
const WORKERS = 'patchbay:{slots}:workers'
const INFO = 'patchbay:{slots}:info'

const takeScript = loadScript('take-slot-4.lua')
const releaseScript = loadScript('release-slot-4.lua')
const renewScript = loadScript('renew-slots-3.lua')
const registerScript = loadScript('register-worker-4.lua')
const forgetScript = loadScript('forget-worker-3.lua')

/** What is known of a live worker, from any api node. */
export interface WorkerEntry {
  workerId: string
  capacity: number
  metricsUrl: string
}

/** A slot and the one who holds it: a name used once. */
export interface HeldSlot {
  slot: string
  holder: string
}

export const workerOf = (slot: string): string => slot.slice(0, slot.lastIndexOf('/'))

/** Takes the longest idle ready slot among these workers; undefined when none is ready. */
export async function takeSlot(
  redis: RedisClient,
  holder: string,
  workerIds: readonly string[],
  leaseMs: number,
): Promise<string | undefined> {
  const slot = await takeScript.run(redis, [READY, TAKEN, HOLDERS, WORKERS], [holder, leaseMs, ...workerIds])
  return typeof slot === 'string' ? slot : undefined
}

/** Gives the slot back, ready again after `wrapUpMs`; `'lost'` when its worker is. False: the holder didn't hold it. */
export async function releaseSlot(redis: RedisClient, held: HeldSlot, wrapUpMs: number | 'lost'): Promise<boolean> {
  const args = [held.slot, held.holder, wrapUpMs === 'lost' ? -1 : wrapUpMs]
  return (await releaseScript.run(redis, [READY, TAKEN, HOLDERS, WORKERS], args)) === 1
}

/** Extends the leases; returns the slots that others hold by now. */
export async function renewSlots(
  redis: RedisClient,
  held: readonly HeldSlot[],
  leaseMs: number,
): Promise<readonly string[]> {
  const args = [leaseMs, ...held.flatMap(({ slot, holder }) => [slot, holder])]
  return (await renewScript.run(redis, [READY, TAKEN, HOLDERS], args)) as string[]
}

/** Renews the worker's entry and makes the slots ready that are missing, as far as it has room for sessions. */
export async function registerWorker(
  redis: RedisClient,
  worker: WorkerEntry,
  activeSessions: number,
  entryMs: number,
): Promise<void> {
  const { workerId, capacity, metricsUrl } = worker
  const info = JSON.stringify({ workerId, capacity, metricsUrl })
  await registerScript.run(redis, [READY, TAKEN, WORKERS, INFO], [workerId, capacity, activeSessions, entryMs, info])
}

/** Forgets a worker that stops, with its ready slots. */
export async function forgetWorker(redis: RedisClient, workerId: string): Promise<void> {
  await forgetScript.run(redis, [READY, WORKERS, INFO], [workerId])
}

/** Slots that are ready now, of workers that any api node has heard of lately. */
export async function countReadySlots(redis: RedisClient): Promise<number> {
  const nowMs = await redisNowMs(redis)
  const [slots, workers] = await Promise.all([
    redis.zRangeByScore(READY, '-inf', nowMs),
    redis.zRangeByScore(WORKERS, nowMs, '+inf'),
  ])
  const alive = new Set(workers)
  return slots.filter((slot) => alive.has(workerOf(slot))).length
}

async function redisNowMs(redis: RedisClient): Promise<number> {
  const [seconds, microseconds] = await redis.sendCommand<[string, string]>(['TIME'])
  return Number(seconds) * 1000 + Number(microseconds) / 1000
}

/** The workers that any api node has heard of within the life of an entry. */
export async function listWorkers(redis: RedisClient): Promise<WorkerEntry[]> {
  const nowMs = await redisNowMs(redis)
  const ids = await redis.zRangeByScore(WORKERS, nowMs, '+inf')
  if (ids.length === 0) return []
  const entries = await redis.hmGet(INFO, ids)
  return entries.flatMap((entry) => (typeof entry === 'string' ? [JSON.parse(entry) as WorkerEntry] : []))
}
