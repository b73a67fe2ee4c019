import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { CLOSED_AREA, fillCampaign, makeCampaign, makeWorkspace, startWorld } from '../../../bench/dialer/world.ts'
import { LEASE_MS } from '../../../runtime/call/control/leases.ts'
import { LiveCalls } from '../../../scripts/chaos/live-calls.ts'
import { makeAgent } from '../../../scripts/demo/call.ts'
import { Fleet } from '../../../scripts/kill-campaign/fleet.ts'
import { judgeCampaign } from '../../../scripts/kill-campaign/judge.ts'
import { testFolder } from '../../support/instance/services.ts'
import { seeded } from '../../support/phone/numbers.ts'
import { waitUntil } from '../../support/world/wait-until.ts'
import { type FailureRow, missingInDocs } from './failures.ts'

const LIMIT_MS = 600_000
const FAULT_MS = 4_000
const ASK_EVERY_MS = 250
const WRONG_MS = 90_000
const CALLS = 4
const PROSPECTS = 30
const GAP_MS = 60_000
const NODES = { api: 'clock of an api node', voice: 'clock of a voice worker', jobs: 'clock of a job worker' } as const

t.test(
  'a node whose clock is 90 s off costs no call, and nobody is called earlier or later for it',
  { timeout: LIMIT_MS },
  async (t) => {
    const folder = await testFolder(t)
    const world = await startWorld(folder)
    t.teardown(() => world.stop())
    const ledger = join(folder, 'ledger')
    const { tenant, agentId: dialler } = await makeWorkspace(world, '+12125550100', 'ledger')
    const fleet = await Fleet.start({
      ...{ databaseUrl: world.databaseUrl, redisUrl: world.redisUrl, folder },
      ...{ size: { api: 2, voice: 2, jobs: 2 }, capacity: CALLS + 20 },
      env: {
        TEST_LEDGER: ledger,
        // So many are busy that each job worker has some to call again a minute later.
        TEST_LEDGER_MIX: '1',
        TEST_CALLING_RULES: world.rulesFile,
        TEST_REAPER_GRACE_MS: String(LEASE_MS),
      },
    })
    t.teardown(() => fleet.stop())
    const [firstUrl = ''] = fleet.urls
    const { rest, agentId } = await makeAgent(firstUrl)
    await world.store.global.deleteFrom('workspace_quotas').execute()
    const clients = fleet.urls.map((url) => rest.at(url))
    const lastsMs = { least: 3_000, most: 20_000 }
    const live = new LiveCalls({ clients, agentId, calls: CALLS, random: seeded(1), lastsMs })
    const keeping = live.keep()
    await waitUntil(() => live.open === CALLS)
    const campaign = await makeCampaign(tenant, {
      ...{ name: 'With wrong clocks', agent_id: dialler, wrap_up_time: 0, call_ratio: 1, max_number_calls: 2 },
      ...{ max_active_calls: 4, min_time_between_calls: GAP_MS / 60_000 },
      retry: { fault: { after_minutes: 0 }, busy: { after_minutes: GAP_MS / 60_000 } },
    })
    await fillCampaign(world, tenant, campaign, PROSPECTS)

    const rows: FailureRow[] = []
    for (const role of ['api', 'voice', 'jobs'] as const) {
      for (const [fault, aheadMs] of [['90 s ahead', WRONG_MS] as const, ['90 s behind', -WRONG_MS] as const]) {
        const brokenBefore = live.broken.length
        const answers = new Set<string>()
        const reasons = new Set<string>()
        const ask = async (): Promise<void> => {
          for (const [node, url] of fleet.urls.entries()) {
            answers.add((await live.canBegin(node)) ? '200' : 'no call')
            const { reasons: said = [] } = (await (await fetch(`${url}/ready`)).json()) as { reasons?: string[] }
            for (const reason of said) reasons.add(reason)
          }
          await sleep(ASK_EVERY_MS)
        }
        await fleet.setClock(role, aheadMs)
        for (const endMs = performance.now() + FAULT_MS; performance.now() < endMs; ) await ask()
        await fleet.setClock(role, 0)
        const endedMs = performance.now()
        t.ok(await live.canBegin(0), `${NODES[role]}, ${fault}: calls begin after its end`)
        const broken = live.broken.slice(brokenBefore)
        t.same(broken, [], `${NODES[role]}, ${fault}: the calls go on`)
        t.same([[...answers], [...reasons]], [['200'], []], `${NODES[role]}, ${fault}: clients notice nothing`)
        rows.push({
          ...{ dependency: NODES[role], fault, caller: broken.length === 0 ? 'nothing' : broken.join(), log: [] },
          ...{ clients: [...answers], ready: [...reasons], recoveryMs: performance.now() - endedMs },
        })
      }
    }
    await live.stop()
    await keeping
    t.same(live.broken, [], 'every call went on to its end')
    const { rows: wrong } = await world.store.pool.query(
      `select id, created_at, answered_at, ended_at from calls where ended_at < answered_at
       or answered_at < created_at - interval '1 second' or greatest(created_at, answered_at, ended_at) > now() + interval '1 second'`,
    )
    t.same(wrong, [], 'the times of all calls are those of the database')
    const isOver = async (): Promise<boolean> => {
      const { rows: left } = await world.store.pool.query<{ n: number }>(
        `select count(*)::int as n from prospects where phone not like '+1${CLOSED_AREA}%' and status <> 'resolved'`,
      )
      return left[0]?.n === 0
    }
    await waitUntil(isOver, undefined, { timeoutMs: LIMIT_MS })
    const dialled = existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []
    t.same(await judgeCampaign(world, { dialled, mostCalls: 2, gapMs: GAP_MS }), [], 'the campaign kept its promises')
    t.same(
      await missingInDocs('clocks', rows),
      [],
      'docs/failures.md has a row for each: UPDATE_FAILURES=1 writes them',
    )
  },
)
