/**
 * `npm run kill-campaign`: kills the processes of a running campaign, its Postgres and its Redis, at random moments, and looks
 * whether a promise was broken.
 *
 *     npm run kill-campaign -- [--times=1000] [--minutes=8] [--dispatchers=4] [--ratio=1] [--seed=1]
 *
 * A carrier writes down whom it was asked to call. Ends with 0 only if nobody was called more often than allowed, sooner than
 * allowed or outside their hours, no call was dialled twice, every attempt ended and the campaign completed. `--minutes` ends
 * the killing earlier; the campaign then has its time to complete.
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { CLOSED_AREA, fillCampaign, makeCampaign, makeWorkspace, startWorld } from '../bench/dialer/world.ts'
import { progressOf } from '../store/campaign-status.ts'
import { seeded } from '../test/support/numbers.ts'
import { Dispatchers } from './kill-campaign/dispatchers.ts'
import { judgeCampaign } from './kill-campaign/judge.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)
const MOST_CALLS = 2
const GAP_MINUTES = 1
/** Prospects that wait are kept above this while processes are killed. */
const LEAST_WAITING = 40
const FINISH_TIMEOUT_MS = 240_000
const PAUSE_MS = 1_500

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '1000' },
    minutes: { type: 'string', default: '60' },
    dispatchers: { type: 'string', default: '4' },
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
  const [times, minutes, count, ratio] = [number('times'), number('minutes'), number('dispatchers'), number('ratio')]
  const random = seeded(number('seed'))
  const world = await startWorld(folder)
  const ledger = join(folder, 'ledger')
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
  const { tenant, agentId } = await makeWorkspace(world, '+12125550100', 'ledger')
  const fields = {
    ...{ agent_id: agentId, wrap_up_time: 0, call_ratio: ratio, max_number_calls: MOST_CALLS },
    ...{
      min_time_between_calls: GAP_MINUTES,
      retry: { fault: { after_minutes: 0 }, busy: { after_minutes: GAP_MINUTES } },
    },
  }
  const campaign = await makeCampaign(tenant, { name: 'Under fire', ...fields })
  let added = 0
  const waiting = async () => (await progressOf(tenant, [campaign.id])).get(campaign.id)?.unresolved ?? 0
  const closed = async () => {
    const { rows } = await store.pool.query<{ n: number }>(
      `select count(*)::int as n from prospects where status = 'waiting' and phone like $1`,
      [`+1${CLOSED_AREA}%`],
    )
    return rows[0]?.n ?? 0
  }
  const topUp = async () => {
    if ((await waiting()) - (await closed()) >= LEAST_WAITING) return
    await fillCampaign(world, tenant, campaign, LEAST_WAITING, added)
    added += LEAST_WAITING
  }
  await topUp()
  const env = { TEST_LEDGER: ledger, TEST_LEDGER_MIX: '1', TEST_CALLING_RULES: rulesFile }
  const dispatchers = new Dispatchers({ databaseUrl, redisUrl, folder, env })
  const killed = { process: 0, postgres: 0, redis: 0 }
  const sum = () => killed.process + killed.postgres + killed.redis
  try {
    await Promise.all(Array.from({ length: count }, () => dispatchers.start()))
    const untilMs = performance.now() + minutes * 60_000
    while (sum() < times && performance.now() < untilMs) {
      await sleep(random() * PAUSE_MS)
      const drawn = random()
      if (drawn < 0.04 && pids.postgres !== undefined) {
        process.kill(pids.postgres, random() < 0.5 ? 'SIGKILL' : 'SIGINT')
        killed.postgres++
      } else if (drawn < 0.08 && pids.redis !== undefined) {
        process.kill(pids.redis, 'SIGKILL')
        killed.redis++
      } else if (dispatchers.killOne(Math.floor(random() * count))) killed.process++
      await retried(topUp)
      if (sum() % 20 === 0)
        say(`${sum()} killed (${killed.postgres} Postgres, ${killed.redis} Redis), ${added} prospects`)
    }
    const finishMs = performance.now() + FINISH_TIMEOUT_MS
    const left = () => retried(async () => (await waiting()) - (await closed()))
    while ((await left()) > 0 && performance.now() < finishMs) await sleep(500)
    const dialled = existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []
    const broken = await retried(() =>
      judgeCampaign(world, { dialled, mostCalls: MOST_CALLS, gapMs: GAP_MINUTES * 60_000, closedArea: CLOSED_AREA }),
    )
    const unfinished = await left()
    if (unfinished > 0) broken.push(`${unfinished} prospects are left`)
    broken.push(...dispatchers.faults)
    say(
      `\n${sum()} kills: ${killed.process} of ${count} processes, ${killed.postgres} of Postgres, ${killed.redis} of Redis; ` +
        `${dialled.length} calls to ${added} prospects`,
    )
    for (const one of broken.slice(0, 40)) say(`  broken: ${one}`)
    say(broken.length === 0 ? 'Every promise held.' : `${broken.length} promises were broken.`)
    return broken.length === 0
  } finally {
    dispatchers.stop()
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
