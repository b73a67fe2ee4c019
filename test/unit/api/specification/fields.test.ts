import t from 'tap'
import { type Answer, startTestApi } from '../../../support/instance/api.ts'

/** Fields, types, defaults, paths and roles of the specification, row by row. Written from its text. */

const api = await startTestApi(t, { nodes: 2 })
const ada = await api.signUp()
const key = await api.keyClient(ada)
const NUMBER = '+14155550100'
const { body: agent } = await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
await ada.client.post('/phone-numbers', { body: { phone_number: NUMBER, provider: 'sim', agent_id: agent.agent_id } })

const faults = ({ body }: Answer): string[] =>
  (body.detail as { loc: string[]; type: string }[]).map(({ loc, type }) => `${loc.slice(1).join('.')}: ${type}`)

t.test('agent fields of 2.1 are taken, returned and refused in another type', async (t) => {
  const fields: Record<string, unknown> = {
    ...{ agent_name: 'Reception', LLM_provider: 'offline', LLM_model: 'extractive', temperature: 0.4 },
    ...{ system_prompt: 'You answer.', first_message: 'Hello', STT_provider: 'sim', STT_model: 'default' },
    ...{ TTS_provider: 'offline', TTS_voice: 'en-us' },
  }
  const { status, body } = await ada.client.post('/agents', { body: fields })
  t.equal(status, 201)
  t.match(body, fields)
  t.type(body.agent_id, 'string')
  for (const [field, value] of Object.entries(fields)) {
    const wrong = typeof value === 'number' ? { value: 'warm', type: 'float_type' } : { value: 7, type: 'string_type' }
    const refused = await ada.client.post('/agents', { body: { ...fields, [field]: wrong.value } })
    t.same([refused.status, faults(refused)], [422, [`${field}: ${wrong.type}`]], field)
  }
})

t.test('a change of an agent keeps what is left out', async (t) => {
  const { body: made } = await ada.client.post('/agents', { body: { agent_name: 'A', system_prompt: 'P' } })
  const { status, body } = await ada.client.put(`/agents/${made.agent_id}`, { body: { temperature: 0.1 } })
  t.equal(status, 200)
  t.same({ ...body, updated_at: '' }, { ...made, temperature: 0.1, version: 2, updated_at: '' })
})

/** Field, default, a value, one of another type and the type of its fault, as 2.6 has them. */
const CAMPAIGN: readonly (readonly [string, unknown, unknown, unknown, string])[] = [
  ['locale_name', 'USCA', 'USCA', 7, 'string_type'],
  ['active', true, false, 'maybe', 'bool_type'],
  ['call_ratio', 1, 1.5, 'many', 'float_type'],
  ['dialer_interval', 10, 2, 2.5, 'int_type'],
  ['max_active_calls', 0, 3, 'x', 'int_type'],
  ['max_number_calls', 10, 1, 'x', 'int_type'],
  ['min_time_between_calls', 30, 0, 'x', 'int_type'],
  ['dupe_days', 90, -1, 'x', 'int_type'],
  ['expire_days', 90, 1, 'x', 'int_type'],
  ['earliest_prospect_time', '09:00:00', '10:30:00', 'noon', 'time_parsing'],
  ['latest_prospect_time', '21:00:00', '18:00:00', 'noon', 'time_parsing'],
  ['ignore_states', '', 'TX,FL', 7, 'string_type'],
  ['filter_holidays', true, false, 'x', 'bool_type'],
  ['max_wait_time', 60, 90, 'x', 'int_type'],
  ['queue_strategy', 'longest-idle-agent', 'random', 'whoever', 'enum'],
  ['wrap_up_time', 3, 0, 'x', 'int_type'],
  ['paused', false, true, 'x', 'bool_type'],
]

