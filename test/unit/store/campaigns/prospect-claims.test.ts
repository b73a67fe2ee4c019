import t from 'tap'
import { AGENT_GONE } from '../../../../runtime/plugin-sdk/telephony/outcome.ts'
import { findCallToPlace, markPlaced } from '../../../../store/calls/outbound-calls.ts'
import { endCall } from '../../../../store/calls/write-calls.ts'
import { dueCampaigns } from '../../../../store/campaigns/campaign-runs.ts'
import { campaignById, pauseCampaign, updateCampaign } from '../../../../store/campaigns/campaigns.ts'
import { addDoNotCall } from '../../../../store/campaigns/do-not-call.ts'
import { claimProspects } from '../../../../store/campaigns/prospect-claims.ts'
import { openStore } from '../../../../store/database/database.ts'
import { attemptsOf, prospectById } from '../../../../store/prospects/prospects.ts'
import { settleCampaign } from '../../../../workers/dialer/settle.ts'
import { campaignWorld, NUMBER } from '../../../support/world/campaign-world.ts'

const MINUTE_MS = 60_000
const at = (minutes: number) => new Date(Date.parse('2026-03-02T16:00:00Z') + minutes * MINUTE_MS)

t.test('many dispatchers that claim one prospect make one call', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign()
  const id = await world.prospect(campaign, '+12125550142')
  const claims = await Promise.all(Array.from({ length: 12 }, () => world.claim(campaign, at(0))))
  t.equal(claims.flat().length, 1)
  t.match(await prospectById(world.tenant, id), { status: 'calling', attempt_seq: 1 })
  t.equal((await attemptsOf(world.tenant, id)).length, 1)
})

t.test('a claim waits for no disk, and what its connection writes next does', async (t) => {
  const world = await campaignWorld(t)
  await world.store.pool.query(`
    create table written (by text, synchronous text);
    create function note_writing() returns trigger language plpgsql as $$ begin
      insert into written values (tg_argv[0], current_setting('synchronous_commit'));
      return null;
    end $$;
    create trigger attempts_noted after insert on prospect_attempts for each row execute function note_writing('claim');
    create trigger dials_noted after update of placed_at on calls for each row execute function note_writing('dial');
    do $$ begin execute format('alter database %I set synchronous_commit = local', current_database()); end $$`)
  const campaign = await world.campaign()
  await world.prospect(campaign, '+12125550142')
  const store = openStore({ databaseUrl: world.databaseUrl, maxConnections: 1 })
  t.teardown(() => store.close())
  const tenant = store.tenant(world.tenant.workspaceId)
  const [call] = await claimProspects(tenant, {
    ...{ campaign, most: 1, now: at(0), agent: { id: world.agentId, name: 'Ada' } },
    groups: [{ id: world.groupId, maxPer24h: undefined, check: '' }],
    chooseNumber: () => NUMBER,
  })
  t.equal(await markPlaced(tenant, call!.id, at(1)), true)
  const { rows } = await store.pool.query('select * from written order by by')
  t.same(rows, [
    { by: 'claim', synchronous: 'off' },
    { by: 'dial', synchronous: 'local' },
  ])
})

t.test('a number is never called by two campaigns at once, nor within the least gap', async (t) => {
  const world = await campaignWorld(t)
  const [one, two] = [await world.campaign(), await world.campaign()]
  await world.prospect(one, '+12125550142')
  const other = await world.prospect(two, '+12125550142')
  const claims = await Promise.all([world.claim(one, at(0)), world.claim(two, at(0))])
  t.equal(claims.flat().length, 1, 'at once')
  const [call] = claims.flat()
  await world.end(call!.id, {}, at(1))
  await settleCampaign(world.tenant, one, at(1))
  await settleCampaign(world.tenant, two, at(1))
  const again = async (minutes: number) => {
    const calls = [...(await world.claim(one, at(minutes))), ...(await world.claim(two, at(minutes)))]
    return calls.length
  }
  t.equal(await again(2), 0, 'two minutes later')
  t.equal(await again(30), 0, 'within the 30 minutes of the default')
  t.match((await prospectById(world.tenant, other))?.held_reason ?? 'retry_wait', 'retry_wait')
  t.equal(await again(32), 1, 'after them, one of the two')
})

t.test('a prospect without dedupe that shares its number waits for the other', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign({ dupe_days: -1 })
  await world.prospect(campaign, '+12125550142')
  await world.prospect(campaign, '+12125550142')
  t.equal((await world.claim(campaign, at(0))).length, 1)
})

t.test('attempt limits hold inside the claim', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign({
    max_number_calls: 2,
    min_time_between_calls: 0,
    retry: { busy: { after_minutes: 0 } },
  })
  const id = await world.prospect(campaign, '+12125550142')
  for (let n = 1; n <= 2; n++) {
    const [call] = await world.claim(campaign, at(n * 10))
    t.ok(call, `attempt ${n}`)
    await world.end(call!.id, {}, at(n * 10 + 1))
    await settleCampaign(world.tenant, campaign, at(n * 10 + 1))
  }
  t.match(await prospectById(world.tenant, id), { status: 'resolved', resolution: 'exhausted', attempts: 2 })
  t.equal((await world.claim(campaign, at(100))).length, 0)
  const second = await world.campaign({ max_number_calls: 1 })
  const lowered = await world.prospect(second, '+12125550150')
  await world.tenant.db.updateTable('prospects').set({ attempts: 1 }).where('id', '=', lowered).execute()
  t.equal((await world.claim(second, at(0))).length, 0, 'a limit that was lowered below what was tried')
  t.match(await prospectById(world.tenant, lowered), { resolution: 'exhausted' })
})

