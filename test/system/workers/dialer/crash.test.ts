import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { callStatesOf, progressOf } from '../../../../store/campaigns/campaign-status.ts'
import { testFolder, testRedis } from '../../../support/instance/services.ts'
import { anyHour } from '../../../support/world/any-hour.ts'
import { campaignWorld, NUMBER } from '../../../support/world/campaign-world.ts'

/** `CAMPAIGN_KILLS` widens the run. */
const KILLS = Number(process.env.CAMPAIGN_KILLS ?? 5)
const DISPATCHERS = 2
const PROSPECTS = 12 * KILLS
const FINISH_TIMEOUT_MS = 400_000

t.test(
  'a campaign whose processes are killed again and again calls nobody twice, ends every attempt and completes',
  { timeout: 840_000 + KILLS * 5_000 },
  async (t) => {
    const world = await campaignWorld(t)
    const [redisUrl, folder, rules] = await Promise.all([testRedis(t), testFolder(t), anyHour(t)])
    const ledger = join(folder, 'ledger')
    await world.tenant.db
      .updateTable('phone_numbers')
      .set({ provider: 'ledger' })
      .where('phone_number', '=', NUMBER)
      .execute()
    const campaign = await world.campaign({
      max_number_calls: 1,
      dialer_interval: 2,
      earliest_prospect_time: '00:00:00',
      latest_prospect_time: '23:59:59',
      wrap_up_time: 0,
      stop_when: null,
    })
    for (let i = 0; i < PROSPECTS; i++) await world.prospect(campaign, `+1212555${2000 + i}`)

    const start = async () => {
      const program = new URL('../../../support/phone/phone-process.ts', import.meta.url)
      const env = { ...process.env, TEST_LEDGER: ledger, TEST_CALLING_RULES: rules }
      const child = fork(program, [world.databaseUrl, redisUrl, folder], { env })
      t.teardown(() => child.kill('SIGKILL'))
      const died = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The process ended early: ${code}`)))
      died.catch(() => {})
      await Promise.race([once(child, 'message'), died])
      return child
    }
    const running: ChildProcess[] = await Promise.all(Array.from({ length: DISPATCHERS }, start))
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(700 + ((kill * 530) % 1_900))
      const victim = running.shift()!
      victim.kill('SIGKILL')
      await once(victim, 'exit')
      running.push(await start())
    }
    const untilMs = performance.now() + FINISH_TIMEOUT_MS
    const unresolved = async () => (await progressOf(world.tenant, [campaign.id])).get(campaign.id)?.unresolved
    while ((await unresolved()) !== 0 && performance.now() < untilMs) await sleep(200)

    t.equal(await unresolved(), 0, 'the campaign completes')
    const dialled = readFileSync(ledger, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0])
    t.equal(new Set(dialled).size, dialled.length, 'nobody was called twice')
    const { rows: attempts } = await world.store.pool.query(
      `select outcome, charged, ended_at is not null as ended, count(*)::int as n from prospect_attempts group by 1, 2, 3`,
    )
    t.comment(JSON.stringify(attempts))
    t.ok(
      attempts.every(({ ended }) => ended),
      'every attempt ended',
    )
    const { rows: over } = await world.store.pool.query('select 1 from prospects where attempts > 1')
    t.same(over, [], 'no attempt limit was exceeded')
    const { rows: counts } = await world.store.pool.query(`
      select bucket, sum(n)::int as n from prospect_counts group by 1 having sum(n) <> 0
      except select prospect_bucket(status, resolution, next_attempt_at, consent_at), count(*)::int from prospects group by 1`)
    t.same(counts, [], 'kept counts are those of the rows')
    const { placing, ringing, talking, waiting, seats } = await callStatesOf(world.tenant, campaign.id)
    t.same([placing, ringing, talking, waiting, seats], [0, 0, 0, 0, 0], 'no call is counted as under way')
  },
)