t.test('campaign fields of 2.6 have their defaults and types, and hold what is sent', async (t) => {
  const { status, body } = await ada.client.post('/api/v/campaign/', { body: { name: 'Plain' } })
  t.equal(status, 201)
  t.match(body, { name: 'Plain', agent_id: null, email: null, slug: 'plain' })
  for (const [field, otherwise, value, wrong, type] of CAMPAIGN) {
    t.same(body[field], otherwise, `${field} by default`)
    const changed = await ada.client.patch('/api/v/campaign/plain/', { body: { [field]: value } })
    t.same([changed.status, changed.body[field]], [200, value], field)
    const refused = await ada.client.patch('/api/v/campaign/plain/', { body: { [field]: wrong } })
    t.same([refused.status, faults(refused)], [422, [`${field}: ${type}`]], `${field} of another type`)
  }
  const named = { name: 'Named', agent_id: agent.agent_id, email: 'ada@example.com', workspace: ada.workspaceId }
  t.match((await ada.client.post('/api/v/campaign/', { body: named })).body, named)
  for (const interval of [1, 16]) {
    const refused = await ada.client.patch('/api/v/campaign/plain/', { body: { dialer_interval: interval } })
    t.equal(refused.status, 422, `dialer_interval ${interval}`)
  }
  t.equal((await ada.client.patch('/api/v/campaign/plain/', { body: { dialer_interval: 15 } })).status, 200)
  const put = await ada.client.put('/api/v/campaign/plain/', { body: { paused: true } })
  t.match(put, { status: 200, body: { paused: true, dialer_interval: 15 } })
  const status_ = await ada.client.get('/api/v/campaign/plain/status/')
  t.match(status_.body.status, /^(Running|Stopped|Completed|Inactive)$/)
})

t.test(
  'a campaign is Completed without prospects, Stopped with one that waits and Inactive where it is switched off',
  async (t) => {
    const { body: made } = await ada.client.post('/api/v/campaign/', { body: { name: 'States' } })
    const status = async () => (await ada.client.get('/api/v/campaign/states/status/')).body.status
    t.equal(await status(), 'Completed')
    const form = new FormData()
    form.set('primary_phone', '+14155550199')
    form.set('first_name', 'Ada')
    form.set('last_name', 'Lovelace')
    const added = await ada.client.post(`/api/v/prospect/${made.lists[0].list_uuid}/`, { form })
    t.match(added, { status: 201, body: { primary_phone: '+14155550199', first_name: 'Ada', last_name: 'Lovelace' } })
    t.equal(await status(), 'Stopped')
    await ada.client.patch('/api/v/campaign/states/', { body: { active: false } })
    t.equal(await status(), 'Inactive')
    t.equal((await ada.client.delete('/api/v/campaign/states/')).status, 200)
    t.equal((await ada.client.get('/api/v/campaign/states/')).status, 404)
  },
)

t.test('an upload answers with a message, and its retry with success', async (t) => {
  await ada.client.post('/api/v/campaign/', { body: { name: 'Loaded' } })
  const form = new FormData()
  form.set('original_data', new Blob(['primary_phone\n+14155550199\n']), 'list.csv')
  const { status, body } = await ada.client.post('/api/v/upload/loaded/', { form })
  t.equal(status, 201)
  t.type(body.message, 'string')
  for (const uuid of [body.uuid, body.list_uuid]) {
    const retried = await ada.client.post(`/api/v/upload/${uuid}/retry/`)
    t.same([retried.status, retried.body], [200, { success: false }])
  }
  await api.store.pool.query(`update prospect_uploads set status = 'failed' where id = $1`, [body.uuid])
  t.same((await ada.client.post(`/api/v/upload/${body.list_uuid}/retry/`)).body, { success: true })
})

t.test('lists of calls and chats come in the envelope of 2.10, page 1 of 25 by default', async (t) => {
  for (const path of ['/calls/logs', '/chats/logs']) {
    const { status, body } = await ada.client.get(path)
    t.same([status, body], [200, { items: [], total: 0, page: 1, page_size: 25, total_pages: 0 }], path)
    t.match((await ada.client.get(path, { query: { page: 2, page_size: 10 } })).body, { page: 2, page_size: 10 })
    t.same(faults(await ada.client.get(path, { query: { page: 'x' } })), ['page: int_type'])
  }
})

t.test('filters of calls, chats and reports are taken, and refused in another type', async (t) => {
  const taken = [
    ['/calls/logs', { call_type: 'phone', agent_id: agent.agent_id, start_date: '2026-01-01', end_date: '2026-02-01' }],
    ['/calls/logs', { call_type: 'web' }],
    ['/calls/export-csv', { call_type: 'web', agent_id: agent.agent_id, start_date: '2026-01-01T00:00:00Z' }],
    ['/chats/logs', { agent_id: agent.agent_id, session_id: 's' }],
    ['/reports/dashboard', { start_date: '2026-01-01', end_date: '2026-01-08', agent_id: agent.agent_id }],
    ['/reports/dashboard', { call_type: 'phone', interval: 'day' }],
    ['/reports/dashboard', { call_type: 'web', interval: 'hour' }],
    ['/reports/dashboard', { interval: 'week' }],
    ['/reports/dashboard', { interval: 'month' }],
    ['/reports/call-summary', { fields: 'total_calls,avg_tokens', agent_id: agent.agent_id }],
    ['/reports/disposition', { start_date: '2026-01-01' }],
    ['/reports/workload', {}],
  ] as const
  for (const [path, query] of taken) {
    t.equal((await ada.client.get(path, { query })).status, 200, `${path} ${JSON.stringify(query)}`)
  }
  for (const [path, query] of [
    ['/calls/logs', { call_type: 'fax' }],
    ['/calls/logs', { start_date: 'yesterday' }],
    ['/reports/dashboard', { interval: 'minute' }],
    ['/reports/dashboard', { end_date: 'soon' }],
    ['/reports/call-summary', { fields: 'happiness' }],
  ] as const) {
    t.equal((await ada.client.get(path, { query })).status, 422, `${path} ${JSON.stringify(query)}`)
  }
})

