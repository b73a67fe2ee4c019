import t from 'tap'
import { claimRows } from '../../../../store/batches/batch-claim.ts'
import { campaignById } from '../../../../store/campaigns/campaigns.ts'
import { claimProspects } from '../../../../store/campaigns/prospect-claims.ts'
import { prospectById } from '../../../../store/prospects/prospects.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { until } from '../../../support/instance/realtime-node.ts'

const FROM = '+14155550100'
const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1' } })
await startTestJobs(t, api)
const ada = await api.signUp()
const made = await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
const agentId: string = made.body.agent_id
await ada.client.post('/phone-numbers', { body: { phone_number: FROM, provider: 'sim', agent_id: agentId } })
/** Once there are any: an event is read when all transactions that are older are over. */
const events = async (types: string) => {
  const asked = { query: { after: '0-0', types }, headers: { accept: 'application/json' } }
  const read = async () => (await ada.client.get('/events', asked)).body.items
  await until(async () => (await read()).length > 0)
  return read()
}

const order = (more: object) => ({ agent_phone_number: FROM, phone_number_to_dial: '+14155550199', ...more })

t.test('a call gives back what its caller attached, in every answer and event, and is found by it', async (t) => {
  const metadata = { deal: '4711', note: 'a "quoted" ümlaut' }
  const { status, body } = await ada.client.post('/calls/outbound_call', {
    body: order({ external_id: 'crm-1', metadata }),
  })
  t.equal(status, 201)
  t.match(body, { external_id: 'crm-1', metadata, prospect_uuid: null, dynamic_variables: {} })
  await ada.client.post('/calls/outbound_call', { body: order({ external_id: 'crm-2', metadata: { deal: '4712' } }) })
  t.match((await ada.client.get(`/calls/${body.call_log_id}`)).body, { external_id: 'crm-1', metadata })
  const found = async (query: Record<string, string>) =>
    (await ada.client.get('/calls/logs', { query })).body.items.map((call: { external_id: string }) => call.external_id)
  t.same(await found({ external_id: 'crm-1' }), ['crm-1'])
  t.same(await found({ 'metadata[deal]': '4712' }), ['crm-2'])
  t.same(await found({ 'metadata[deal]': '4711', 'metadata[note]': metadata.note }), ['crm-1'])
  t.same(await found({ 'metadata[deal]': '4711', 'metadata[note]': 'another' }), [])
  t.same(await found({ 'metadata[none]': '4711' }), [])
  t.equal(
    (await ada.client.get('/calls/export-csv', { query: { external_id: 'crm-1' } })).text.trim().split('\n').length,
    2,
  )
  const [queued] = await events('call.queued')
  t.match(queued.data, { external_id: 'crm-1', metadata })
})

t.test('an event of a moment in a call says which call it is', async (t) => {
  const { body: call } = await ada.client.post('/calls/outbound_call', {
    body: order({ external_id: 'crm-3', metadata: { deal: '3' } }),
  })
  const data = { call_log_id: call.call_log_id, agent_id: agentId, seq: 3, at: new Date().toISOString(), to: FROM }
  await api.store.pool.query(
    `insert into workspace_events (workspace_id, type, subject, agent_id, data) values ($1, 'call.transferred', $2, $3, $4)`,
    [ada.workspaceId, call.call_log_id, agentId, data],
  )
  const [event] = await events('call.transferred')
  t.same(event.data, {
    ...data,
    ...{
      agent_version: null,
      from_number: FROM,
      to_number: '+14155550199',
      batch_id: null,
      campaign_slug: null,
      prospect_uuid: null,
    },
    ...{ external_id: 'crm-3', metadata: { deal: '3' } },
  })
})

t.test('metadata has bounds, and what breaks them is named', async (t) => {
  const refused = async (metadata: unknown) => {
    const { status, body } = await ada.client.post('/calls/outbound_call', { body: order({ metadata }) })
    return [status, body.detail?.[0]?.loc?.slice(0, 2)]
  }
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v']))
  for (const wrong of [
    many,
    { k: 'x'.repeat(501) },
    { ['k'.repeat(65)]: 'v' },
    { '': 'v' },
    { 'a[b]': 'v' },
    { k: 1 },
    [],
  ]) {
    t.same(await refused(wrong), [422, ['body', 'metadata']], JSON.stringify(wrong).slice(0, 40))
  }
  const most = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`${i}`.padStart(64, 'k'), 'x'.repeat(500)]))
  t.equal((await ada.client.post('/calls/outbound_call', { body: order({ metadata: most }) })).status, 201)
})

t.test('a web session carries its own, too', async (t) => {
  const query = { agent_id: agentId, external_id: 'visit-1', 'metadata[page]': '/prices' }
  const { body } = await ada.client.get('/calls/generate-token', { query })
  t.match((await ada.client.get(`/calls/${body.call_log_id}`)).body, {
    external_id: 'visit-1',
    metadata: { page: '/prices' },
  })
})

const upload = (path: string, field: string, csv: string, more: Record<string, string> = {}) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(more)) form.append(name, value)
  form.append(field, new Blob([csv]), 'rows.csv')
  return ada.client.post(path, { form })
}

