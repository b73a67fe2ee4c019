import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallRoom, DEMAND_MS } from '../../runtime/admission/call-room.ts'
import type { QuotaSource } from '../../runtime/admission/quota-source.ts'
import { countRefusal } from '../../runtime/admission/refusals.ts'
import { afterTurns, type Demand, NO_LINE, shareOut, type TurnLine } from '../../runtime/admission/share-out.ts'
import type { Store } from '../database.ts'
import { type OpenCalls, openPhoneCalls } from '../open-calls.ts'
import type { RedisClient } from './client.ts'
import { loadScript } from './scripts/run.ts'
import { countSlots, inboundReserveOf, mostOfWorkspace, type SlotShares, slotsByWorkspace } from './slots.ts'

const DEMANDS = 'patchbay:{room}:demands'
const TURNS = 'patchbay:{room}:turns'
const unitTurnsOf = (workspaceId: string): string => `patchbay:{room}:turns:${workspaceId}`
/** The member of a line that says where it is. */
const AT = '*'
const TURNS_LIFE_S = 3_600
const LOCK = 'patchbay:{room}:lock'

/** Longer than a claim of rows takes; past it another may be given the same room, and its calls wait a moment in line. */
const LOCK_MS = 10_000
const LOCK_POLL_MS = 20
const LOCK_TIMEOUT_MS = 30_000
/** Parts of slots add up to whole ones but for the last bits. */
const ROUNDING = 1e-6
/** Rows made calls at once: they are made in one transaction. */
const MOST_AT_ONCE = 200

const demandScript = loadScript('put-demand-2.lua')
const unlockScript = loadScript('unlock-1.lua')

interface StoredDemand {
  workspaceId: string
  wanted: number
}

/** What one workspace may hold, and what each does. */
interface Slots {
  most: number
  held: ReadonlyMap<string, number>
}

type WorkspaceCalls = Omit<OpenCalls, 'workspaceId' | 'number'>
const NO_CALLS: WorkspaceCalls = { waiting: 0, placed: 0, waitingSeats: 0, ringingSeats: 0 }

function byWorkspace(open: readonly OpenCalls[]): Map<string, WorkspaceCalls> {
  const sums = new Map<string, WorkspaceCalls>()
  for (const { workspaceId, waiting, placed, waitingSeats, ringingSeats } of open) {
    const sum = sums.get(workspaceId) ?? NO_CALLS
    sums.set(workspaceId, {
      waiting: sum.waiting + waiting,
      placed: sum.placed + placed,
      waitingSeats: sum.waitingSeats + waitingSeats,
      ringingSeats: sum.ringingSeats + ringingSeats,
    })
  }
  return sums
}

