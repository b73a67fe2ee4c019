/**
 * `npm run kill-campaign`: kills the processes of running campaigns, their Postgres and their Redis, at random moments, and looks
 * whether a promise was broken.
 *
 *     npm run kill-campaign -- [--times=1000] [--minutes=60] [--dispatchers=4] [--campaigns=3] [--ratio=1] [--seed=1]
 *
 * They call over real SIP trunks into a telephone network of this process, which records every number it is asked for: callees answer,
 * are busy, decline, are blocked, or have their calls forwarded, to premium numbers too; each other campaign calls over a trunk that is
 * dead, with another as its fallback. Ends with 0 only if nobody was called more often than allowed, sooner than allowed or outside
 * their hours, no destination that is refused was called, nobody is on the do-not-call list who did not decline, every attempt ended
 * and the campaigns completed. Most kills come a moment after somebody was dialled, several at a time, while others are still
 * starting. `--minutes` ends the killing earlier; the campaigns then have their time to complete.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  CLOSED_AREA,
  fillCampaign,
  fillRefused,
  makeAgent,
  makeCampaign,
  makeWorkspace,
  REFUSED_PREFIX,
  startWorld,
} from '../bench/dialer/world.ts'
import type { CampaignWithLists } from '../store/campaigns/campaigns.ts'
import { seeded } from '../test/support/phone/numbers.ts'
import { Fleet, type FleetRole } from './kill-campaign/fleet.ts'
import { judgeCampaign } from './kill-campaign/judge.ts'
import { addTrunks, REDIRECTED_PREFIX, TelephoneNetwork } from './kill-campaign/telephone-network.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)
const MOST_CALLS = 2
const GAP_MINUTES = 1
/** Prospects of each campaign that nobody called yet are kept above this while processes are killed. */
const LEAST_FRESH = 20
const MOST_ACTIVE = 12
const FINISH_TIMEOUT_MS = 300_000
/** Of kills, those that wait for somebody to be dialled; the others come at any moment. */
const AFTER_A_DIAL = 0.7
const DIALLED_TIMEOUT_MS = 15_000
const AFTER_A_DIAL_MS = 400
const PAUSE_MS = 1_000
const MOST_AT_ONCE = 4
const POLL_MS = 20

