import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallDemand, type CallRoom, DEMAND_MS } from '../../runtime/admission/call-room.ts'
import type { QuotaSource } from '../../runtime/admission/quota-source.ts'
import { countRefusal } from '../../runtime/admission/refusals.ts'
import { afterTurns, type Demand, NO_LINE, shareOut, type TurnLine } from '../../runtime/admission/share-out.ts'
import { type OpenCalls, openPhoneCalls } from '../calls/open-calls.ts'
import type { Store } from '../database/database.ts'
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
const LOCK_POLL_MS = 10
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
  /** Absent: of the pool without a name. */
  pool?: string
}

type WorkspaceCalls = Omit<OpenCalls, 'workspaceId' | 'number' | 'pool'>
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

  /**
   * One claim at a time over all job workers: what a claim takes, the next one sees. Where another runs, `isWorthWaiting` is asked
   * first; undefined: it was not.
   */
  async function alone<T>(run: () => Promise<T>, isWorthWaiting: () => Promise<boolean>): Promise<T | undefined> {
    const holder = randomUUID()
    const take = async () =>
      (await redis.set(LOCK, holder, { condition: 'NX', expiration: { type: 'PX', value: LOCK_MS } })) !== null
    if (!(await take())) {
      if (!(await isWorthWaiting())) return undefined
      const untilMs = performance.now() + LOCK_TIMEOUT_MS
      while (!(await take())) {
        if (performance.now() > untilMs) throw new Error('Room for calls was not shared out in time')
        await sleep(LOCK_POLL_MS)
      }
    }
    try {
      return await run()
    } finally {
      await unlockScript.run(redis, [LOCK], [holder])
    }
  }

  /** All that decides who gets what of a pool, as it is now. */
  async function look(pool: string) {
    const [{ ready, capacity }, held, open, demands, line] = await Promise.all([
      countSlots(redis, pool),
      slotsByWorkspace(redis, pool),
      openPhoneCalls(store),
      redis.hGetAll(DEMANDS),
      readLine(TURNS),
    ])
    const all = Object.entries(demands).flatMap(([unit, text]): Demand[] => {
      const { pool: its = '', ...demand } = JSON.parse(text) as StoredDemand
      return its === pool ? [{ unit, ...demand }] : []
    })
    const asking = [...new Set(all.map(({ workspaceId }) => workspaceId))]
    const calls = byWorkspace(open.filter((one) => one.pool === pool))
    const elsewhere = byWorkspace(open.filter((one) => one.pool !== pool))
    const [limits, ...lines] = await Promise.all([
      quotas.ofWorkspaces([...new Set([...asking, ...calls.keys()])]),
      ...asking.map((one) => readLine(unitTurnsOf(one))),
    ])
    const parts = shares()
    const mostSlots = mostOfWorkspace(capacity, parts)
    const leftOf = (workspaceId: string, of: WorkspaceCalls, holding: number) => {
      const callsAtOnce = limits.get(workspaceId)?.callsAtOnce ?? null
      // The cap of a workspace is over all pools.
      const other = elsewhere.get(workspaceId) ?? NO_CALLS
      const making = of.placed + of.waiting + other.placed + other.waiting
      const left = callsAtOnce === null ? Number.POSITIVE_INFINITY : Math.max(0, callsAtOnce - making)
      const ofShare = Math.floor(mostSlots - holding - of.waitingSeats - of.ringingSeats + ROUNDING)
      return { slots: Math.max(0, Math.min(ofShare, left)), calls: left }
    }
    let promised = 0
    for (const [workspaceId, { placed, waitingSeats, ringingSeats }] of calls) {
      promised += ringingSeats
      if (waitingSeats === 0) continue
      const left = leftOf(workspaceId, { ...NO_CALLS, placed, ringingSeats }, held.get(workspaceId) ?? 0)
      promised += Math.min(waitingSeats, left.slots)
    }
    const room = Math.floor(ready - inboundReserveOf(capacity, parts.inboundReserve) - promised + ROUNDING)
    const left = new Map(asking.map((one) => [one, leftOf(one, calls.get(one) ?? NO_CALLS, held.get(one) ?? 0)]))
    const most = new Map([...left].map(([one, { slots }]) => [one, slots]))
    const units = new Map(asking.map((one, i) => [one, lines[i] ?? NO_LINE]))
    const given = shareOut(Math.max(0, room), all, { workspaces: line, units }, most)
    return { open, all, asking, line, units, room, left, most, given }
  }

  /** What the demand gets of the room there is. */
  async function shareOf(demand: CallDemand) {
    const { workspaceId, unit, number, pool = '' } = demand
    const seen = await look(pool)
    let share = seen.given.get(unit) ?? 0
    if (share > 0 && number !== undefined) {
      share = Math.min(share, await leftOfNumber(workspaceId, number, seen.open))
    }
    if (share === 0) {
      const full = seen.most.get(workspaceId) === 0
      countRefusal('row', seen.room <= 0 ? 'no_slot' : full ? 'workspace_full' : 'no_turn')
    }
    return { ...seen, share }
  }

  return {
    async claim(demand, take) {
      const { workspaceId, unit, wanted, pool, againMs = 0 } = demand
      if (wanted <= 0) {
        await this.leave(unit)
        return 0
      }
      const stored = JSON.stringify({
        ...{ workspaceId, wanted: Math.min(wanted, MOST_AT_ONCE) },
        ...(pool && { pool }),
      } satisfies StoredDemand)
      await demandScript.run(redis, [DEMANDS, `${DEMANDS}:until`], [unit, stored, againMs + DEMAND_MS])
      const claimed = async () => {
        const { all, asking, line, units, left, most, share } = await shareOf(demand)
        if (share === 0) return 0
        const taken = await take(share, left.get(workspaceId)?.calls ?? share)
        // A campaign that leaves room has no one to call now: the others need not wait for it.
        if (taken < share) await this.leave(unit)
        if (taken > 0) {
          // A workspace that may have no more isn't waiting for its turn.
          const waiting = asking.filter((one) => (most.get(one) ?? 1) > 0)
          const own = all.filter((one) => one.workspaceId === workspaceId).map((one) => one.unit)
          await Promise.all([
            writeLine(TURNS, afterTurns(line, workspaceId, taken, waiting)),
            writeLine(unitTurnsOf(workspaceId), afterTurns(units.get(workspaceId) ?? NO_LINE, unit, taken, own)),
          ])
        }
        return taken
      }
      // Most of those that ask get nothing while all slots are taken: where others claim, they don't wait for that.
      return (await alone(claimed, async () => (await shareOf(demand)).share > 0)) ?? 0
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
