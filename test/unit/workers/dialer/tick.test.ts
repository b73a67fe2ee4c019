import { pino } from 'pino'
import t from 'tap'
import { readProspectNumber } from '../../../../runtime/dialing/prospect-number.ts'
import { loadCallingRules } from '../../../../runtime/dialing/rules.ts'
import { shippedPlaces } from '../../../../runtime/dialing/zones.ts'
import { wallClock } from '../../../../runtime/lib/zoned-time.ts'
import { addDoNotCall } from '../../../../store/campaigns/do-not-call.ts'
import { windowGroupOf } from '../../../../store/campaigns/window-groups.ts'
import type { Campaign } from '../../../../store/database/schema.ts'
import { attemptsOf, expireProspects, prospectById } from '../../../../store/prospects/prospects.ts'
import { settleCampaign } from '../../../../workers/dialer/settle.ts'
import { type TickServices, tickCampaign } from '../../../../workers/dialer/tick.ts'
import { type CampaignWorld, campaignWorld, NUMBER } from '../../../support/world/campaign-world.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const NOON_MS = Date.parse('2026-03-02T17:00:00Z')
const BUSY = { status: 'busy', end_reason: 'busy', disposition: 'busy' }
const FAULT = { status: 'failed', end_reason: 'carrier_error', disposition: 'failed' }
const rules = await loadCallingRules()
const places = shippedPlaces()

/** Turns of campaigns on a clock of the test's, with as many seats as it says; `asked`: whether they asked for them or left. */
function ticksOf(world: CampaignWorld, seats = 100, asked: ('claim' | 'leave')[] = []) {
  let nowMs = NOON_MS
  const services: TickServices = {
    store: world.store,
    room: {
      async claim(_demand, take) {
        asked.push('claim')
        return seats === 0 ? 0 : take(seats, Number.POSITIVE_INFINITY)
      },
      async leave() {
        asked.push('leave')
      },
    },
    calling: { rules, places },
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    log: pino({ level: 'silent' }),
    place: async () => {},
  }
  /** Returns the numbers that are called, and from which. */
  return async (campaign: { id: string }, atMs: number) => {
    nowMs = atMs
    await tickCampaign(services, world.tenant, campaign.id)
    const { rows } = await world.store.pool.query<{ id: string; phone: string; from: string }>(
      `select c.id, c.to_number as phone, c.from_number as from from calls c join prospect_attempts a on a.call_id = c.id
       where a.campaign_id = $1 and c.status = 'queued' order by c.to_number`,
      [campaign.id],
    )
    return rows
  }
}

async function endAll(
  world: CampaignWorld,
  campaign: Campaign,
  calls: readonly { id: string }[],
  end: object,
  atMs: number,
) {
  for (const { id } of calls) await world.end(id, { ...end }, new Date(atMs))
  await settleCampaign(world.tenant, campaign, new Date(atMs))
}

t.test(
  'nobody is called outside the hours of their zone, first or later, midnights and the nights clocks change',
  async (t) => {
    const world = await campaignWorld(t)
    const tick = ticksOf(world)
    const campaign = await world.campaign({
      ...{ earliest_prospect_time: '00:00:00', latest_prospect_time: '23:59:59', max_number_calls: 1000 },
      ...{ min_time_between_calls: 0, retry: { busy: { after_minutes: 0 } }, stop_when: null, call_ratio: 1 },
    })
    // New York, California, Hawaii, Arizona (which keeps no summer time), Berlin.
    const zones: Readonly<Record<string, string>> = {
      '+12125550142': 'America/New_York',
      '+14155550142': 'America/Los_Angeles',
      '+18085550142': 'Pacific/Honolulu',
      '+16025550142': 'America/Phoenix',
      '+493012345678': 'Europe/Berlin',
    }
    for (const number of Object.keys(zones)) {
      const group = await windowGroupOf(world.store, places.whereaboutsOf({ number }))
      await world.prospect(campaign, number, { window_group: group.id })
    }
    const called = new Map<string, number>()
    // Both nights of America's year, the one of Europe, and days before and after.
    for (const day of ['2026-03-07', '2026-03-28', '2026-10-31']) {
      for (let hour = 0; hour < 54; hour += 0.5) {
        const ms = Date.parse(`${day}T05:15:00Z`) + hour * HOUR_MS
        const calls = await tick(campaign, ms)
        const now = new Set(calls.map(({ phone }) => phone))
        for (const [phone, zone] of Object.entries(zones)) {
          const local = wallClock(ms, zone).secondOfDay / 3_600
          const open = local >= 8 && local < 21
          if (now.has(phone) !== open) t.fail(`${phone} at ${new Date(ms).toISOString()}: ${local} h, called ${!open}`)
          if (now.has(phone)) called.set(phone, (called.get(phone) ?? 0) + 1)
        }
        await endAll(world, campaign, calls, BUSY, ms + MINUTE_MS)
      }
    }
    for (const [phone, n] of called) t.ok(n > 50, `${phone}: first and ${n - 1} later attempts`)
    t.equal(called.size, 5)
  },
)

