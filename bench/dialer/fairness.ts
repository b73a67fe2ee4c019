import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../runtime/lib/clock.ts'
import { createLogger } from '../../runtime/process/log.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { createRedis } from '../../store/redis/client.ts'
import { startDialer } from '../../workers/dialer/start.ts'
import { runJobs } from '../../workers/queues.ts'
import { report } from './figures.ts'
import { forkCallees } from './fork-callees.ts'
import { fillCampaign, makeCampaign, makeWorkspace, type World } from './world.ts'

const WORKSPACES = 20
const CAMPAIGNS = 100
const DISPATCHERS = 4
const PROSPECTS_EACH = 1_000
/** Longer than two turns of each campaign. */
const ALL_ASK_MS = 6_000
/** Everybody answers, so that what is measured is who was given the seats. */
const TALKERS = {
  ...{ human: 1, machine: 0, busy: 0 },
  answersAfterS: [0.5, 1.5],
  noAnswerAfterS: [1, 1],
  talksS: [3, 7],
} as const

/** Campaigns of several workspaces, more of some than of others, want more seats than there are. */
export async function measureFairness(
  world: World,
  size: { seats: number; warmS: number; seconds: number },
): Promise<boolean> {
  const { store, databaseUrl, redisUrl, rulesFile } = world
  const log = createLogger({ level: 'error', name: 'bench' })
  const tenants = new Map<string, Tenant>()
  // From one campaign to nine.
  const counts = Array.from({ length: WORKSPACES }, (_, i) => 1 + (i % 9))
  counts[WORKSPACES - 1] = CAMPAIGNS - counts.slice(0, -1).reduce((sum, one) => sum + one, 0)
  let made = 0
  for (const [i, count] of counts.entries()) {
    const { tenant, agentId } = await makeWorkspace(world, `+1212555${String(1_000 + i)}`)
    tenants.set(tenant.workspaceId, tenant)
    for (let n = 0; n < count; n++) {
      const campaign = await makeCampaign(tenant, { name: `Bench ${n}`, agent_id: agentId, wrap_up_time: 0 })
      await fillCampaign(world, tenant, campaign, PROSPECTS_EACH, made++ * PROSPECTS_EACH)
    }
  }
  await store.pool.query('vacuum analyze')
  const redis = await createRedis(redisUrl, log)
  const config = { inboundReserve: 0, workspaceShare: 1, callingRules: rulesFile }
  const dialers = await Promise.all(
    Array.from({ length: DISPATCHERS }, () =>
      startDialer({ store, redis, databaseUrl, clock: systemClock, log, config, reloads: { watch: () => () => {} } }),
    ),
  )
  // Were there seats while the first ask, those would have them, and pay them back for a minute.
  await sleep(ALL_ASK_MS)
  const callees = await forkCallees(world, { seats: size.seats, population: TALKERS, wrapUpMs: 0, seed: 2 })
  const taken = runJobs(
    'outbound-calls',
    redis,
    { concurrency: size.seats, onError: () => {}, onPoison: () => {} },
    async ({ payload: { callId, workspaceId } }) => callees.place(workspaceId, callId),
  )
  const placed = async () => {
    const { rows } = await store.pool.query<{ workspace_id: string; n: number }>(
      'select workspace_id, count(placed_at)::int as n from calls group by 1',
    )
    return new Map(rows.map(({ workspace_id, n }) => [workspace_id, n]))
  }
  try {
    await sleep(size.warmS * 1_000)
    const before = await placed()
    await sleep(size.seconds * 1_000)
    const after = await placed()
    const calls = [...tenants.keys()].map((id) => (after.get(id) ?? 0) - (before.get(id) ?? 0))
    const sum = calls.reduce((all, one) => all + one, 0)
    const fair = sum / WORKSPACES
    const worst = Math.max(...calls.map((one) => Math.abs(one - fair) / fair))
    return report({
      name: `furthest from a fair share of seats, ${CAMPAIGNS} campaigns of ${WORKSPACES} workspaces`,
      ours: worst,
      target: '<= 0.05',
      runs: sum,
    })
  } finally {
    await Promise.all(dialers.map((dialer) => dialer.stop(1_000)))
    await taken.stop(1_000)
    await callees.stop()
    redis.destroy()
  }
}
