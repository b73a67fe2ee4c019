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

/** The pools with a name that workers were registered in. */
const POOLS = 'patchbay:{slots}:pools'

/** Each pool has slots, claims, turns and reserve of its own. */
function keysOf(pool = '') {
  const named = (name: string) => (pool === '' ? `patchbay:{slots}:${name}` : `patchbay:{slots}:pool:${pool}:${name}`)
  return {
    ready: named('ready'),
    taken: named('taken'),
    holders: named('holders'),
    workers: named('workers'),
    info: named('info'),
    waiting: named('waiting'),
    turns: named('turns'),
    use: named('use'),
  }
}

/** Every pool, the one without a name first. */
export async function listPools(redis: RedisClient): Promise<string[]> {
  return ['', ...(await redis.sMembers(POOLS)).sort()]
}

async function overPools<T>(redis: RedisClient, read: (pool: string) => Promise<T[]>): Promise<T[]> {
  return (await Promise.all((await listPools(redis)).map(read))).flat()
}

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

  async take(claims: readonly SlotClaim[], workerIds: readonly string[], pool = ''): Promise<TakenSlot | undefined> {
    if (claims.length === 0 || workerIds.length === 0) return undefined
    const { ready, taken: leased, holders, workers, info, waiting, turns, use } = keysOf(pool)
    const holderId = randomUUID()
    const { inboundReserve, workspaceShare } = this.#shares()
    const taken = await takeScript.run(
      this.#redis,
      [ready, leased, holders, workers, info, waiting, turns, use],
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
    return { slot, holder: `${holderId}|${claim.workspaceId}`, claim, ...(pool && { pool }) }
  }

  release(held: HeldSlot, wrapUpMs: number | 'lost'): Promise<boolean> {
    return releaseSlot(this.#redis, held, wrapUpMs === 'lost' ? -1 : wrapUpMs)
  }

  async renew(held: readonly HeldSlot[]): Promise<readonly string[]> {
    const byPool = Map.groupBy(held, ({ pool }) => pool ?? '')
    const lost = [...byPool].map(async ([pool, slots]) => {
      const { ready, taken, holders } = keysOf(pool)
      const args = [this.#leaseMs, ...slots.flatMap(({ slot, holder }) => [slot, holder])]
      return (await renewScript.run(this.#redis, [ready, taken, holders], args)) as string[]
    })
    return (await Promise.all(lost)).flat()
  }

  async register({ workerId, capacity, metricsUrl, pool = '' }: WorkerEntry, activeSessions: number): Promise<void> {
    const { ready, taken, workers, info, use, holders } = keysOf(pool)
    const entry = JSON.stringify({ workerId, capacity, metricsUrl, ...(pool && { pool }) })
    const args = [workerId, capacity, activeSessions, this.#entryMs, entry]
    if (pool !== '') await this.#redis.sAdd(POOLS, pool)
    await registerScript.run(this.#redis, [ready, taken, workers, info, use, holders], args)
  }

  async forget(workerId: string, pool = ''): Promise<void> {
    const { ready, workers, info, use } = keysOf(pool)
    await this.#redis.set(leftKey(workerId), '', { expiration: { type: 'PX', value: LEFT_MS } })
    await forgetScript.run(this.#redis, [ready, workers, info, use], [workerId])
  }

  onForgotten(listener: () => void): () => void {
    this.#redis.on('ready', boundary('redis', listener))
    return () => this.#redis.off('ready', listener)
  }
}

/** @param wrapUpMs -1: the worker is lost, and the slot not ready before it is registered again */
async function releaseSlot(redis: RedisClient, { slot, holder, pool }: HeldSlot, wrapUpMs: number): Promise<boolean> {
  const { ready, taken, holders, workers, use } = keysOf(pool)
  return (await releaseScript.run(redis, [ready, taken, holders, workers, use], [slot, holder, wrapUpMs])) === 1
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

/** How many slots of the pool each workspace holds. */
export async function slotsByWorkspace(redis: RedisClient, pool = ''): Promise<Map<string, number>> {
  const keys = keysOf(pool)
  const held = new Map<string, number>()
  // A lease that ran out is a dead node's: it holds nothing, even if the slot is still unused.
  const leased = await redis.zRangeByScore(keys.taken, await redisNowMs(redis), '+inf')
  const holders = leased.length === 0 ? [] : await redis.hmGet(keys.holders, leased)
  for (const holder of holders) {
    if (typeof holder !== 'string') continue
    const workspaceId = holder.slice(holder.indexOf('|') + 1)
    held.set(workspaceId, (held.get(workspaceId) ?? 0) + 1)
  }
  return held
}

/** Slots of the pool's workers that any api node has heard of lately: ready now, and in all. */
export async function countSlots(redis: RedisClient, pool = ''): Promise<{ ready: number; capacity: number }> {
  const nowMs = await redisNowMs(redis)
  const [slots, workers] = await Promise.all([
    redis.zRangeByScore(keysOf(pool).ready, '-inf', nowMs),
    workersOf(redis, pool),
  ])
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
export interface HeldSeat extends HeldSlot {
  readonly workspaceId: string
  /** What is left of its lease; below 0: its holder has not renewed it. */
  readonly leaseMs: number
  /** Its worker was heard of lately. */
  readonly hasWorker: boolean
}

/** Every seat that is taken, by slot. */
export async function listHeldSeats(redis: RedisClient): Promise<HeldSeat[]> {
  const seats = await overPools(redis, (pool) => heldSeatsOf(redis, pool))
  return seats.sort((a, b) => (a.slot < b.slot ? -1 : 1))
}

async function heldSeatsOf(redis: RedisClient, pool: string): Promise<HeldSeat[]> {
  const keys = keysOf(pool)
  const [taken, holders, workers, nowMs] = await Promise.all([
    redis.zRangeWithScores(keys.taken, 0, -1),
    redis.hGetAll(keys.holders),
    workersOf(redis, pool),
    redisNowMs(redis),
  ])
  const alive = new Set(workers.map(({ workerId }) => workerId))
  return taken.map(({ value: slot, score }) => {
    const holder = holders[slot] ?? ''
    const workspaceId = holder.slice(holder.indexOf('|') + 1)
    const leaseMs = Math.round(score - nowMs)
    return { slot, holder, workspaceId, leaseMs, hasWorker: alive.has(workerOf(slot)), ...(pool && { pool }) }
  })
}

/** Takes a seat from its holder; false: that is not its holder any more. */
export function freeSeat(redis: RedisClient, seat: HeldSeat): Promise<boolean> {
  return releaseSlot(redis, seat, 0)
}

/** Whether a worker that is gone said so. */
export async function hasLeft(redis: RedisClient, workerId: string): Promise<boolean> {
  return (await redis.exists(leftKey(workerId))) === 1
}

/** The workers of every pool that any api node has heard of within the life of an entry. */
export function listWorkers(redis: RedisClient): Promise<WorkerEntry[]> {
  return overPools(redis, (pool) => workersOf(redis, pool))
}

async function workersOf(redis: RedisClient, pool: string): Promise<WorkerEntry[]> {
  const { workers, info } = keysOf(pool)
  const ids = await redis.zRangeByScore(workers, await redisNowMs(redis), '+inf')
  if (ids.length === 0) return []
  const entries = await redis.hmGet(info, ids)
  return entries.flatMap((entry) => (typeof entry === 'string' ? [JSON.parse(entry) as WorkerEntry] : []))
}
