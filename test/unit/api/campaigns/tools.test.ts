import t from 'tap'
import { campaignToolSpecs, runCampaignTool } from '../../../../api/campaigns/tools.ts'
import { describeRules } from '../../../../runtime/dialing/describe-rules.ts'
import { loadCallingRules } from '../../../../runtime/dialing/rules.ts'
import { shippedPlaces } from '../../../../runtime/dialing/zones.ts'
import { prospectById } from '../../../../store/prospects/prospects.ts'
import { settleCampaign } from '../../../../workers/dialer/settle.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { startPhone } from '../../../support/phone/phone.ts'
import { campaignWorld } from '../../../support/world/campaign-world.ts'

const NOW = Date.parse('2026-03-02T16:00:00Z')
const REACHED = {
  status: 'completed',
  end_reason: 'agent_hangup',
  disposition: 'completed',
  answered_at: new Date(NOW),
  duration_ms: 60_000,
}

t.test("an agent's tools in a campaign's call", async (t) => {
  const world = await campaignWorld(t)
  const calling = { rules: await loadCallingRules(), places: shippedPlaces() }
  const services = { store: world.store, calling, clock: { nowMs: () => NOW, monotonicMs: () => 0 } }
  const { tenant } = world
  const later = new Date(NOW + 60_000)

  await t.test('are offered as the campaign says, and never in the place of its own', async (t) => {
    const names = (own: { name: string }[]) =>
      campaignToolSpecs(['do_not_call', 'call_back'], own).map(({ name }) => name)
    t.same(names([]), ['do_not_call', 'call_back'])
    t.same(names([{ name: 'call_back' }]), ['do_not_call'])
  })

  await t.test('opt the callee out with the call as evidence', async (t) => {
    const campaign = await world.campaign()
    const id = await world.prospect(campaign, '+12125550142')
    const [call] = await world.claim(campaign, new Date(NOW))
    const words = 'please take me off your list'
    t.match(await runCampaignTool(services, call!.id, 'do_not_call', { words }), /not be called again/)
    const entry = await tenant.db.selectFrom('do_not_call').selectAll().executeTakeFirstOrThrow()
    t.match(entry, { phone: '+12125550142', source: 'call', call_id: call!.id, words })
    await world.end(call!.id, REACHED, later)
    await settleCampaign(tenant, campaign, later)
    t.match(await prospectById(tenant, id), { status: 'resolved', resolution: 'opted_out' })
  })

  await t.test('call back when the callee says, in their zone and within legal hours', async (t) => {
    const campaign = await world.campaign({ latest_prospect_time: '18:00:00' })
    const id = await world.prospect(campaign, '+12125550150')
    const [call] = await world.claim(campaign, new Date(NOW))
    const ask = (at: string) => runCampaignTool(services, call!.id, 'call_back', { at })
    t.match(await ask('tomorrow'), /no date and time/)
    t.match(await ask('2026-03-02T08:00'), /over/)
    t.match(await ask('2026-03-02T15:30'), /Monday, March 2, 2026 at 3:30/)
    await world.end(call!.id, REACHED, later)
    await settleCampaign(tenant, campaign, later)
    const back = await prospectById(tenant, id)
    t.match(back, { status: 'waiting', next_attempt_at: new Date('2026-03-02T20:30:00Z') })
    t.same(await world.claim(campaign, new Date('2026-03-02T20:29:00Z')), [], 'not before')
    const [second] = await world.claim(campaign, new Date('2026-03-02T20:30:00Z'))
    t.match(
      await runCampaignTool(
        { ...services, clock: { nowMs: () => Date.parse('2026-03-02T20:31:00Z'), monotonicMs: () => 0 } },
        second!.id,
        'call_back',
        { at: '2026-03-02T22:00' },
      ),
      /Tuesday, March 3, 2026 at 9:00/,
      'moved into the hours',
    )
  })

  await t.test('are none where they are switched off, and in other calls', async (t) => {
    const campaign = await world.campaign({ agent_tools: [] })
    await world.prospect(campaign, '+12125550160')
    const [call] = await world.claim(campaign, new Date(NOW))
    t.equal(await runCampaignTool(services, call!.id, 'do_not_call', { words: '' }), undefined)
    t.equal(await runCampaignTool(services, campaign.id, 'do_not_call', { words: '' }), undefined)
  })
})

t.test('the do-not-call list binds a single call, but for an Admin who overrides it', async (t) => {
  const api = await startTestApi(t)
  const admin = await api.signUp()
  const phone = await startPhone(api, admin)
  const developer = await api.member(admin, 'developer')
  await admin.client.post('/do-not-call', { body: { phone_number: '+12125550142' } })
  const body = { agent_phone_number: phone.number, phone_number_to_dial: '+12125550142', dynamic_variables: {} }
  t.match(await admin.client.post('/calls/outbound_call', { body }), {
    status: 409,
    body: { detail: 'Phone number is on the do-not-call list' },
  })
  const override = { body: { ...body, override: true } }
  t.match(await developer.client.post('/calls/outbound_call', override), {
    status: 403,
    body: { detail: 'Admin access required' },
  })
  t.match(await (await api.keyClient(admin)).post('/calls/outbound_call', override), { status: 403 })
  const { status, body: call } = await admin.client.post('/calls/outbound_call', override)
  t.equal(status, 201)
  await api.store.pool.query(
    `update calls set campaign_slug = 'spring', status = 'completed', disposition = 'completed' where id = $1`,
    [call.call_log_id],
  )
  const logs = async (campaign: string) => (await admin.client.get('/calls/logs', { query: { campaign } })).body
  t.match(await logs('spring'), { total: 1, items: [{ campaign_slug: 'spring' }] })
  t.match(await logs('autumn'), { total: 0, items: [] })
  const report = async (campaign: string) =>
    (await admin.client.get('/reports/call-summary', { query: { campaign } })).body
  t.match(await report('spring'), { total_calls: 1 })
  t.match(await report('autumn'), { total_calls: 0 })
})

t.test('the rules are shown, and a verdict explained', async (t) => {
  const all = await describeRules([], undefined, NOW)
  t.match(all, /US-TX {2}Mon Tue Wed Thu Fri Sat 09:00–21:00, Sun 12:00–21:00 {2}\[Tex\. Bus\. & Com\. Code § 301\.051/)
  const one = await describeRules(['(850) 555-0142', '2026-03-02T13:30:00Z'], undefined, NOW)
  t.match(one, /may not be called\. It is 07:30 in America\/Chicago/)
  t.match(one, /next opening: 2026-03-02T14:00:00\.000Z/)
  t.match(one, /at most 3 calls within 24 hours/)
  t.match(await describeRules(['+12125550142'], undefined, NOW), /may be called/)
  await t.rejects(describeRules(['12'], undefined, NOW), /is no phone number/)
})