t.test('rows of a batch carry columns named metadata[key] and external_id to their calls', async (t) => {
  const csv =
    'phone_number,first_name,metadata[deal],external_id,metadata[empty]\n+14155550142,Ada,4711,crm-9,\nnone,Bob,4712,,x\n'
  const details = { name: 'March', agent_id: agentId, agent_phone_number: FROM }
  const { status, body: batch } = await upload('/batch/upload', 'file', csv, details)
  t.equal(status, 201)
  const items = async () => (await ada.client.get(`/batch/${batch.batch_id}/items`)).body.items
  t.match(await items(), [
    {
      dynamic_variables: { first_name: 'Ada', external_id: 'crm-9' },
      external_id: 'crm-9',
      metadata: { deal: '4711' },
    },
    { status: 'failed', external_id: null, metadata: { deal: '4712', empty: 'x' } },
  ])
  t.notOk('metadata[deal]' in (await items())[0].dynamic_variables, 'the agent does not get it')
  t.equal((await ada.client.post(`/batch/${batch.batch_id}/send`)).status, 200)
  const [claimed] = await claimRows(api.store.tenant(ada.workspaceId), batch.batch_id, 2, new Date())
  const id = claimed!.id
  t.match((await ada.client.get(`/calls/${id}`)).body, {
    ...{ batch_id: batch.batch_id, external_id: 'crm-9', metadata: { deal: '4711' } },
    dynamic_variables: { first_name: 'Ada' },
  })
  const long = `phone_number,metadata[deal]\n+14155550142,${'x'.repeat(501)}\n`
  t.match(await upload('/batch/upload', 'file', long, details), { status: 400, code: 'metadata_too_large' })
})

t.test('a prospect carries its own to its calls, and each names the other', async (t) => {
  const { body: campaign } = await ada.client.post('/api/v/campaign/', {
    body: { name: 'Renewals', agent_id: agentId, paused: true },
  })
  const csv = `primary_phone,external_id,plan,metadata[deal]\n+14155550143,crm-17,gold,4711\n+14155550144,,,${'x'.repeat(501)}\n`
  const { body: loaded } = await upload(`/api/v/upload/${campaign.slug}/`, 'original_data', csv)
  const path = `/api/v/upload/${loaded.uuid}/`
  await until(async () => (await ada.client.get(path)).body.status === 'completed')
  t.match((await ada.client.get(path)).body.rows, { loaded: 1, invalid: 1 })
  t.match((await ada.client.get(`${path}rejects/`)).text, /Metadata has more than 16 keys/)
  const { body: page } = await ada.client.get(`/api/v/campaign/${campaign.slug}/prospects/`)
  const [prospect] = page.items
  t.match(prospect, {
    ...{ external_id: 'crm-17', metadata: { deal: '4711' }, variables: { plan: 'gold' }, call_log_id: null },
    ...{ prospect_uuid: prospect.uuid, campaign_slug: campaign.slug, campaign_id: campaign.campaign_id },
  })
  const form = new FormData()
  for (const [name, value] of Object.entries({ primary_phone: '+14155550145', 'metadata[deal]': '5', plan: 'blue' })) {
    form.append(name, value)
  }
  const added = await ada.client.post(`/api/v/prospect/${prospect.list_uuid}/`, { form })
  t.match(added, { status: 201, body: { metadata: { deal: '5' }, variables: { plan: 'blue' } } })

  const tenant = api.store.tenant(ada.workspaceId)
  await ada.client.post(`/api/v/campaign/${campaign.slug}/resume/`)
  const row = await prospectById(tenant, prospect.uuid)
  const [call] = await claimProspects(tenant, {
    campaign: (await campaignById(tenant, campaign.campaign_id))!,
    agent: { id: agentId, name: 'Ada' },
    groups: [{ id: row!.window_group, maxPer24h: undefined, check: '' }],
    most: 1,
    chooseNumber: () => FROM,
    now: new Date(),
  })
  t.match((await ada.client.get(`/calls/${call!.id}`)).body, {
    ...{
      prospect_uuid: prospect.uuid,
      external_id: 'crm-17',
      metadata: { deal: '4711' },
      campaign_slug: campaign.slug,
    },
  })
  t.match((await ada.client.get(`/api/v/prospect/${prospect.uuid}/`)).body, { call_log_id: call!.id })
  const { body: of } = await ada.client.get('/calls/logs', { query: { prospect_uuid: prospect.uuid } })
  t.equal(of.total, 1)
  await tenant.db
    .updateTable('prospects')
    .set({ status: 'resolved', resolution: 'reached', attempts: 1 })
    .where('id', '=', prospect.uuid)
    .execute()
  const [resolved] = await events('prospect.resolved')
  t.match(resolved.data, {
    ...{ prospect_uuid: prospect.uuid, call_log_id: call!.id, external_id: 'crm-17', metadata: { deal: '4711' } },
    ...{ campaign_slug: campaign.slug, campaign_id: campaign.campaign_id },
  })
})