t.test(
  'a fault of the carrier is dialled again after 2, 8 and 30 minutes, and then settles the prospect',
  async (t) => {
    const world = await campaignWorld(t)
    const tick = ticksOf(world)
    const campaign = await world.campaign({ max_number_calls: 1, min_time_between_calls: 30, stop_when: null })
    const id = await world.prospect(campaign, '+12125550142')
    const dialled: number[] = []
    for (let minute = 0; minute < 180; minute++) {
      const ms = NOON_MS + minute * MINUTE_MS
      const calls = await tick(campaign, ms)
      if (calls.length > 0) dialled.push(minute)
      const end = { ...FAULT, placed_at: new Date(ms), error: '503 Service Unavailable' }
      await endAll(world, campaign, calls, end, ms)
    }
    t.same(dialled, [0, 2, 10, 40])
    t.match(await prospectById(world.tenant, id), {
      ...{ status: 'resolved', resolution: 'failed', resolution_reason: '503 Service Unavailable', attempts: 0 },
    })
  },
)

t.test('a prospect expires by what the campaign says when it would be dialled', async (t) => {
  const world = await campaignWorld(t)
  const tick = ticksOf(world)
  const campaign = await world.campaign({ expire_days: 90 })
  const came = async (phone: string, daysAgo: number, expiredDaysAgo: number | null = null) => {
    const id = await world.prospect(campaign, phone)
    const ago = (days: number | null) => (days === null ? null : new Date(NOON_MS - days * 24 * HOUR_MS))
    const values = [id, ago(daysAgo), ago(expiredDaysAgo)]
    await world.store.pool.query('update prospects set created_at = $2, expires_at = $3 where id = $1', values)
    return id
  }
  await came('+12125550142', 40)
  const id = await came('+12125550143', 50)
  const expireDays = (days: number) => world.store.pool.query('update campaigns set expire_days = $1', [days])
  await expireDays(45)
  t.same((await tick(campaign, NOON_MS)).length, 1)
  t.match(await prospectById(world.tenant, id), { status: 'resolved', resolution: 'expired' })
  const other = await came('+12125550144', 50, 5)
  await expireDays(60)
  await expireProspects(world.store, new Date(NOON_MS))
  t.match(await prospectById(world.tenant, other), {
    ...{ status: 'waiting', resolution: null, expires_at: new Date(NOON_MS + 10 * 24 * HOUR_MS) },
  })
  await expireDays(49)
  await expireProspects(world.store, new Date(NOON_MS + 11 * 24 * HOUR_MS))
  t.match(await prospectById(world.tenant, other), { status: 'resolved', resolution: 'expired' })
})

t.test('call_ratio 2 on four free seats calls six at the first tick, and the status names the bound', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign({ call_ratio: 2, max_active_calls: 0 })
  for (let i = 0; i < 10; i++) await world.prospect(campaign, `+1212555${2000 + i}`)
  t.same((await ticksOf(world, 4)(campaign, NOON_MS)).length, 6)
  const bound = async () => {
    const { rows } = await world.store.pool.query('select last_tick from campaign_runs where campaign_id = $1', [
      campaign.id,
    ])
    return rows[0].last_tick
  }
  t.match(await bound(), {
    placed: 6,
    effective_ratio: 1.5,
    why: /30\.0 % of those called pick up: 6 calls on 4 seats/,
  })
  await ticksOf(world, 0)(campaign, NOON_MS + 10_000)
  t.match(await bound(), { placed: 0, effective_ratio: 1.5, why: /6 calls on 4 seats/ }, 'the same where all ring')
})