t.test('the law of three calls a day binds all campaigns of the workspace', async (t) => {
  const world = await campaignWorld(t)
  const fields = { min_time_between_calls: 0, retry: { busy: { after_minutes: 0 } } }
  const campaigns = [await world.campaign(fields), await world.campaign(fields)]
  for (const campaign of campaigns) await world.prospect(campaign, '+12125550142')
  let calls = 0
  for (let round = 0; round < 12; round++) {
    const campaign = campaigns[round % 2]!
    for (const call of await world.claim(campaign, at(round * 60), { maxPer24h: 3 })) {
      calls++
      await world.end(call.id, {}, at(round * 60 + 1))
      await settleCampaign(world.tenant, campaign, at(round * 60 + 1))
    }
  }
  t.equal(calls, 3)
  const [first] = await world.claim(campaigns[0]!, at(24 * 60 + 5), { maxPer24h: 3 })
  t.ok(first, 'a day after the first')
})

t.test('what changed since the tick began is not called by', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign()
  await world.prospect(campaign, '+12125550142')
  await updateCampaign(world.tenant, campaign.slug, { max_number_calls: 3 }, at(0))
  t.same(await world.claim(campaign, at(1)), [], 'an older version')
  const current = (await campaignById(world.tenant, campaign.id))!
  await pauseCampaign(world.tenant, campaign.slug, true, at(1))
  t.same(await world.claim(current, at(2)), [], 'a pause')
})

t.test('no call is dialled after a pause or a do-not-call was answered', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign()
  const phones = ['+12125550142', '+12125550143', '+12125550144']
  for (const phone of phones) await world.prospect(campaign, phone)
  const calls = await world.claim(campaign, at(0))
  t.equal(calls.length, 3)
  t.ok(await markPlaced(world.tenant, calls[0]!.id, at(0)), 'while it runs')
  const { rows } = await world.store.pool.query('select to_number from calls where id = $1', [calls[1]!.id])
  await addDoNotCall(world.tenant, [{ phone: rows[0].to_number, reason: '', source: 'api' }], at(0))
  t.notOk(await markPlaced(world.tenant, calls[1]!.id, at(0)), 'a number that is listed')
  await pauseCampaign(world.tenant, campaign.slug, true, at(0))
  t.notOk(await markPlaced(world.tenant, calls[2]!.id, at(0)), 'a paused campaign')
  t.ok(await findCallToPlace(world.tenant, calls[2]!.id), 'it is still there to be ended with its reason')
})

t.test('every attempt ends, whatever became of its call, and the variables are the same on each', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign({
    min_time_between_calls: 0,
    retry: { busy: { after_minutes: 0 }, fault: { after_minutes: 0 } },
  })
  const id = await world.prospect(campaign, '+12125550142', { first_name: 'Ada', variables: '{"plan":"gold"}' })
  const ends = [
    [{ status: 'failed', end_reason: 'node_lost', disposition: 'failed' }, 'unknown', true],
    [{ status: 'failed', end_reason: 'carrier_error', disposition: 'failed' }, 'fault', false],
    [{ status: 'canceled', end_reason: 'skipped', disposition: 'window', placed_at: null }, 'skipped', false],
    [{ status: 'no_answer', end_reason: 'no_answer', disposition: 'no_answer' }, 'no_answer', true],
  ] as const
  for (const [i, [end, outcome, charged]] of ends.entries()) {
    const [call] = await world.claim(campaign, at(i * 60))
    await world.end(call!.id, end, at(i * 60 + 1))
    await settleCampaign(world.tenant, campaign, at(i * 60 + 1))
    const attempt = (await attemptsOf(world.tenant, id)).at(-1)
    t.match(attempt, { n: i + 1, outcome, charged }, outcome)
  }
  const { rows } = await world.store.pool.query('select distinct dynamic_variables from calls')
  t.match(rows, [{ dynamic_variables: { first_name: 'Ada', plan: 'gold', primary_phone: '+12125550142' } }])
  const [late] = await world.claim(campaign, at(600))
  await settleCampaign(world.tenant, campaign, at(600))
  t.equal((await attemptsOf(world.tenant, id)).at(-1)?.ended_at, null, 'a call that waits has its time')
  await settleCampaign(world.tenant, campaign, at(610))
  await settleCampaign(world.tenant, campaign, at(611))
  t.match((await attemptsOf(world.tenant, id)).at(-1), { outcome: 'skipped', charged: false }, 'and no more than that')
  t.match(await prospectById(world.tenant, id), { status: 'waiting', attempts: 2 })
  t.ok(late)
})

