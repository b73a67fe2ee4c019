import t from 'tap'
import { callStatesOf, foldCallCounts } from '../../../store/campaigns/campaign-status.ts'
import { claimProspects } from '../../../store/campaigns/prospect-claims.ts'
import { seeded } from '../../support/phone/numbers.ts'
import { campaignWorld, NUMBER } from '../../support/world/campaign-world.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const HISTORIES = 4
const STEPS = 40
const RATIOS = [undefined, 3, 7] as const
const OPEN_TRANSACTIONS =
  "select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'"

t.test('kept counts of calls under way are those a count from scratch comes to, after any history', async (t) => {
  const world = await campaignWorld(t)
  const { store, tenant } = world
  const fromScratch = async (campaignId: string) => {
    const { rows } = await store.pool.query<Record<'placing' | 'ringing' | 'waiting' | 'talking' | 'seats', number>>(
      `select (count(*) filter (where status = 'queued'))::int as placing,
         (count(*) filter (where status = 'ringing' and picked_up_at is null))::int as ringing,
         (count(*) filter (where status = 'ringing' and picked_up_at is not null))::int as waiting,
         (count(*) filter (where status = 'in_progress'))::int as talking,
         (round(coalesce(sum(coalesce(seat_share::numeric, 1)) filter (where status <> 'in_progress'), 0), 9))::float8 as seats
       from calls where campaign_id = $1 and status in ('queued', 'ringing', 'in_progress')`,
      [campaignId],
    )
    return rows[0]
  }
  const kept = async (campaignId: string) => {
    const { seats, ...states } = await callStatesOf(tenant, campaignId)
    return { ...states, seats: Number(seats.toFixed(9)) }
  }
  let phones = 0
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const random = seeded(seed)
    const campaigns = [await world.campaign(), await world.campaign()]
    const one = () => campaigns[Math.floor(random() * campaigns.length)]!
    const claim = async () => {
      const campaign = one()
      const most = 1 + Math.floor(random() * 6)
      for (let i = 0; i < most; i++) await world.prospect(campaign, `+1212${5_000_000 + phones++}`)
      const ratio = RATIOS[Math.floor(random() * RATIOS.length)]
      await claimProspects(tenant, {
        ...{ campaign, agent: { id: world.agentId, name: 'Ada' }, most, now: new Date(), chooseNumber: () => NUMBER },
        groups: [{ id: world.groupId, maxPer24h: undefined, check: '' }],
        ...(ratio === undefined ? {} : { overDial: { seats: most / ratio, ratio } }),
      })
    }
    const some = `id in (select id from calls where campaign_id = $1 and status in ('queued', 'ringing', 'in_progress')
      and get_byte(uuid_send(id), 15) % 4 = $2)`
    const change = async (text: string) => {
      await store.pool.query(text, [one().id, Math.floor(random() * 4)])
    }
    const steps = [
      claim,
      () => change(`update calls set placed_at = now() where ${some}`),
      () => change(`update calls set status = 'ringing' where status = 'queued' and ${some}`),
      () => change(`update calls set picked_up_at = now() where ${some}`),
      () => change(`update calls set status = 'in_progress', answered_at = now() where ${some}`),
      () => change(`update calls set status = 'busy', ended_at = now() where ${some}`),
      () => change(`delete from calls where ${some}`),
      () => Promise.all(Array.from({ length: 3 }, () => foldCallCounts(tenant, one().id))),
      async () => {
        // Of a process that dies, nothing counts.
        const client = await store.pool.connect()
        await client.query('begin')
        await client.query(`update calls set status = 'completed' where campaign_id = $1`, [one().id])
        await client.query('delete from campaign_call_counts')
        client.release(new Error('It died'))
      },
    ]
    for (let step = 0; step < STEPS; step++) {
      const [first, second] = [random(), random()].map((drawn) => steps[Math.floor(drawn * steps.length)]!)
      // Two at a time: they don't wait for each other's counts.
      await Promise.all([first!(), random() < 0.5 ? second!() : undefined])
      if (step % 10 !== 9) continue
      for (const { id } of campaigns) t.same(await kept(id), await fromScratch(id), `seed ${seed}`)
    }
    // What a process that died had locked is free once its connection has ended.
    await waitUntil(async () => (await store.pool.query(OPEN_TRANSACTIONS)).rowCount === 0)
    for (const { id } of campaigns) {
      await foldCallCounts(tenant, id)
      t.same(await kept(id), await fromScratch(id), 'added up')
      const { rows } = await store.pool.query('select from campaign_call_counts where campaign_id = $1', [id])
      t.ok(rows.length <= 4, 'a row for each state is left')
    }
  }
})

t.test('a test call and a call of no campaign are counted in no campaign', async (t) => {
  const { store, tenant, agentId, campaign } = await campaignWorld(t)
  const { id, slug } = await campaign()
  await store.pool.query(
    `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, campaign_slug, created_at)
     values (gen_random_uuid(), $1, $2, 'Ada', 'phone', 'outbound', 'ringing', $3, now()),
       (gen_random_uuid(), $1, $2, 'Ada', 'web', 'inbound', 'in_progress', null, now())`,
    [tenant.workspaceId, agentId, slug],
  )
  t.same(await callStatesOf(tenant, id), { placing: 0, ringing: 0, talking: 0, waiting: 0, seats: 0 })
})