t.test(
  'one number in three spellings is one number: to the gap, to other campaigns, to the do-not-call list',
  async (t) => {
    const world = await campaignWorld(t)
    const tick = ticksOf(world)
    const spellings = ['(212) 555-0142', '+1 212.555.0142', '12125550142']
    const campaigns: Campaign[] = []
    for (const [i, text] of spellings.entries()) {
      const campaign = await world.campaign({ name: `Spelling ${i}` })
      campaigns.push(campaign)
      await world.prospect(campaign as never, readProspectNumber(text, 'US') ?? '')
    }
    const now = async (ms: number) => (await Promise.all(campaigns.map((one) => tick(one, ms)))).flat()
    const [call, ...others] = await now(NOON_MS)
    t.ok(call)
    t.same(others, [], 'one of the three calls')
    for (const campaign of campaigns) await endAll(world, campaign, call ? [call] : [], BUSY, NOON_MS + MINUTE_MS)
    t.same(await now(NOON_MS + 20 * MINUTE_MS), [], 'the gap holds for all')
    const listed = readProspectNumber('1-212-555-0142', 'US') ?? ''
    await addDoNotCall(world.tenant, [{ phone: listed, reason: '', source: 'api' }], new Date(NOON_MS))
    t.same(await now(NOON_MS + 5 * HOUR_MS), [], 'and so does the list')
  },
)

t.test('who has no consent, whose list is switched off and who has expired is not called', async (t) => {
  const world = await campaignWorld(t)
  const tick = ticksOf(world)
  const asked = await world.campaign({ consent_required: true })
  await world.prospect(asked, '+12125550142')
  await world.prospect(asked, '+12125550143', { consent_at: new Date(0) })
  t.match(await tick(asked, NOON_MS), [{ phone: '+12125550143' }])
  t.equal((await world.claim(asked, new Date(NOON_MS))).length, 0, 'nor by a claim alone')

  const off = await world.campaign({ name: 'Off' })
  await world.prospect(off, '+12125550144')
  await world.store.pool.query('update prospect_lists set active = false where campaign_id = $1', [off.id])
  t.same(await tick(off, NOON_MS), [])
  t.equal((await world.claim(off, new Date(NOON_MS))).length, 0)

  const old = await world.campaign({ name: 'Old' })
  const id = await world.prospect(old, '+12125550145')
  await world.store.pool.query('update campaigns set expire_days = 90 where id = $1', [old.id])
  t.same(await tick(old, NOON_MS), [])
  t.match(await prospectById(world.tenant, id), { status: 'resolved', resolution: 'expired' })
})

t.test('a campaign pauses itself where its budget is used up, and says so', async (t) => {
  const world = await campaignWorld(t)
  const tick = ticksOf(world)
  const campaign = await world.campaign({ budget: 2 })
  await world.prospect(campaign, '+12125550142')
  const spend = (cost: number) =>
    world.store.pool.query(
      `insert into campaign_days (campaign_id, workspace_id, day, cost) values ($1, $2, '2026-03-01', $3)
       on conflict (campaign_id, day) do update set cost = excluded.cost`,
      [campaign.id, world.tenant.workspaceId, cost],
    )
  await spend(2)
  t.same(await tick(campaign, NOON_MS), [])
  const { rows } = await world.store.pool.query('select paused, pause_reason from campaigns')
  t.same(rows, [{ paused: true, pause_reason: 'budget_reached' }])
  await spend(1.99)
  await world.store.pool.query('update campaigns set paused = false, pause_reason = null')
  t.equal((await tick(campaign, NOON_MS + MINUTE_MS)).length, 1, 'a cent below it goes on')
})

t.test(
  'the circuit breaker looks at the last attempts alone, and not at those before it was closed again',
  async (t) => {
    const world = await campaignWorld(t)
    const tick = ticksOf(world, 1)
    const campaign = await world.campaign({
      stop_when: { failure_rate: 0.5, window: 4 },
      ...{ min_time_between_calls: 0, retry: { busy: { after_minutes: 0 }, fault: { after_minutes: 0 } } },
    })
    for (let i = 0; i < 20; i++) await world.prospect(campaign, `+1212555${2000 + i}`)
    let ms = NOON_MS
    const paused = async () => (await world.store.pool.query('select pause_reason from campaigns')).rows[0].pause_reason
    const play = async (...ends: object[]) => {
      for (const end of ends) {
        const calls = await tick(campaign, ms)
        t.equal(calls.length, 1, 'it goes on')
        await endAll(world, campaign, calls, end, ms + 1_000)
        ms += 10_000
      }
      return tick(campaign, ms)
    }
    const skipped = { status: 'canceled', end_reason: 'skipped', disposition: 'webhook', placed_at: null }
    const [next] = await play(BUSY, BUSY, FAULT, BUSY, skipped)
    t.ok(next, 'one fault of four')
    await endAll(world, campaign, [next!], FAULT, ms + 1_000)
    ms += 10_000
    t.same(await tick(campaign, ms), [], 'two of the last four')
    t.equal(await paused(), 'too_many_failures')
    await world.store.pool.query('update campaigns set paused = false, pause_reason = null')
    await world.store.pool.query('update campaign_runs set resumed_at = $1', [new Date(ms)])
    ms += 10_000
    t.equal((await play(FAULT, FAULT, FAULT)).length, 1, 'three faults are no window of four')
    t.equal(await paused(), null)
  },
)

