import { setTimeout as sleep } from 'node:timers/promises'
import { LEASE_MS } from '../../runtime/call/control/leases.ts'
import type { TakenSlot } from '../../runtime/call/control/slots.ts'
import { cancelQueuedCall } from '../../store/calls/cancel-calls.ts'
import { markPlaced } from '../../store/calls/outbound-calls.ts'
import { openStore } from '../../store/database/database.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { RedisSlots } from '../../store/redis/slots.ts'
import { seeded } from '../../test/support/phone/numbers.ts'
import { createDialCheck } from '../../workers/dialer/before-dial.ts'
import type { World } from './world.ts'

/** People as a cold campaign meets them. */
export interface Population {
  /** Of all calls: people, machines that the carrier tells, lines that are busy; nobody answers the others. */
  human: number
  machine: number
  busy: number
  /** The shortest and the longest, evenly spread, in seconds. */
  answersAfterS: readonly [number, number]
  noAnswerAfterS: readonly [number, number]
  talksS: readonly [number, number]
}

const WORKER = 'bench'
const SEAT_POLL_MS = 50
/** As long as a callee waits for an agent: api/calls/outbound-placer.ts. */
const PICKED_UP_WAIT_MS = 1_600
const SEAT_WAIT_MS = 30_000
const REGISTER_MS = 3_000

export interface CalleesOptions {
  seats: number
  population: Population
  wrapUpMs: number
  seed: number
}

export interface Callees {
  /** Calls that have not ended. */
  readonly live: number
  readonly talking: number
  /** Each number that was dialled, in order. */
  readonly dialled: readonly string[]
  /** Those that ended before somebody picked up, too: how many people did, and how many of them found nobody free. */
  readonly people: number
  readonly abandoned: number
  /** Takes the call over, as an api node would. */
  place(workspaceId: string, callId: string): void
  stop(): Promise<void>
}

/**
 * The api nodes, the carrier and the callees in one: seats are taken in Redis, calls are checked and marked in the database as
 * placed, and their ends written there; nothing is said. Ring and talk times are real time.
 */
export async function startCallees(
  { databaseUrl, redis, calling }: Pick<World, 'databaseUrl' | 'redis' | 'calling'>,
  options: CalleesOptions,
): Promise<Callees> {
  const { seats, population, wrapUpMs, seed } = options
  const random = seeded(seed)
  const slots = new RedisSlots(redis, { shares: () => ({ inboundReserve: 0, workspaceShare: 1 }) })
  const own = openStore({ databaseUrl, acquireTimeoutMs: 60_000 })
  const clock = { nowMs: Date.now, monotonicMs: () => performance.now() }
  const check = createDialCheck({ calling, clock })
  const over = new AbortController()
  const register = () => slots.register({ workerId: WORKER, capacity: seats, metricsUrl: '' }, talking)
  const held = new Set<TakenSlot>()
  const running = new Set<Promise<void>>()
  const dialled: string[] = []
  let [live, talking, people, abandoned] = [0, 0, 0, 0]
  await register()
  const registering = setInterval(() => void register().catch(() => {}), REGISTER_MS)
  const renewing = setInterval(() => void slots.renew([...held]).catch(() => {}), LEASE_MS / 4)

  const seatFor = async (workspaceId: string, kind: 'picked_up' | 'outbound', waitMs: number) => {
    const untilMs = performance.now() + waitMs
    do {
      const taken = await slots.take([{ workspaceId, kind }], [WORKER])
      if (taken !== undefined) {
        held.add(taken)
        return taken
      }
      await sleep(SEAT_POLL_MS, undefined, { signal: over.signal })
    } while (performance.now() < untilMs)
    return undefined
  }
  const release = async (seat: TakenSlot | undefined, restMs: number) => {
    if (seat === undefined || !held.delete(seat)) return
    await slots.release(seat, restMs)
  }
  const between = ([least, most]: readonly [number, number]) => (least + random() * (most - least)) * 1_000

  const call = async (tenant: Tenant, callId: string) => {
    const set = (fields: Record<string, unknown>) =>
      tenant.db.updateTable('calls').set(fields).where('id', '=', callId).execute()
    const end = (status: string, fields: Record<string, unknown> = {}) =>
      set({
        ...{ status, end_reason: status, disposition: status, ended_at: new Date(), duration_ms: 0 },
        ...{ cost_llm: 0, cost_stt: 0, cost_tts: 0, platform_cost: 0, ...fields },
      })
    const row = await tenant.db.selectFrom('calls').selectAll().where('id', '=', callId).executeTakeFirstOrThrow()
    const hasOwn = row.seat_share === null
    let seat = hasOwn ? await seatFor(tenant.workspaceId, 'outbound', SEAT_WAIT_MS) : undefined
    try {
      if (hasOwn && seat === undefined) return void (await cancelQueuedCall(tenant, callId, new Date()))
      const refusal = await check(tenant, row, over.signal)
      if (refusal !== undefined || !(await markPlaced(tenant, callId, new Date()))) {
        return void (await end('canceled', { end_reason: 'skipped', disposition: refusal?.reason ?? 'paused' }))
      }
      dialled.push(row.to_number ?? '')
      await set({ status: 'ringing' })
      const drawn = random()
      const rest = (ms: number) => sleep(ms, undefined, { signal: over.signal })
      if (drawn < population.human) {
        await rest(between(population.answersAfterS))
        people++
        if (!hasOwn) {
          await set({ picked_up_at: new Date() })
          seat = await seatFor(tenant.workspaceId, 'picked_up', PICKED_UP_WAIT_MS)
          if (seat === undefined) {
            abandoned++
            return void (await end('completed', { end_reason: 'abandoned', disposition: 'abandoned' }))
          }
        }
        talking++
        await set({ status: 'in_progress', answered_at: new Date() })
        const talkMs = between(population.talksS)
        await rest(talkMs).finally(() => talking--)
        await end('completed', { end_reason: 'agent_hangup', duration_ms: Math.round(talkMs) })
      } else if (drawn < population.human + population.machine) {
        await rest(between(population.answersAfterS))
        await end('completed', { end_reason: 'voicemail', disposition: 'voicemail' })
      } else if (drawn < population.human + population.machine + population.busy) {
        await rest(1_500)
        await end('busy')
      } else {
        await rest(between(population.noAnswerAfterS))
        await end('no_answer')
      }
    } finally {
      await release(seat, wrapUpMs)
    }
  }

  return {
    get live() {
      return live
    },
    get talking() {
      return talking
    },
    get people() {
      return people
    },
    get abandoned() {
      return abandoned
    },
    dialled,
    place(workspaceId, callId) {
      live++
      const work = call(own.tenant(workspaceId), callId)
        .catch((error) => {
          if (!over.signal.aborted) throw error
        })
        .finally(() => {
          live--
          running.delete(work)
        })
      running.add(work)
    },
    async stop() {
      clearInterval(registering)
      clearInterval(renewing)
      over.abort()
      await Promise.allSettled(running)
      await own.close()
    },
  }
}
