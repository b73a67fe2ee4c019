import { pino } from 'pino'
import t from 'tap'
import { loadCallingRules } from '../../../../runtime/dialing/rules.ts'
import { shippedPlaces } from '../../../../runtime/dialing/zones.ts'
import { campaignById } from '../../../../store/campaigns/campaigns.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { settleCampaign } from '../../../../workers/dialer/settle.ts'
import { campaignStatus } from '../../../../workers/dialer/status.ts'
import { testRedis } from '../../../support/instance/services.ts'
import { campaignWorld } from '../../../support/world/campaign-world.ts'

const MINUTE_MS = 60_000
const NOON_MS = Date.parse('2026-03-02T17:00:00Z')
const at = (minutes: number) => new Date(NOON_MS + minutes * MINUTE_MS)

t.test('a status tells who may be called now, who waits for a retry, and until when', async (t) => {
  const world = await campaignWorld(t)
  const redis = await createRedis(await testRedis(t), pino({ level: 'silent' }))
  t.teardown(() => redis.destroy())
  const calling = { rules: await loadCallingRules(), places: shippedPlaces() }
  const campaign = await world.campaign()
  const ids: string[] = []
  for (let i = 0; i < 6; i++) ids.push(await world.prospect(campaign, `+1212555${2000 + i}`))
  const due = (n: number, minutes: number | null) =>
    world.store.pool.query('update prospects set next_attempt_at = $2 where id = $1', [
      ids[n],
      minutes === null ? null : at(minutes),
    ])
  const status = async (minutes: number) => {
    const current = (await campaignById(world.tenant, campaign.id))!
    return campaignStatus({ store: world.store, redis, calling }, world.tenant, current, at(minutes))
  }
  t.match((await status(0)).prospects, {
    ...{ total: 6, callable_now: 6, held: {} },
    by_zone: [{ zones: ['America/New_York'], waiting: 6, callable_now: 6, opens_at: null }],
  })
  await due(0, 10)
  await due(1, 20)
  t.match(await status(0), { prospects: { callable_now: 4, held: { retry_wait: 2 } } }, 'two later, four new')
  t.match(await status(15), { prospects: { callable_now: 5, held: { retry_wait: 1 } } }, 'one of them is due')
  t.match(await status(25), { prospects: { callable_now: 6, held: {} } }, 'all are due')
  for (let n = 0; n < 6; n++) await due(n, 30 + n)
  t.match(await status(0), {
    status: 'Stopped',
    reason: 'waiting_for_retry',
    next_call_at: at(30).toISOString(),
    prospects: { callable_now: 0, held: { retry_wait: 6 } },
  })
  t.match(await status(32), { prospects: { callable_now: 3, held: { retry_wait: 3 } } })
  const night = await status(11 * 60)
  t.match(night, { reason: 'outside_calling_hours', prospects: { held: { window: 6 } } }, 'at night')
  t.match(night.prospects.by_zone, [{ waiting: 6, callable_now: 0, opens_at: night.next_call_at }])

  await world.store.pool.query('update campaigns set max_calls_per_number_per_day = 1')
  t.match(await status(60), { prospects: { callable_now: 6, held: {} } })
  await due(5, null)
  const [call] = await world.claim((await campaignById(world.tenant, campaign.id))!, at(60), { most: 1 })
  t.match(await status(61), { active_calls: 1, prospects: { callable_now: 0, held: { number_cap: 5 } } })
  t.match(await status(61), { status: 'Running', calls: { placing: 1 } })
  await world.end(call!.id, {}, at(62))
  t.match(await status(62), { status: 'Stopped', active_calls: 0, calls: { placing: 0 } }, 'before a tick settles it')
  t.match(await status(25 * 60 + 1), { prospects: { callable_now: 5 } }, 'a day later it may call again')

  await settleCampaign(world.tenant, campaign, at(26 * 60))
  t.match(await status(27 * 60), { today: { attempts: 1, abandoned: 0 } })
  t.match(await status(50 * 60), { today: { attempts: 0 } }, 'of the day on which it was settled')
})

t.test(
  'a campaign says what it waits for before it is started, and names no time where nobody could call',
  async (t) => {
    const world = await campaignWorld(t)
    const redis = await createRedis(await testRedis(t), pino({ level: 'silent' }))
    t.teardown(() => redis.destroy())
    const calling = { rules: await loadCallingRules(), places: shippedPlaces() }
    const campaign = await world.campaign({ paused: true })
    const status = async (minutes: number) => {
      const current = (await campaignById(world.tenant, campaign.id))!
      return campaignStatus({ store: world.store, redis, calling }, world.tenant, current, at(minutes))
    }
    t.match(await status(0), { status: 'Completed', reason: 'no_prospects', reason_after_start: null })
    await world.prospect(campaign, '+12125552000')
    t.match(await status(0), { status: 'Stopped', reason: 'paused', next_call_at: at(0).toISOString() })
    const night = await status(11 * 60)
    t.match(night, { reason: 'paused', reason_after_start: 'outside_calling_hours', next_call_at: /Z$/ })
    await world.store.pool.query('delete from phone_numbers')
    t.match(await status(0), { reason: 'paused', reason_after_start: 'no_number', next_call_at: null })
  },
)

t.test('a number rests where networks block its calls to several callees, not to one', async (t) => {
  const world = await campaignWorld(t)
  const redis = await createRedis(await testRedis(t), pino({ level: 'silent' }))
  t.teardown(() => redis.destroy())
  const calling = { rules: await loadCallingRules(), places: shippedPlaces() }
  const campaign = await world.campaign({
    ...{ min_time_between_calls: 0, retry: { blocked: { after_minutes: 0 } }, stop_when: null },
  })
  const blocked = { status: 'failed', end_reason: 'blocked', disposition: 'blocked' }
  const block = async (minutes: number) => {
    const current = (await campaignById(world.tenant, campaign.id))!
    for (const { id } of await world.claim(current, at(minutes))) await world.end(id, blocked, at(minutes))
    await settleCampaign(world.tenant, current, at(minutes))
    return campaignStatus({ store: world.store, redis, calling }, world.tenant, current, at(minutes))
  }
  await world.prospect(campaign, '+12125552000')
  for (const minutes of [1, 2]) await block(minutes)
  t.match(await block(3), { prospects: { unresolved: 1, held: {} } }, 'one callee, three times')
  for (const i of [1, 2]) await world.prospect(campaign, `+1212555200${i}`)
  t.match(await block(4), { reason: 'numbers_blocked', next_call_at: at(64).toISOString() })
})
