import { randomUUID } from 'node:crypto'
import { SEAT_RANKS, type SlotClaim } from '../../runtime/admission/slot-claim.ts'
import { LEASE_MS } from '../../runtime/call/control/leases.ts'
import {
  type HeldSlot,
  type Slots,
  type TakenSlot,
  type WorkerEntry,
  workerOf,
} from '../../runtime/call/control/slots.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { RedisClient } from './client.ts'
import { loadScript } from './scripts/run.ts'

/** The slots of all voice workers in Redis, whose clock is the only one. */

const READY = 'patchbay:{slots}:ready'
const TAKEN = 'patchbay:{slots}:taken'
const HOLDERS = 'patchbay:{slots}:holders'
const WORKERS = 'patchbay:{slots}:workers'
const INFO = 'patchbay:{slots}:info'
const WAITING = 'patchbay:{slots}:waiting'
const TURNS = 'patchbay:{slots}:turns'
const USE = 'patchbay:{slots}:use'

/** A worker's goodbye is kept while its absence may need explaining. */
const LEFT_MS = 600_000
const leftKey = (workerId: string) => `patchbay:worker-left:${workerId}`

const ENTRY_MS = 15_000
/** A waiting node asks every 100 ms; one that stopped asking delays others by at most this. */
const WAITING_MS = 1_000

const takeScript = loadScript('take-slot-8.lua')
const releaseScript = loadScript('release-slot-5.lua')
const renewScript = loadScript('renew-slots-3.lua')
const registerScript = loadScript('register-worker-6.lua')
const forgetScript = loadScript('forget-worker-4.lua')

export interface SlotShares {
  /** Share of all slots that outbound calls leave free, at least one; none with a single slot. */
  inboundReserve: number
  /** Part of the slots beyond the reserve that one workspace may hold, at least one; 1: all there are. */
  workspaceShare: number
}

interface SlotOptions {
  /** Asked each time. */
  shares(): SlotShares
  leaseMs?: number
  entryMs?: number
}

export class RedisSlots implements Slots {
  readonly #redis: RedisClient
  readonly #node = randomUUID()
  readonly #shares: () => SlotShares
  readonly #leaseMs: number
  readonly #entryMs: number

  constructor(redis: RedisClient, { shares, leaseMs = LEASE_MS, entryMs = ENTRY_MS }: SlotOptions) {
    this.#redis = redis
    this.#shares = shares
    this.#leaseMs = leaseMs
    this.#entryMs = entryMs
  }

  async take(claims: readonly SlotClaim[], workerIds: readonly string[]): Promise<TakenSlot | undefined> {
    if (claims.length === 0 || workerIds.length === 0) return undefined
    const holderId = randomUUID()
    const { inboundReserve, workspaceShare } = this.#shares()
    const taken = await takeScript.run(
      this.#redis,
      [READY, TAKEN, HOLDERS, WORKERS, INFO, WAITING, TURNS, USE],
      [
        holderId,
        this.#leaseMs,
        this.#node,
        WAITING_MS,
        inboundReserve,
        workspaceShare,
        workerIds.length,
        ...workerIds,
        ...claims.flatMap(({ kind, workspaceId, strategy = 'longest-idle-agent' }) => [
          SEAT_RANKS[kind],
          workspaceId,
          strategy,
        ]),
      ],
    )
    if (!Array.isArray(taken)) return undefined
    const [slot, index] = taken as [string, number]
    const claim = claims[index]!
    return { slot, holder: `${holderId}|${claim.workspaceId}`, claim }
  }

