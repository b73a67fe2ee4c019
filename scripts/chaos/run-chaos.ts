import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CLOSED_AREA, fillCampaign, makeCampaign, makeWorkspace, startWorld } from '../../bench/dialer/world.ts'
import { LEASE_MS } from '../../runtime/call/control/leases.ts'
import { seeded } from '../../test/support/phone/numbers.ts'
import { FaultProxy } from '../../test/support/world/fault-proxy.ts'
import { connectAdmin } from '../../test/support/world/password-role.ts'
import { faultsOfStores, type StoreFault, withPasswords } from '../../test/support/world/store-faults.ts'
import { makeAgent } from '../demo/call.ts'
import { Fleet, type FleetRole } from '../kill-campaign/fleet.ts'
import { judgeCampaign } from '../kill-campaign/judge.ts'
import { LiveCalls } from './live-calls.ts'

const FAULT_MS = { least: 1_000, most: 8_000 }
const PAUSE_MS = { least: 1_000, most: 5_000 }
const CALL_LASTS_MS = { least: 15_000, most: 90_000 }
/** Prospects that nobody called yet are kept above this while there are faults. */
const LEAST_FRESH = 20
const MOST_CALLS = 2
const GAP_MINUTES = 1
const MOST_ACTIVE = 8
const LOOK_EVERY_MS = 200
const CLOCK_WRONG_MS = 90_000
const FLEET_ROLES = ['api', 'voice', 'jobs'] as const
const NODES = { api: 'an api node', voice: 'a voice worker', jobs: 'a job worker' } as const
const FINISH_TIMEOUT_MS = 300_000
const FIRST_CALLS_TIMEOUT_MS = 120_000

interface ChaosOptions {
  /** Of its own, for the data of the installation. */
  folder: string
  seed: number
  /** Web calls at a time, beside those of a campaign. */
  calls: number
  minutes: number
  /** Ends it after so many faults. */
  faults?: number
  /** How many times as long all may take to be well again as alone on a quiet machine. Default: 1. */
  slack?: number
  say(line: string): void
}