const BLOCKED = { status: 'failed', end_reason: 'blocked', disposition: 'blocked', error: '603 Network Blocked' }

t.test(
  'blocks: another number calls, the blocked one rests for an hour, and nobody gets onto the do-not-call list',
  async (t) => {
    const world = await campaignWorld(t)
    const tick = ticksOf(world, 1)
    const other = '+12125550101'
    const campaign = await world.campaign({ from_numbers: [NUMBER, other], min_time_between_calls: 0, stop_when: null })
    const row = { phone_number: other, agent_id: world.agentId, provider: 'sim', trunk: null }
    await world.tenant.db.insertInto('phone_numbers').values(row).execute()
    const events = async () =>
      (await world.store.pool.query("select data from workspace_events where type = 'number.blocked'")).rows
    await world.prospect(campaign, '+12125552000')
    const [first] = await tick(campaign, NOON_MS)
    await endAll(world, campaign, [first!], BLOCKED, NOON_MS + 1_000)
    const [second] = await tick(campaign, NOON_MS + 31 * MINUTE_MS)
    t.match(second, { phone: '+12125552000' })
    t.not(second!.from, first!.from, 'from another number')
    await endAll(world, campaign, [second!], BUSY, NOON_MS + 32 * MINUTE_MS)

    let ms = NOON_MS + HOUR_MS
    const blocked = new Map([[first!.from, 1]])
    for (let i = 1; i <= 5; i++) {
      await world.prospect(campaign, `+1212555200${i}`)
      const [call] = await tick(campaign, ms)
      t.ok(call, `call ${i}`)
      blocked.set(call!.from, (blocked.get(call!.from) ?? 0) + 1)
      await endAll(world, campaign, [call!], BLOCKED, ms + 1_000)
      ms += 1_000
    }
    t.same([...blocked.values()], [3, 3])
    t.same((await events()).map(({ data }) => data.phone_number).sort(), [NUMBER, other])
    t.match((await events())[0], { data: { blocked: 3, reason: '603 Network Blocked', rests_until: /Z$/ } })
    await world.prospect(campaign, '+12125552009')
    t.same(await tick(campaign, ms), [], 'both rest')
    t.equal((await tick(campaign, ms + HOUR_MS)).length, 1, 'and one call tries')
    t.same((await world.store.pool.query('select phone from do_not_call')).rows, [])
  },
)

t.test('max_active_calls binds what is placed, rings and talks', async (t) => {
  const world = await campaignWorld(t)
  const tick = ticksOf(world)
  const campaign = await world.campaign({ max_active_calls: 3 })
  for (let i = 0; i < 10; i++) await world.prospect(campaign, `+1212555${2000 + i}`)
  const first = await tick(campaign, NOON_MS)
  t.equal(first.length, 3)
  await world.store.pool.query("update calls set status = 'ringing' where id = $1", [first[0]!.id])
  await world.store.pool.query("update calls set status = 'in_progress' where id = $1", [first[1]!.id])
  t.equal((await tick(campaign, NOON_MS + 10_000)).length, 1, 'none is added')
  await endAll(world, campaign, [first[0]!], BUSY, NOON_MS + 20_000)
  t.equal((await tick(campaign, NOON_MS + 20_000)).length, 2, 'one for the one that ended')
})

t.test('what ends while a turn shares out room is filled in this very turn, with more calls than seats', async (t) => {
  const world = await campaignWorld(t)
  const MOST_ACTIVE = 60
  const campaign = await world.campaign({ max_active_calls: MOST_ACTIVE, call_ratio: 10, stop_when: null })
  for (let i = 0; i < 4 * MOST_ACTIVE; i++) await world.prospect(campaign, `+1212556${1000 + i}`)
  let ending: string[] = []
  const services: TickServices = {
    store: world.store,
    room: {
      async claim(_demand, take) {
        for (const id of ending) await world.end(id, BUSY, new Date(NOON_MS + 61_000))
        return take(100, Number.POSITIVE_INFINITY)
      },
      leave: async () => {},
    },
    calling: { rules, places },
    clock: { nowMs: () => NOON_MS + 61_000, monotonicMs: () => 0 },
    log: pino({ level: 'silent' }),
    place: async () => {},
  }
  const openCalls = async () => {
    const { rows } = await world.store.pool.query<{ id: string }>(
      "select id from calls where status = 'queued' order by id",
    )
    return rows.map(({ id }) => id)
  }
  const before = await ticksOf(world)(campaign, NOON_MS)
  t.equal(before.length, MOST_ACTIVE, 'as many as may be live')
  await endAll(world, campaign, before, BUSY, NOON_MS + 30_000)
  t.equal((await ticksOf(world)(campaign, NOON_MS + 31_000)).length, MOST_ACTIVE, 'sixty attempts say how many pick up')
  const live = await openCalls()
  await world.end(live[0]!, BUSY, new Date(NOON_MS + 60_000))
  ending = live.slice(1, 21)
  await tickCampaign(services, world.tenant, campaign.id)
  t.equal((await openCalls()).length, MOST_ACTIVE, 'twenty more ended meanwhile')
})