  async release({ slot, holder }: HeldSlot, wrapUpMs: number | 'lost'): Promise<boolean> {
    const args = [slot, holder, wrapUpMs === 'lost' ? -1 : wrapUpMs]
    return (await releaseScript.run(this.#redis, [READY, TAKEN, HOLDERS, WORKERS, USE], args)) === 1
  }

  async renew(held: readonly HeldSlot[]): Promise<readonly string[]> {
    const args = [this.#leaseMs, ...held.flatMap(({ slot, holder }) => [slot, holder])]
    return (await renewScript.run(this.#redis, [READY, TAKEN, HOLDERS], args)) as string[]
  }

  async register({ workerId, capacity, metricsUrl }: WorkerEntry, activeSessions: number): Promise<void> {
    const info = JSON.stringify({ workerId, capacity, metricsUrl })
    const args = [workerId, capacity, activeSessions, this.#entryMs, info]
    await registerScript.run(this.#redis, [READY, TAKEN, WORKERS, INFO, USE, HOLDERS], args)
  }

  async forget(workerId: string): Promise<void> {
    await this.#redis.set(leftKey(workerId), '', { expiration: { type: 'PX', value: LEFT_MS } })
    await forgetScript.run(this.#redis, [READY, WORKERS, INFO, USE], [workerId])
  }

  onForgotten(listener: () => void): () => void {
    this.#redis.on('ready', boundary('redis', listener))
    return () => this.#redis.off('ready', listener)
  }
}

/** Slots that calls we make leave free; as take-slot-8.lua has it. */
export function inboundReserveOf(capacity: number, inboundReserve: number): number {
  if (inboundReserve === 0) return 0
  return Math.max(0, Math.min(Math.max(1, Math.ceil(capacity * inboundReserve)), capacity - 1))
}

/** Slots one workspace may hold; as take-slot-8.lua has it. */
export function mostOfWorkspace(capacity: number, { inboundReserve, workspaceShare }: SlotShares): number {
  if (workspaceShare >= 1) return capacity
  return Math.max(1, Math.floor((capacity - inboundReserveOf(capacity, inboundReserve)) * workspaceShare))
}

/** How many slots each workspace holds. */
export async function slotsByWorkspace(redis: RedisClient): Promise<Map<string, number>> {
  const held = new Map<string, number>()
  // A lease that ran out is a dead node's: it holds nothing, even if the slot is still unused.
  const leased = await redis.zRangeByScore(TAKEN, await redisNowMs(redis), '+inf')
  const holders = leased.length === 0 ? [] : await redis.hmGet(HOLDERS, leased)
  for (const holder of holders) {
    if (typeof holder !== 'string') continue
    const workspaceId = holder.slice(holder.indexOf('|') + 1)
    held.set(workspaceId, (held.get(workspaceId) ?? 0) + 1)
  }
  return held
}

/** Slots of workers that any api node has heard of lately: ready now, and in all. */
export async function countSlots(redis: RedisClient): Promise<{ ready: number; capacity: number }> {
  const nowMs = await redisNowMs(redis)
  const [slots, workers] = await Promise.all([redis.zRangeByScore(READY, '-inf', nowMs), listWorkers(redis)])
  const alive = new Set(workers.map(({ workerId }) => workerId))
  return {
    ready: slots.filter((slot) => alive.has(workerOf(slot))).length,
    capacity: workers.reduce((sum, { capacity }) => sum + capacity, 0),
  }
}

export async function redisNowMs(redis: RedisClient): Promise<number> {
  const [seconds, microseconds] = await redis.sendCommand<[string, string]>(['TIME'])
  return Number(seconds) * 1000 + Number(microseconds) / 1000
}

/** A seat that somebody holds. */
export interface HeldSeat {
  readonly slot: string
  readonly workspaceId: string
  readonly holder: string
  /** What is left of its lease; below 0: its holder has not renewed it. */
  readonly leaseMs: number
  /** Its worker was heard of lately. */
  readonly hasWorker: boolean
}

/** Every seat that is taken, by slot. */
export async function listHeldSeats(redis: RedisClient): Promise<HeldSeat[]> {
  const [taken, holders, workers, nowMs] = await Promise.all([
    redis.zRangeWithScores(TAKEN, 0, -1),
    redis.hGetAll(HOLDERS),
    listWorkers(redis),
    redisNowMs(redis),
  ])
  const alive = new Set(workers.map(({ workerId }) => workerId))
  const seats = taken.map(({ value: slot, score }) => {
    const holder = holders[slot] ?? ''
    const workspaceId = holder.slice(holder.indexOf('|') + 1)
    return { slot, holder, workspaceId, leaseMs: Math.round(score - nowMs), hasWorker: alive.has(workerOf(slot)) }
  })
  return seats.sort((a, b) => (a.slot < b.slot ? -1 : 1))
}

/** Takes a seat from its holder; false: that is not its holder any more. */
export async function freeSeat(redis: RedisClient, { slot, holder }: HeldSeat): Promise<boolean> {
  return (await releaseScript.run(redis, [READY, TAKEN, HOLDERS, WORKERS, USE], [slot, holder, 0])) === 1
}

/** Whether a worker that is gone said so. */
export async function hasLeft(redis: RedisClient, workerId: string): Promise<boolean> {
  return (await redis.exists(leftKey(workerId))) === 1
}

/** The workers that any api node has heard of within the life of an entry. */
export async function listWorkers(redis: RedisClient): Promise<WorkerEntry[]> {
  const nowMs = await redisNowMs(redis)
  const ids = await redis.zRangeByScore(WORKERS, nowMs, '+inf')
  if (ids.length === 0) return []
  const entries = await redis.hmGet(INFO, ids)
  return entries.flatMap((entry) => (typeof entry === 'string' ? [JSON.parse(entry) as WorkerEntry] : []))
}
