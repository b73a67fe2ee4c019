import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { startTestApi, type TestApi, type TestUser } from '../support/api.ts'

async function makeAgent({ client }: TestUser): Promise<string> {
  const { body } = await client.post('/agents', { body: { agent_name: 'Reception', system_prompt: 'You answer.' } })
  return body.agent_id
}

/** Gives the agent a number. */
async function register(api: TestApi, user: TestUser, agentId: string, number: string): Promise<void> {
  await api.store
    .tenant(user.workspaceId)
    .db.insertInto('phone_numbers')
    .values({ phone_number: number, agent_id: agentId, provider: 'sim' })
    .execute()
}

t.test('a session token names an agent by id or number and makes a queued call', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const agentId = await makeAgent(ada)
  await register(api, ada, agentId, '+14155550177')
  const { status, body } = await ada.client.get('/calls/generate-token', { query: { agent_id: agentId, id: 's1' } })
  t.equal(status, 200)
  t.same(Object.keys(body).sort(), [
    'agent_id',
    'call_log_id',
    'expires_at',
    'realtime_url',
    'session_id',
    'token',
    'webrtc',
  ])
  t.match(body, { agent_id: agentId, session_id: 's1', token: /^[\w-]{43}$/ })
  t.equal(body.realtime_url, `ws://localhost:${new URL(api.url).port}/realtime?token=${body.token}`)
  t.ok(Math.abs(Date.parse(body.expires_at) - Date.now() - 600_000) < 60_000)
  const call = await ada.client.get(`/calls/${body.call_log_id}`)
  t.match(call.body, {
    call_log_id: body.call_log_id,
    workspace_id: ada.workspaceId,
    agent_id: agentId,
    agent_name: 'Reception',
    call_type: 'web',
    status: 'queued',
    duration: null,
    transcript: [],
    cost: { total_cost: null },
    latency: { turns: 0, p50_ms: null, p95_ms: null },
  })

  const byNumber = await ada.client.get('/calls/generate-token', { query: { phone: '+1 415 555 0177' } })
  t.same([byNumber.status, byNumber.body.agent_id], [200, agentId])
  t.not(byNumber.body.session_id, 's1')

  const again = await ada.client.get('/calls/generate-token', { query: { agent_id: agentId, id: 's1' } })
  t.same([again.status, again.body], [409, { detail: 'Session already exists' }])
  await api.store.pool.query(`update calls set status = 'completed' where session_id = 's1'`)
  const reused = await ada.client.get('/calls/generate-token', { query: { agent_id: agentId, id: 's1' } })
  t.equal(reused.status, 200, 'the id is free when its session is over')
  await api.store.pool.query(`update calls set created_at = now() - interval '11 minutes' where session_id = 's1'`)
  const expired = await ada.client.get('/calls/generate-token', { query: { agent_id: agentId, id: 's1' } })
  t.equal(expired.status, 200, 'and when its token expired unused')
  t.match((await ada.client.get(`/calls/${reused.body.call_log_id}`)).body, { status: 'canceled' })

  const stranger = await api.signUp()
  const theirs = await makeAgent(stranger)
  t.equal((await stranger.client.get('/calls/generate-token', { query: { agent_id: theirs, id: 's1' } })).status, 200)
})

t.test('a session token for nobody', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const stranger = await api.signUp()
  const theirs = await makeAgent(stranger)
  await register(api, stranger, theirs, '+14155550178')
  const token = async (query: Record<string, string>) => {
    const { status, body } = await ada.client.get('/calls/generate-token', { query })
    return `${status} ${body.detail}`
  }
  t.equal(await token({}), '400 Invalid phone number format')
  t.equal(await token({ phone: '' }), '400 Invalid phone number format')
  t.equal(await token({ phone: 'call me' }), '400 Invalid phone number format')
  t.equal(await token({ phone: '+14155550179' }), '404 Agent not found')
  t.equal(await token({ phone: '+14155550178' }), '404 Agent not found', 'another workspace’s number')
  t.equal(await token({ agent_id: theirs }), '404 Agent not found')
  t.equal(await token({ agent_id: uuidv7() }), '404 Agent not found')
  t.equal(await token({ agent_id: 'garbage' }), '404 Agent not found')
  t.equal((await ada.client.get('/calls/generate-token', { query: { agent_id: theirs, id: '' } })).status, 422)
  t.equal((await ada.client.get('/calls/logs')).body.total, 0)
})