t.test('counts are those of the rows, whatever happened', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign()
  for (let i = 0; i < 20; i++) await world.prospect(campaign, `+1212555${2000 + i}`)
  const calls = await world.claim(campaign, at(0), { most: 8 })
  await world.end(
    calls[0]!.id,
    {
      status: 'completed',
      end_reason: 'agent_hangup',
      disposition: 'completed',
      answered_at: at(0),
      duration_ms: 60_000,
    },
    at(1),
  )
  await world.end(calls[1]!.id, { status: 'failed', end_reason: 'invalid_number' }, at(1))
  await settleCampaign(world.tenant, campaign, at(1))
  await addDoNotCall(world.tenant, [{ phone: '+12125552019', reason: '', source: 'api' }], at(1))
  const { rows } = await world.store.pool.query(`
    select bucket, sum(n)::int as n from prospect_counts group by 1 having sum(n) <> 0
    except
    select prospect_bucket(status, resolution, next_attempt_at, consent_at), count(*)::int from prospects group by 1`)
  t.same(rows, [])
})

t.test('clocks that jump call nobody too soon, and stop no campaign', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign()
  await world.prospect(campaign, '+12125550142')
  const [call] = await world.claim(campaign, at(0))
  await world.end(call!.id, {}, at(1))
  await settleCampaign(world.tenant, campaign, at(1))
  const day = 24 * 60
  t.same(await world.claim(campaign, at(-day)), [], 'a clock that fell back a day')
  t.same(await world.claim(campaign, at(2)), [], 'and is right again')
  t.equal((await world.claim(campaign, at(day))).length, 1, 'one that ran ahead is believed')

  const due = async (now: Date) => (await dueCampaigns(world.store, now, 10)).length
  t.equal(await due(at(7 * day)), 1, 'a tick by a clock that runs a week ahead')
  t.equal(await due(at(0)), 1, 'the next one does not wait for that week')
  t.equal(await due(at(0)), 0, 'nor comes too soon')
})

t.test('an end that is written late changes no other end', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign({ min_time_between_calls: 0, stop_when: null })
  const ends = [
    { status: 'busy', endReason: 'busy', disposition: 'busy' },
    { status: 'completed', endReason: 'agent_hangup', disposition: 'completed' },
    { status: 'failed', endReason: 'carrier_error', disposition: 'failed' },
    { status: 'no_answer', endReason: 'no_answer', disposition: 'no_answer' },
  ] as const
  const seen = new Set<string>()
  for (const [i, first] of ends.entries()) {
    const id = await world.prospect(campaign, `+1212555${3000 + i}`)
    const [call] = await world.claim(campaign, at(i * 60))
    const answered_at = first.status === 'completed' ? at(i * 60) : null
    const placed = { placed_at: at(i * 60), answered_at }
    await world.tenant.db.updateTable('calls').set(placed).where('id', '=', call!.id).execute()
    const others = ends.filter((one) => one !== first)
    const durationMs = answered_at === null ? 0 : 60_000
    t.equal(
      await endCall(
        world.store,
        { workspaceId: world.tenant.workspaceId, callId: call!.id },
        first,
        at(i * 60 + 1),
        durationMs,
      ),
      true,
    )
    await settleCampaign(world.tenant, campaign, at(i * 60 + 1))
    const settled = (await attemptsOf(world.tenant, id)).at(-1)
    for (const late of others)
      t.equal(
        await endCall(
          world.store,
          { workspaceId: world.tenant.workspaceId, callId: call!.id },
          late,
          at(i * 60 + 2),
          0,
        ),
        false,
      )
    await settleCampaign(world.tenant, campaign, at(i * 60 + 2))
    t.same((await attemptsOf(world.tenant, id)).at(-1), settled, `${first.status} stays`)
    seen.add(settled?.outcome ?? '')
    await world.tenant.db.updateTable('prospects').set({ status: 'resolved' }).where('id', '=', id).execute()
  }
  t.equal(seen.size, ends.length, [...seen].join())
})

t.test('an agent or a number that is deleted while calls wait costs nobody an attempt', async (t) => {
  const world = await campaignWorld(t)
  const campaign = await world.campaign({ stop_when: null })
  const id = await world.prospect(campaign, '+12125550142')
  const [call] = await world.claim(campaign, at(0))
  await world.store.pool.query('delete from phone_numbers')
  t.match(await findCallToPlace(world.tenant, call!.id), { provider: undefined })
  await world.store.pool.query('delete from agents where id = $1', [world.agentId])
  t.match(await findCallToPlace(world.tenant, call!.id), { agent: undefined })
  t.match(await campaignById(world.tenant, campaign.id), { agent_id: null }, 'the campaign is kept')
  // As an api node ends a call whose agent is gone.
  await endCall(world.store, { workspaceId: world.tenant.workspaceId, callId: call!.id }, AGENT_GONE, at(1), 0)
  await settleCampaign(world.tenant, campaign, at(1))
  t.match(await prospectById(world.tenant, id), { status: 'waiting', attempts: 0 })
  t.match((await attemptsOf(world.tenant, id)).at(-1), { outcome: 'fault', charged: false })
})