/** An installation of its own under faults of Postgres and Redis, drawn by the seed. Resolves with the promises that were broken. */
export async function runChaos({
  folder,
  seed,
  calls,
  minutes,
  faults: most = Number.POSITIVE_INFINITY,
  slack = 1,
  say,
}: ChaosOptions): Promise<string[]> {
  const random = seeded(seed)
  const between = ({ least, most }: { least: number; most: number }): number => least + random() * (most - least)
  const world = await startWorld(folder)
  const { store, redis } = world
  store.pool.on('error', () => {})
  const [database, cache] = [await proxyOf(world.databaseUrl), await proxyOf(world.redisUrl)]
  const admin = await connectAdmin(world.databaseUrl)
  const direct = new URL(world.databaseUrl)
  const databaseName = direct.pathname.slice(1)
  const { databaseUrl, redisUrl, passwords } = await withPasswords({
    ...{ database, admin, owner: direct.username, databaseName, redis: cache, folder },
    setRedisPassword: (password) => redis.sendCommand(['CONFIG', 'SET', 'requirepass', password]),
  })
  const ledger = join(folder, 'ledger')
  const { tenant, agentId: dialler } = await makeWorkspace(world, '+12125550100', 'ledger')
  const campaign = await makeCampaign(tenant, {
    ...{ name: 'Under faults', agent_id: dialler, wrap_up_time: 0, call_ratio: 1, max_number_calls: MOST_CALLS },
    ...{ max_active_calls: MOST_ACTIVE, min_time_between_calls: GAP_MINUTES },
    retry: { fault: { after_minutes: 0 }, busy: { after_minutes: GAP_MINUTES } },
  })
  const count = async (text: string, ...parameters: unknown[]): Promise<number> =>
    (await store.pool.query<{ n: number }>(`select count(*)::int as n from ${text}`, parameters)).rows[0]?.n ?? 0
  const callable = `status = 'waiting' and phone not like '+1${CLOSED_AREA}%'`
  let added = 0
  const topUp = async (): Promise<void> => {
    if ((await count(`prospects where ${callable} and attempt_seq = 0`)) >= LEAST_FRESH) return
    await fillCampaign(world, tenant, campaign, LEAST_FRESH, added)
    added += LEAST_FRESH
  }
  await topUp()
  const size = { api: 2, voice: 2, jobs: 2 }
  const fleet = await Fleet.start({
    ...{ databaseUrl, redisUrl },
    ...{ folder, size, capacity: calls + MOST_ACTIVE + 10 },
    env: {
      TEST_LEDGER: ledger,
      TEST_LEDGER_MIX: '1',
      TEST_CALLING_RULES: world.rulesFile,
      TEST_REAPER_GRACE_MS: String(LEASE_MS),
    },
  })
  const broken: string[] = []
  try {
    const [firstUrl = ''] = fleet.urls
    const { rest, agentId } = await makeAgent(firstUrl)
    await store.global.deleteFrom('workspace_quotas').execute()
    const clients = [rest, ...fleet.urls.slice(1).map((url) => rest.at(url))]
    const live = new LiveCalls({ clients, agentId, calls, random: seeded(seed + 1), lastsMs: CALL_LASTS_MS })
    const keeping = live.keep()
    const firstMs = performance.now() + FIRST_CALLS_TIMEOUT_MS
    while (live.open < calls && performance.now() < firstMs) await sleep(LOOK_EVERY_MS)
    const faults: readonly Fault[] = [
      ...faultsOfStores({
        ...{ database, redis: cache, databaseName, passwords },
        askPostgres: (statement) => admin.query(statement),
        askRedis: (...command) => redis.sendCommand(command),
      }),
      ...FLEET_ROLES.flatMap((role) => faultsOfClock(fleet, role)),
    ]
    const startMs = performance.now()
    const worst = new Map<string, number>()
    let done = 0
    for (; done < most && performance.now() - startMs < minutes * 60_000; done++) {
      const fault = faults[Math.floor(random() * faults.length)]
      if (fault === undefined) break
      const where = `${fault.dependency}, ${fault.name}`
      const lastsMs = between(FAULT_MS)
      await fault.begin()
      await sleep(lastsMs)
      await fault.end()
      const endedMs = performance.now()
      const isWell = async (): Promise<boolean> => {
        const ready = await Promise.all(fleet.urls.map((url) => isReady(url)))
        const begins = await Promise.all(fleet.urls.map((_, node) => live.canBegin(node)))
        return [...ready, ...begins].every(Boolean)
      }
      const withinMs = fault.recoversWithinMs * slack
      while (!(await isWell()) && performance.now() - endedMs < 4 * withinMs) await sleep(LOOK_EVERY_MS)
      const tookMs = Math.round(performance.now() - endedMs)
      worst.set(where, Math.max(worst.get(where) ?? 0, tookMs))
      if (tookMs > withinMs) broken.push(`${where}: well again after ${tookMs} ms`)
      say(
        `${Math.round((performance.now() - startMs) / 1_000)} s: ${where} for ${Math.round(lastsMs)} ms; well after ${tookMs} ms; ${live.open} calls`,
      )
      await topUp()
      await sleep(between(PAUSE_MS))
    }
    await live.stop()
    await keeping
    broken.push(...live.broken)
    const until = async (what: string, ...parameters: unknown[]): Promise<number> => {
      const endMs = performance.now() + FINISH_TIMEOUT_MS
      while ((await count(what, ...parameters)) > 0 && performance.now() < endMs) await sleep(500)
      return count(what, ...parameters)
    }
    const unresolved = await until(`prospects where (${callable}) or status = 'calling'`)
    if (unresolved > 0) broken.push(`${unresolved} prospects were left`)
    // Web calls whose pages gave up before they began wait for their token to end.
    await until(
      `calls where status in ('queued', 'ringing', 'in_progress') and (call_type = 'phone' or id = any($1))`,
      live.begun,
    )
    const { rows: wrong } = await store.pool.query<{ id: string; status: string; end_reason: string }>(
      `select id, status, end_reason from calls where id = any($1) and (status, end_reason) is distinct from ('completed', 'caller_hangup')`,
      [live.begun],
    )
    for (const { id, status, end_reason } of wrong) broken.push(`call ${id} is recorded as ${status}, ${end_reason}`)
    const recorded = await count('calls where id = any($1)', live.begun)
    if (recorded !== live.begun.length) broken.push(`${live.begun.length - recorded} calls are not recorded`)
    const dialled = existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []
    broken.push(
      ...(await judgeCampaign(world, {
        ...{ dialled, mostCalls: MOST_CALLS, gapMs: GAP_MINUTES * 60_000, closedArea: CLOSED_AREA },
      })),
      ...fleet.faults,
    )
    say(
      `\nSeed ${seed}: ${done} faults; ${live.begun.length} web calls, ${live.refused} refused at their beginning; ${dialled.length} calls to ${added} prospects`,
    )
    for (const [where, tookMs] of [...worst].sort(([one], [other]) => one.localeCompare(other))) {
      say(`  well after at most ${tookMs} ms: ${where}`)
    }
    return broken
  } finally {
    fleet.stop()
    await admin.end()
    await world.stop()
    for (const proxy of [database, cache]) proxy.close()
  }
}

type Fault = Omit<StoreFault, 'dependency'> & { readonly dependency: string }

/** What an installation without NTP has: the clock of one of its nodes is wrong. */
function faultsOfClock(fleet: Fleet, role: FleetRole): Fault[] {
  return [
    { name: `of ${NODES[role]} is 90 s ahead`, aheadMs: CLOCK_WRONG_MS },
    { name: `of ${NODES[role]} is 90 s behind`, aheadMs: -CLOCK_WRONG_MS },
  ].map(({ name, aheadMs }) => ({
    ...{ dependency: 'clock', name, recoversWithinMs: 5_000 },
    begin: () => fleet.setClock(role, aheadMs),
    end: () => fleet.setClock(role, 0),
  }))
}

/** A proxy before a server on a socket. */
async function proxyOf(url: string): Promise<FaultProxy> {
  const { protocol, pathname, searchParams } = new URL(url)
  const path =
    protocol === 'unix:' ? decodeURIComponent(pathname) : join(searchParams.get('host') ?? '', '.s.PGSQL.5432')
  const proxy = new FaultProxy({ path })
  await proxy.listen(0)
  return proxy
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.status === 200
}