type Victim = FleetRole | 'postgres' | 'redis'
/** Of all kills; the rest are dispatchers. */
const SHARES: readonly (readonly [Victim, number])[] = [
  ['postgres', 0.04],
  ['redis', 0.04],
  ['api', 0.1],
  ['voice', 0.14],
]

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '1000' },
    minutes: { type: 'string', default: '60' },
    dispatchers: { type: 'string', default: '4' },
    campaigns: { type: 'string', default: '3' },
    ratio: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
})
const number = (name: keyof typeof values): number => {
  const value = Number(values[name])
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not "${values[name]}"`)
  return value
}

async function main(folder: string): Promise<boolean> {
  const [times, minutes, seed] = [number('times'), number('minutes'), number('seed')]
  const random = seeded(seed)
  const world = await startWorld(folder)
  const network = await TelephoneNetwork.start()
  const { store, databaseUrl, redisUrl, rulesFile, pids } = world
  // The database goes away in the middle of a query: the next one gets a new connection.
  store.pool.on('error', () => {})
  const retried = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let tries = 0; ; tries++) {
      try {
        return await work()
      } catch (error) {
        if (tries === 60) throw error
        await sleep(500)
      }
    }
  }
  const { tenant, agentId } = await makeWorkspace(world, '+12125550100', 'sip', 'main')
  await addTrunks(tenant, network)
  const agentIds = [agentId, await makeAgent(tenant, '+12125550101', 'sip', 'dead')]
  const fields = {
    ...{ wrap_up_time: 0, call_ratio: number('ratio'), max_number_calls: MOST_CALLS },
    ...{
      max_active_calls: MOST_ACTIVE,
      min_time_between_calls: GAP_MINUTES,
      retry: { fault: { after_minutes: 0 }, blocked: { after_minutes: 0 }, busy: { after_minutes: GAP_MINUTES } },
    },
  }
  const campaigns: CampaignWithLists[] = []
  for (let i = 0; i < number('campaigns'); i++) {
    const agent_id = agentIds[i % agentIds.length]
    campaigns.push(await makeCampaign(tenant, { name: `Under fire ${i}`, agent_id, ...fields }))
  }
  let added = 0
  const callable = `status = 'waiting' and phone not like '+1${CLOSED_AREA}%' and phone not like '${REFUSED_PREFIX}%'`
  const count = async (text: string, ...parameters: string[]) =>
    (await store.pool.query<{ n: number }>(`select count(*)::int as n from ${text}`, parameters)).rows[0]?.n ?? 0
  const topUp = async () => {
    for (const campaign of campaigns) {
      const fresh = `prospects where campaign_id = $1 and ${callable} and attempt_seq = 0`
      if ((await count(fresh, campaign.id)) >= LEAST_FRESH) continue
      const from = added
      added += LEAST_FRESH
      await fillCampaign(world, tenant, campaign, LEAST_FRESH, from)
      await fillRefused(world, tenant, campaign, from)
    }
  }
  await topUp()
  const killed: Record<Victim, number> = { jobs: 0, api: 0, voice: 0, postgres: 0, redis: 0 }
  const sum = () => Object.values(killed).reduce((all, one) => all + one, 0)
  const told = () =>
    `${killed.jobs} of dispatchers, ${killed.api} of api nodes, ${killed.voice} of voice workers, ` +
    `${killed.postgres} of Postgres, ${killed.redis} of Redis`
  const env = { TEST_SIP: '1', TEST_CALLING_RULES: rulesFile }
  const size = { jobs: number('dispatchers'), api: 2, voice: 2 }
  const fleet = await Fleet.start({ databaseUrl, redisUrl, folder, env, size })
  const kill = (victim: Victim): boolean => {
    if (victim !== 'postgres' && victim !== 'redis') return fleet.kill(victim, random)
    const pid = pids[victim]
    if (pid === undefined) return false
    process.kill(pid, victim === 'postgres' && random() < 0.5 ? 'SIGINT' : 'SIGKILL')
    return true
  }
  const draw = (): Victim => {
    let drawn = random()
    for (const [victim, share] of SHARES) {
      if (drawn < share) return victim
      drawn -= share
    }
    return 'jobs'
  }
  const startMs = performance.now()
  const elapsedS = () => Math.round((performance.now() - startMs) / 1_000)
  /** Rounds that waited for somebody to be dialled, in vain. */
  let stalls = 0
  try {
    let toldAt = 0
    while (sum() < times && elapsedS() < minutes * 60) {
      if (random() < AFTER_A_DIAL) {
        const before = network.dialled.length
        const untilMs = performance.now() + DIALLED_TIMEOUT_MS
        while (network.dialled.length === before && performance.now() < untilMs) await sleep(POLL_MS)
        if (network.dialled.length === before) stalls++
        await sleep(random() * AFTER_A_DIAL_MS)
      } else await sleep(random() * PAUSE_MS)
      for (let left = Math.ceil(random() ** 2 * MOST_AT_ONCE); left > 0 && sum() < times; left--) {
        const victim = draw()
        if (kill(victim)) killed[victim]++
      }
      await retried(topUp)
      if (sum() - toldAt >= 25) {
        toldAt = sum()
        say(`${elapsedS()} s: ${sum()} kills, ${added} prospects, ${stalls} times nobody was dialled for a while`)
      }
    }
    const killingS = elapsedS()
    const finishMs = performance.now() + FINISH_TIMEOUT_MS
    const unresolved = `prospects where (${callable}) or status = 'calling'`
    const until = async (what: string) => {
      while ((await retried(() => count(what))) > 0 && performance.now() < finishMs) await sleep(500)
    }
    await until(unresolved)
    const left = await retried(() => count(unresolved))
    // Those whose hours are closed are all that is left: without them the campaigns are complete.
    await retried(() =>
      store.pool.query(`update prospects set status = 'resolved', resolution = 'canceled' where status = 'waiting'`),
    )
    const incomplete = 'campaign_runs where completed_at is null'
    await until(incomplete)
    const { dialled } = network
    const broken = await retried(() =>
      judgeCampaign(world, { dialled, mostCalls: MOST_CALLS, gapMs: GAP_MINUTES * 60_000 }),
    )
    if (left > 0) broken.push(`${left} prospects were left`)
    const open = await retried(() => count(incomplete))
    if (open > 0) broken.push(`${open} campaigns were not told as complete`)
    broken.push(...fleet.faults)
    const outcomes = await retried(() =>
      store.pool.query<{ outcome: string; n: number }>(
        'select outcome, count(*)::int as n from prospect_attempts group by 1 order by 2 desc',
      ),
    )
    say(
      `\nSeed ${seed}: ${sum()} kills in ${killingS} s (${told()}); ${dialled.length} calls to ${added} prospects, ` +
        `all over after ${elapsedS()} s`,
    )
    say(
      `Attempts: ${outcomes.rows.map(({ outcome, n }) => `${n} ${outcome}`).join(', ')}; ` +
        `${network.dialled.filter((line) => line.startsWith(REDIRECTED_PREFIX)).length} forwarded calls, ` +
        `${network.unheard} messages to the dead trunk`,
    )
    for (const one of broken.slice(0, 40)) say(`  broken: ${one}`)
    say(broken.length === 0 ? 'Every promise held.' : `${broken.length} promises were broken.`)
    return broken.length === 0
  } finally {
    fleet.stop()
    network.stop()
    await world.stop()
  }
}

const folder = await mkdtemp(join(tmpdir(), 'patchbay-kill-'))
try {
  process.exitCode = (await main(folder)) ? 0 : 1
} catch (error) {
  process.stderr.write(`kill-campaign: ${error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}
process.exit()