t.test('a finished call shows what was said, used and paid', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const agentId = await makeAgent(ada)
  const { body: token } = await ada.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const id = token.call_log_id
  await api.store.pool.query(
    `update calls set status = 'completed', end_reason = 'caller_hangup', disposition = 'completed',
      created_at = '2026-01-31T09:00:00Z', answered_at = '2026-01-31T09:00:01.2Z', ended_at = '2026-01-31T09:00:41.7Z',
      duration_ms = 40500, llm_input_tokens = 200, llm_output_tokens = 28, stt_seconds = 3.5, tts_characters = 64,
      cost_llm = 0.01, cost_stt = 0.02, cost_tts = 0.03, platform_cost = 0, turn_latencies_ms = '{900,500,700}',
      dynamic_variables = '{"name":"Ada"}', recording_key = 'k' where id = $1`,
    [id],
  )
  await api.store
    .tenant(ada.workspaceId)
    .db.insertInto('call_turns')
    .values([
      { call_id: id, seq: 1, role: 'user', text: 'When do you open?', start_ms: 2600, end_ms: 3500 },
      { call_id: id, seq: 0, role: 'assistant', text: 'Hello', start_ms: 120, end_ms: 900, interrupted: true },
    ])
    .execute()
  const { body } = await ada.client.get(`/calls/${id}`)
  t.match(body, {
    created_at: '2026-01-31T09:00:00.000Z',
    answered_at: '2026-01-31T09:00:01.200Z',
    ended_at: '2026-01-31T09:00:41.700Z',
    duration: 40.5,
    dynamic_variables: { name: 'Ada' },
    recording_url: `http://localhost:${new URL(api.url).port}/calls/${id}/recording`,
    transcript: [
      { role: 'assistant', text: 'Hello', start_ms: 120, end_ms: 900, interrupted: true },
      { role: 'user', text: 'When do you open?', start_ms: 2600, end_ms: 3500, interrupted: false },
    ],
    usage: { llm_input_tokens: 200, llm_output_tokens: 28, stt_seconds: 3.5, tts_characters: 64, total_tokens: 228 },
    cost: { cost_llm: 0.01, cost_stt: 0.02, cost_tts: 0.03, platform_cost: 0, total_cost: 0.06 },
    latency: { turns: 3, p50_ms: 700, p95_ms: 900 },
  })
  const { body: page } = await ada.client.get('/calls/logs')
  t.same(page, { items: [body], total: 1, page: 1, page_size: 25, total_pages: 1 })

  await ada.client.delete(`/agents/${agentId}`)
  t.match((await ada.client.get(`/calls/${id}`)).body, { agent_id: agentId, agent_name: 'Reception' })

  const stranger = await api.signUp()
  t.equal((await stranger.client.get('/calls/logs')).body.total, 0)
  for (const answer of [
    await stranger.client.get(`/calls/${id}`),
    await ada.client.get(`/calls/${uuidv7()}`),
    await ada.client.get('/calls/garbage'),
  ]) {
    t.same([answer.status, answer.body], [404, { detail: 'Call log not found' }])
  }
  const { client: member } = await api.member(ada, 'member')
  for (const client of [member, await api.keyClient(ada)]) {
    t.equal((await client.get(`/calls/${id}`)).status, 200)
    t.equal((await client.get('/calls/logs')).body.total, 1)
  }
  for (const path of [`/calls/${id}`, '/calls/logs', '/calls/generate-token']) {
    t.equal((await api.client().get(path)).status, 401)
  }
})