/** Room for calls as all job workers share it out. */
export function redisCallRoom(options: {
  store: Store
  redis: RedisClient
  quotas: QuotaSource
  /** Asked each time. */
  shares(): SlotShares
}): CallRoom {
  const { store, redis, quotas, shares } = options

  /** One claim at a time over all job workers: what a claim takes, the next one sees. */
  async function alone<T>(run: () => Promise<T>): Promise<T> {
    const holder = randomUUID()
    const untilMs = performance.now() + LOCK_TIMEOUT_MS
    while ((await redis.set(LOCK, holder, { condition: 'NX', expiration: { type: 'PX', value: LOCK_MS } })) === null) {
      if (performance.now() > untilMs) throw new Error('Room for calls was not shared out in time')
      await sleep(LOCK_POLL_MS)
    }
    try {
      return await run()
    } finally {
      await unlockScript.run(redis, [LOCK], [holder])
    }
  }

  /** What the workspace may still begin: calls within its quota, and slots within its share of them, too. */
  async function leftOf(
    workspaceId: string,
    { waiting, placed, waitingSeats, ringingSeats }: WorkspaceCalls,
    { most, held }: Slots,
  ): Promise<{ slots: number; calls: number }> {
    const { callsAtOnce } = await quotas.ofWorkspace(workspaceId)
    const calls = callsAtOnce === null ? Number.POSITIVE_INFINITY : Math.max(0, callsAtOnce - placed - waiting)
    const ofShare = Math.floor(most - (held.get(workspaceId) ?? 0) - waitingSeats - ringingSeats + ROUNDING)
    return { slots: Math.max(0, Math.min(ofShare, calls)), calls }
  }

  /**
   * Slots that calls will take which wait to be placed, as far as quotas and shares of their workspaces let them, and those
   * that ring without one.
   */
  async function promised(open: ReadonlyMap<string, WorkspaceCalls>, slots: Slots): Promise<number> {
    let sum = 0
    for (const [workspaceId, { placed, waitingSeats, ringingSeats }] of open) {
      sum += ringingSeats
      if (waitingSeats === 0) continue
      const left = await leftOf(workspaceId, { ...NO_CALLS, placed, ringingSeats }, slots)
      sum += Math.min(waitingSeats, left.slots)
    }
    return sum
  }

  return {
    async claim(demand, take) {
      const { workspaceId, unit, wanted, number } = demand
      if (wanted <= 0) {
        await this.leave(unit)
        return 0
      }
      const stored = JSON.stringify({ workspaceId, wanted: Math.min(wanted, MOST_AT_ONCE) } satisfies StoredDemand)
      await demandScript.run(redis, [DEMANDS, `${DEMANDS}:until`], [unit, stored, DEMAND_MS])
      return alone(async () => {
        const [{ ready, capacity }, held, open, demands, line] = await Promise.all([
          countSlots(redis),
          slotsByWorkspace(redis),
          openPhoneCalls(store),
          redis.hGetAll(DEMANDS),
          readLine(TURNS),
        ])
        const parts = shares()
        const slots: Slots = { most: mostOfWorkspace(capacity, parts), held }
        const calls = byWorkspace(open)
        const beyondReserve = ready - inboundReserveOf(capacity, parts.inboundReserve)
        const room = Math.floor(beyondReserve - (await promised(calls, slots)) + ROUNDING)
        const all = Object.entries(demands).map(
          ([of, text]): Demand => ({ unit: of, ...(JSON.parse(text) as StoredDemand) }),
        )
        const workspaces = [...new Set(all.map((one) => one.workspaceId))]
        const most = new Map<string, number>()
        const mostCalls = new Map<string, number>()
        const units = new Map<string, TurnLine>()
        for (const one of workspaces) {
          const left = await leftOf(one, calls.get(one) ?? NO_CALLS, slots)
          most.set(one, left.slots)
          mostCalls.set(one, left.calls)
          units.set(one, await readLine(unitTurnsOf(one)))
        }
        let share = shareOut(Math.max(0, room), all, { workspaces: line, units }, most).get(unit) ?? 0
        if (number !== undefined) share = Math.min(share, await leftOfNumber(workspaceId, number, open))
        if (share === 0) {
          countRefusal('row', room <= 0 ? 'no_slot' : most.get(workspaceId) === 0 ? 'workspace_full' : 'no_turn')
          return 0
        }
        const taken = await take(share, mostCalls.get(workspaceId) ?? share)
        if (taken > 0) {
          // A workspace that may have no more isn't waiting for its turn.
          const waiting = workspaces.filter((one) => (most.get(one) ?? 1) > 0)
          const own = all.filter((one) => one.workspaceId === workspaceId).map((one) => one.unit)
          await writeLine(TURNS, afterTurns(line, workspaceId, taken, waiting))
          await writeLine(unitTurnsOf(workspaceId), afterTurns(units.get(workspaceId) ?? NO_LINE, unit, taken, own))
        }
        return taken
      })
    },
    async leave(unit) {
      await Promise.all([redis.hDel(DEMANDS, unit), redis.zRem(`${DEMANDS}:until`, unit)])
    },
  }

  async function readLine(key: string): Promise<TurnLine> {
    const tags = new Map((await redis.zRangeWithScores(key, 0, -1)).map(({ value, score }) => [value, score]))
    const at = tags.get(AT) ?? 0
    tags.delete(AT)
    return { tags, at }
  }

  async function writeLine(key: string, { tags, at }: TurnLine): Promise<void> {
    const members = [...tags, [AT, at] as const].map(([value, score]) => ({ value, score }))
    await redis.multi().del(key).zAdd(key, members).expire(key, TURNS_LIFE_S).exec()
  }

  async function leftOfNumber(workspaceId: string, number: string, open: readonly OpenCalls[]): Promise<number> {
    const cap = await quotas.ofNumber(workspaceId, number)
    if (cap === null) return Number.POSITIVE_INFINITY
    const own = open.filter((one) => one.workspaceId === workspaceId && one.number === number)
    return Math.max(0, cap - own.reduce((sum, { waiting, placed }) => sum + waiting + placed, 0))
  }
}