t.test('a source number makes no more attempts a day than it may, over all campaigns; faults are none', async (t) => {
  const world = await campaignWorld(t)
  const tick = ticksOf(world)
  const fields = { max_calls_per_number_per_day: 2, min_time_between_calls: 0, stop_when: null }
  const [one, two] = [await world.campaign(fields), await world.campaign(fields)]
  for (let i = 0; i < 4; i++) {
    await world.prospect(one, `+1212555${2000 + i}`)
    await world.prospect(two, `+1212555${3000 + i}`)
  }
  const [first, second, ...more] = await tick(one, NOON_MS)
  t.same([first?.from, second?.from, more.length], [NUMBER, NUMBER, 0])
  t.same(await tick(two, NOON_MS + 1_000), [], 'the other campaign finds it used up')
  await endAll(world, one, [first!], FAULT, NOON_MS + MINUTE_MS)
  await endAll(world, one, [second!], BUSY, NOON_MS + MINUTE_MS)
  t.equal((await tick(two, NOON_MS + 2 * MINUTE_MS)).length, 1, 'what the carrier failed at does not count')
  t.same(await tick(one, NOON_MS + 3 * MINUTE_MS), [])
  const nextDay = NOON_MS + 24 * HOUR_MS
  t.equal((await tick(one, nextDay + MINUTE_MS)).length, 1, '24 hours after the first it may again')
})

t.test('a later attempt comes from the number the prospect saw before', async (t) => {
  const world = await campaignWorld(t)
  const tick = ticksOf(world)
  const others = ['+12125550101', '+12125550102', '+12125550103']
  for (const phone_number of others) {
    const row = { phone_number, agent_id: world.agentId, provider: 'sim', trunk: null }
    await world.tenant.db.insertInto('phone_numbers').values(row).execute()
  }
  const campaign = await world.campaign({ min_time_between_calls: 0, retry: { busy: { after_minutes: 0 } } })
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push(await world.prospect(campaign, `+1212555${2000 + i}`))
  const used = new Set<string>()
  for (let n = 0; n < 3; n++) {
    const calls = await tick(campaign, NOON_MS + n * 10 * MINUTE_MS)
    t.equal(calls.length, n === 0 ? 5 : 4)
    for (const { from } of calls) used.add(from)
    await endAll(world, campaign, calls, BUSY, NOON_MS + n * 10 * MINUTE_MS + 1_000)
    // Without the first of them each of the others would come from another number, by turns alone.
    const never = new Date(NOON_MS + 86_400_000)
    await world.tenant.db.updateTable('prospects').set({ next_attempt_at: never }).where('id', '=', ids[0]!).execute()
  }
  t.equal(used.size, 4, 'prospects take turns over the numbers')
  for (const id of ids.slice(1)) {
    const attempts = await attemptsOf(world.tenant, id)
    t.same([attempts.length, new Set(attempts.map(({ from_number }) => from_number)).size], [3, 1])
  }
})

t.test('a pause stops attempts that were due, too, and what was due is called after it', async (t) => {
  const world = await campaignWorld(t)
  const asked: ('claim' | 'leave')[] = []
  const tick = ticksOf(world, 100, asked)
  const campaign = await world.campaign({ min_time_between_calls: 0, retry: { busy: { after_minutes: 5 } } })
  await world.prospect(campaign, '+12125550142')
  await endAll(world, campaign, await tick(campaign, NOON_MS), BUSY, NOON_MS + MINUTE_MS)
  await world.store.pool.query('update campaigns set paused = true')
  asked.length = 0
  t.same(await tick(campaign, NOON_MS + HOUR_MS), [])
  t.same(asked, ['leave'], 'what rests holds no seats that others could have')
  t.same(await world.claim({ ...campaign, paused: false }, new Date(NOON_MS + HOUR_MS)), [], 'whoever claims')
  await world.store.pool.query('update campaigns set paused = false')
  t.equal((await tick(campaign, NOON_MS + 2 * HOUR_MS)).length, 1)
})
