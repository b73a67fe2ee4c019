import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { until } from '../../../support/instance/realtime-node.ts'

const FROM = '+14155550100'
const api = await startTestApi(t)
await startTestJobs(t, api)
const ada = await api.signUp()
const made = await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
const agentId: string = made.body.agent_id
await ada.client.post('/phone-numbers', { body: { phone_number: FROM, provider: 'sim', agent_id: agentId } })
const batch = { name: 'March', agent_id: agentId, agent_phone_number: FROM }

t.test('a batch is made of rows of JSON as of a file with these rows', async (t) => {
  const rows = [
    {
      phone_number: '+14155550142',
      dynamic_variables: { first_name: 'Ada', note: 'a "quoted", line\nbroken ümlaut' },
      external_id: 'crm-1',
      metadata: { deal: '4711' },
    },
    { phone_number: 'none' },
  ]
  const headers = { 'idempotency-key': 'march' }
  const { status, body } = await ada.client.post('/batch', { body: { ...batch, rows }, headers })
  t.equal(status, 201)
  t.match(body, { status: 'pending', counts: { total: 2, pending: 1, failed: 1 } })
  const { body: found } = await ada.client.get(`/batch/${body.batch_id}/items`)
  t.match(found.items, [
    {
      phone_number: '+14155550142',
      dynamic_variables: rows[0]?.dynamic_variables,
      external_id: 'crm-1',
      metadata: { deal: '4711' },
    },
    { phone_number: 'none', status: 'failed', dynamic_variables: { first_name: '' }, metadata: {}, external_id: null },
  ])
  const again = await ada.client.post('/batch', { body: { ...batch, rows }, headers })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal((await ada.client.get('/batch')).body.length, 1)
  const soon = await ada.client.post('/batch', { body: { ...batch, rows, scheduled_time: '2999-01-01T00:00:00Z' } })
  t.equal(soon.body.status, 'scheduled')
})

t.test('a batch of rows names all its faults, and nothing of it is kept', async (t) => {
  const rows = [{ phone_number: '+14155550142' }]
  const locs = async (body: object) =>
    (await ada.client.post('/batch', { body })).body.detail.map?.(({ loc }: { loc: string[] }) => loc.join('.')).sort()
  t.same(await locs({ ...batch, name: undefined, rows: [] }), ['body.name', 'body.rows'])
  t.same(await locs({ ...batch, rows: [{ metadata: { k: 1 } }] }), [
    'body.rows.0.metadata.k',
    'body.rows.0.phone_number',
  ])
  t.same(await locs({ ...batch, rows: Array.from({ length: 1_001 }, () => rows[0]) }), ['body.rows'])
  t.same(await locs({ ...batch, rows, scheduled_time: '2020-01-01T00:00:00Z' }), ['body.scheduled_time'])
  const unknown = await ada.client.post('/batch', { body: { ...batch, agent_phone_number: '+14155550109', rows } })
  t.match(unknown, { status: 404, body: { detail: 'Agent not found' } })
  t.equal((await ada.client.get('/batch')).body.length, 2)
  const member = await api.member(ada, 'member')
  t.equal((await member.client.post('/batch', { body: { ...batch, rows } })).status, 403)
  const key = await api.keyClient(ada, ['batches'])
  t.equal((await key.post('/batch', { body: { ...batch, rows } })).status, 201)
})

t.test('prospects are loaded from rows of JSON as from a file', async (t) => {
  const { body: campaign } = await ada.client.post('/api/v/campaign/', { body: { name: 'Renewals', paused: true } })
  const rows = [
    {
      primary_phone: '+14155550151',
      first_name: 'Ada',
      external_id: 'crm-17',
      variables: { plan: 'gold' },
      metadata: { deal: '1' },
    },
    { primary_phone: '+14155550151', first_name: 'Twice' },
    { primary_phone: 'none' },
    { primary_phone: '+14155550152', consent_at: 'never' },
    { primary_phone: '+14155550153', consent_at: '2026-01-02T00:00:00Z' },
  ]
  const path = `/api/v/upload/${campaign.slug}/rows/`
  const { status, body } = await ada.client.post(path, { body: { rows, consent_attested: true } })
  t.equal(status, 201)
  t.equal(body.message, 'Loading 5 rows in 1 batch')
  const upload = async () => (await ada.client.get(`/api/v/upload/${body.uuid}/`)).body
  await until(async () => (await upload()).status === 'completed')
  t.match(await upload(), { filename: 'rows.json', rows: { total: 5, loaded: 2, duplicates: 1, invalid: 2 } })
  const { body: page } = await ada.client.get(`/api/v/campaign/${campaign.slug}/prospects/`)
  t.match(page.items, [
    {
      first_name: 'Ada',
      external_id: 'crm-17',
      variables: { plan: 'gold' },
      metadata: { deal: '1' },
      consent_at: String,
    },
    { primary_phone: '+14155550153', consent_at: '2026-01-02T00:00:00.000Z' },
  ])
  t.match((await ada.client.get(`/api/v/upload/${body.uuid}/rejects/`)).text, /consent_at is no ISO 8601/)
  t.equal((await ada.client.post('/api/v/upload/nowhere/rows/', { body: { rows } })).status, 404)
  t.equal((await ada.client.post(path, { body: {} })).status, 422)
})
