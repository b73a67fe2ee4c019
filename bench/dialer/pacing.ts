import { setTimeout as sleep } from 'node:timers/promises'
import type { CallRoom } from '../../runtime/admission/call-room.ts'
import { createLogger } from '../../runtime/process/log.ts'
import { campaignById, updateCampaign } from '../../store/campaigns/campaigns.ts'
import { redisCallRoom } from '../../store/redis/call-room.ts'
import { storedQuotas } from '../../store/workspaces/quotas.ts'
import { campaignStatus } from '../../workers/dialer/status.ts'
import { MOST_CLAIMED_AT_ONCE, tickCampaign } from '../../workers/dialer/tick.ts'
import { quantile } from '../support/quantile.ts'
import type { Population } from './callees.ts'
import { report, timed } from './figures.ts'
import { forkCallees } from './fork-callees.ts'
import { CLOSED_AREA, fillCampaign, makeCampaign, makeWorkspace, type World } from './world.ts'

const COLD: Population = {
  human: 0.06,
  machine: 0.1,
  busy: 0.05,
  answersAfterS: [4, 14],
  // Of one length, a multiple of a turn's, all would end right after a turn and wait for the next.
  noAnswerAfterS: [24, 32],
  talksS: [15, 75],
}
const SAMPLE_MS = 200
const STATUS_MS = 500
const CALL_RATIO = 10
/** Live calls a seat. */
const MOST_LIVE = 5
const TICK_MS = 2_000

/** A campaign on all seats: with a seat for each call, then with as many calls as pacing lets it. */
export async function measurePacing(
  world: World,
  size: { prospects: number; seats: number; warmS: number; seconds: number },
): Promise<boolean> {
  const { store, redis, calling } = world
  const log = createLogger({ level: 'error', name: 'bench' })
  const { tenant, agentId } = await makeWorkspace(world, '+12125550100')
  const campaign = await makeCampaign(tenant, {
    ...{ name: 'Bench', agent_id: agentId, wrap_up_time: 3, max_number_calls: 2 },
    max_active_calls: size.seats * MOST_LIVE,
  })
  await fillCampaign(world, tenant, campaign, size.prospects)
  await store.pool.query('vacuum analyze')
  const callees = await forkCallees(world, { seats: size.seats, population: COLD, wrapUpMs: 3_000, seed: 1 })
  const shares = () => ({ inboundReserve: 0, workspaceShare: 1 })
  const quotas = storedQuotas(store, { webSessionsPerWorkspace: null })
  const shared = redisCallRoom({ store, redis, quotas, shares })
  const picksMs: number[] = []
  let picking = false
  const room: CallRoom = {
    claim: (demand, take) =>
      shared.claim(demand, async (...most) => {
        picking = true
        try {
          return await take(...most)
        } finally {
          picking = false
        }
      }),
    leave: (unit) => shared.leave(unit),
  }
  // A pick is one transaction, from its beginning to its end.
  const picks = new Proxy(tenant.db, {
    get(db, key) {
      const value: unknown = Reflect.get(db, key, db)
      if (key !== 'transaction' || !picking) return typeof value === 'function' ? value.bind(db) : value
      return () => ({
        async execute(work: Parameters<ReturnType<typeof db.transaction>['execute']>[0]) {
          let result: unknown
          picksMs.push(
            await timed(async () => {
              result = await db.transaction().execute(work)
            }),
          )
          return result
        },
      })
    },
  })
  const clock = { nowMs: Date.now, monotonicMs: () => performance.now() }
  const services = {
    store,
    room,
    calling,
    clock,
    log,
    place: async (call: { id: string }) => callees.place(tenant.workspaceId, call.id),
  }
  let over = false
  const ticks = (async () => {
    while (!over) {
      const ms = await timed(() => tickCampaign(services, { ...tenant, db: picks }, campaign.id))
      await sleep(Math.max(0, TICK_MS - ms))
    }
  })()
  const statusMs: number[] = []
  const looks = (async () => {
    while (!over) {
      const current = await campaignById(tenant, campaign.id)
      if (current !== undefined) {
        statusMs.push(await timed(() => campaignStatus({ store, redis, calling }, tenant, current, new Date())))
      }
      await sleep(STATUS_MS)
    }
  })()
  /** Seats in use and live calls while the campaign runs at this ratio, once it is under way. */
  const measure = async (callRatio: number) => {
    await updateCampaign(tenant, campaign.slug, { call_ratio: callRatio }, new Date())
    await sleep(size.warmS * 1_000)
    const before = { people: callees.people, abandoned: callees.abandoned, dialled: callees.dialled.length }
    const talking: number[] = []
    const live: number[] = []
    picksMs.length = 0
    statusMs.length = 0
    const untilMs = performance.now() + size.seconds * 1_000
    while (performance.now() < untilMs) {
      talking.push(callees.talking)
      live.push(callees.live)
      await sleep(SAMPLE_MS)
    }
    const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length
    return {
      inUse: mean(talking) / size.seats,
      live: mean(live),
      picks: [...picksMs],
      status: [...statusMs],
      calls: callees.dialled.length - before.dialled,
      people: callees.people - before.people,
      abandoned: callees.abandoned - before.abandoned,
    }
  }
  try {
    const one = await measure(1)
    const many = await measure(CALL_RATIO)
    over = true
    await Promise.all([ticks, looks])
    const { rows: twice } = await store.pool.query('select phone from prospect_attempts group by 1 having count(*) > 1')
    const { rows: listed } = await store.pool.query(
      'select a.phone from prospect_attempts a join do_not_call n using (workspace_id, phone)',
    )
    const closed = callees.dialled.filter((number) => number.startsWith(`+1${CLOSED_AREA}`))
    const breaches = twice.length + listed.length + closed.length
    const met = [
      report({ name: 'live calls', ours: many.live, target: `>= ${size.seats * MOST_LIVE * 0.95}`, runs: many.calls }),
      report({
        name: `pick p99, of up to ${MOST_CLAIMED_AT_ONCE} calls (ms)`,
        ours: quantile(many.picks, 0.99),
        target: '<= 50',
        runs: many.picks.length,
      }),
      report({
        name: 'seats in use beside a fixed ratio of 1',
        ours: many.inUse,
        peer: one.inUse,
        target: '>= 1.15',
        runs: 1,
      }),
      report({
        name: 'abandoned of those who picked up',
        ours: many.abandoned / many.people,
        target: '<= 0.01',
        runs: many.people,
      }),
      report({ name: 'abandoned at a ratio of 1', ours: one.abandoned, target: '<= 0', runs: one.people }),
      report({ name: 'breaches', ours: breaches, target: '<= 0', runs: callees.dialled.length }),
      report({
        name: 'status p99 while it runs (ms)',
        ours: quantile(many.status, 0.99),
        target: '<= 20',
        runs: many.status.length,
      }),
    ]
    return met.every((one) => one)
  } finally {
    over = true
    await Promise.allSettled([ticks, looks])
    await callees.stop()
  }
}
