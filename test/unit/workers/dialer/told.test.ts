import { pino } from 'pino'
import t from 'tap'
import { loadCallingRules } from '../../../../runtime/dialing/rules.ts'
import { shippedPlaces } from '../../../../runtime/dialing/zones.ts'
import { tellMissedCallBacks } from '../../../../store/campaigns/campaign-runs.ts'
import { prospectById } from '../../../../store/prospects/prospects.ts'
import { tickCampaign } from '../../../../workers/dialer/tick.ts'
import { campaignWorld } from '../../../support/world/campaign-world.ts'

const MINUTE_MS = 60_000
const at = (minutes: number) => new Date(Date.parse('2026-03-02T16:00:00Z') + minutes * MINUTE_MS)

t.test('what webhooks are told of campaigns', async (t) => {
  const world = await campaignWorld(t)
  const calling = { rules: await loadCallingRules(), places: shippedPlaces() }
  const tick = (campaignId: string, now: Date) => {
    const clock = { nowMs: () => now.getTime(), monotonicMs: () => now.getTime() }
    const room = { claim: async () => 0, leave: async () => {} }
    const services = { store: world.store, room, calling, clock, log: pino({ level: 'silent' }), place: async () => {} }
    return tickCampaign(services, world.tenant, campaignId)
  }
  const told = async (type: string) =>
    (await world.store.pool.query('select subject, data from workspace_events where type = $1 order by seq', [type]))
      .rows

  await t.test('that nobody is left to call, once until somebody is again', async (t) => {
    const campaign = await world.campaign({ name: 'Renewals' })
    await tick(campaign.id, at(0))
    t.same(await told('campaign.completed'), [], 'a campaign without prospects has not completed anything')
    await world.prospect(campaign, '+12125550142')
    await tick(campaign.id, at(1))
    t.same(await told('campaign.completed'), [])
    const resolve = () =>
      world.store.pool.query(
        "update prospects set status = 'resolved', resolution = 'reached' where status = 'waiting'",
      )
    await resolve()
    await tick(campaign.id, at(2))
    await tick(campaign.id, at(3))
    t.match(await told('campaign.completed'), [
      { subject: campaign.id, data: { slug: campaign.slug, name: 'Renewals' } },
    ])
    t.equal((await told('campaign.completed')).length, 1)
    await world.prospect(campaign, '+12125550143')
    await tick(campaign.id, at(4))
    await resolve()
    await tick(campaign.id, at(5))
    t.equal((await told('campaign.completed')).length, 2, 'one that went on completes again')
  })

  await t.test('that a promised call back was not made in time, once', async (t) => {
    const campaign = await world.campaign({ name: 'Call backs', paused: true })
    const id = await world.prospect(campaign, '+12125550144')
    await world.tenant.db
      .updateTable('prospects')
      .set({ call_back_at: at(0), next_attempt_at: at(0) })
      .where('id', '=', id)
      .execute()
    await tellMissedCallBacks(world.store, at(14))
    t.same(await told('prospect.callback_missed'), [])
    await tellMissedCallBacks(world.store, at(16))
    await tellMissedCallBacks(world.store, at(30))
    t.match(await told('prospect.callback_missed'), [
      {
        subject: id,
        data: { primary_phone: '+12125550144', campaign: campaign.slug, reason: 'The campaign is paused' },
      },
    ])
    t.equal((await told('prospect.callback_missed')).length, 1)
    await world.store.pool.query('update campaigns set paused = false')
    const resumed = { ...campaign, paused: false }
    t.equal((await world.claim(resumed, at(31))).length, 1, 'it is made late')
    t.match(await prospectById(world.tenant, id), { call_back_at: null, call_back_missed_at: null })
  })
})