t.test('reports know every metric of 2.4', async (t) => {
  const metrics =
    'total_calls,total_duration,avg_duration,total_cost,cost_llm,cost_stt,cost_tts,platform_cost,total_tokens,avg_tokens'
  const { status, body } = await ada.client.get('/reports/call-summary', { query: { fields: metrics } })
  t.equal(status, 200)
  t.same(Object.keys(body).sort(), metrics.split(',').sort())
})

t.test('reads take a key; writes of agents do not', async (t) => {
  const id = agent.agent_id
  for (const path of [
    ...['/agents', `/agents/${id}`, '/calls/logs', '/calls/export-csv', '/chats/logs', '/batch'],
    ...['/reports/dashboard', '/reports/call-summary?fields=total_calls', '/reports/disposition', '/reports/workload'],
  ]) {
    t.equal((await key.get(path)).status, 200, path)
  }
  t.equal((await key.get('/calls/generate-token', { query: { phone: NUMBER, id: 'mine' } })).status, 200)
  const chat = { agent_id: id, message: 'Hello?' }
  t.equal((await key.post('/chats/interaction', { body: chat })).status, 200)
  const call = { agent_phone_number: NUMBER, phone_number_to_dial: '+14155550199', dynamic_variables: { name: 'Ada' } }
  t.match(await key.post('/calls/outbound_call', { body: call }), {
    ...{ status: 201, body: { dynamic_variables: { name: 'Ada' } } },
  })
  for (const [method, path] of [
    ['POST', '/agents'],
    ['PUT', `/agents/${id}`],
    ['DELETE', `/agents/${id}`],
    ['POST', `/agents/${id}/upload`],
  ] as const) {
    const refused = await key.request(method, path, { body: {} })
    t.same([refused.status, refused.body.detail], [401, 'Invalid or missing token'], `${method} ${path}`)
  }
})

t.test('a single call has the schema of an item of the list, and a single chat its history', async (t) => {
  const { body: logs } = await ada.client.get('/calls/logs')
  const [item] = logs.items
  const { body: one } = await ada.client.get(`/calls/${item.call_log_id}`)
  t.same(Object.keys(one).sort(), Object.keys(item).sort())
  const { body: said } = await ada.client.post('/chats/interaction', {
    body: { agent_id: agent.agent_id, message: 'Hi' },
  })
  const { body: chat } = await ada.client.get(`/chats/${said.chat_id}`)
  t.equal(chat.chat_id, said.chat_id)
  t.equal(chat.messages.length, 2)
})

t.test('a body of JSON, a form and a CSV have their content types', async (t) => {
  const created = await ada.client.post('/workspaces', { body: { name: 'Sales & Co', type: 'team' } })
  t.match(created.headers.get('content-type'), /^application\/json/)
  t.match(created.body, { name: 'Sales & Co', type: 'team', role: 'admin' })
  t.match(created.body.slug, /^[a-z0-9-]+$/)
  t.match((await ada.client.get('/calls/export-csv')).headers.get('content-type'), /^text\/csv/)
  const refused = await ada.client.post('/agents', { body: '{}', headers: { 'content-type': 'text/plain' } })
  t.equal(refused.status, 400)
})

t.test('the header X-Workspace-Id selects the workspace; without it the current one is meant', async (t) => {
  const { body: other } = await ada.client.post('/workspaces', { body: { name: 'Other', type: 'team' } })
  const at = { headers: { 'x-workspace-id': other.workspace_id } }
  t.same((await ada.client.get('/agents', at)).body, [])
  t.ok((await ada.client.get('/agents')).body.length > 0)
  const switched = await ada.client.post(`/workspaces/${other.workspace_id}/switch`)
  t.equal(switched.status, 200)
  t.equal((await ada.client.get('/auth/me')).body.current_workspace_id, other.workspace_id)
  t.same((await ada.client.get('/agents')).body, [])
  await ada.client.post(`/workspaces/${ada.workspaceId}/switch`)
})
