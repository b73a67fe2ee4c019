import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { startTestApi, type TestApi, type TestUser } from '../../support/instance/api.ts'

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
  t.equal(body.realtime_url, `ws://${new URL(api.url).host}/realtime?token=${body.token}`)
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
    recording_url: new RegExp(`^http://(localhost|127\\.0\\.0\\.1):${new URL(api.url).port}/calls/${id}/recording$`),
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
    const ofNobody = { query: { agent_id: '00000000-0000-0000-0000-000000000000' } }
    t.match((await client.get('/calls/logs', ofNobody)).body, { total: 0, items: [] }, 'no agent has the id of all')
  }
  for (const path of [`/calls/${id}`, '/calls/logs', '/calls/generate-token']) {
    t.equal((await api.client().get(path)).status, 401)
  }
})

t.test('calls are found by status, direction, number, batch, campaign and disposition', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const agent_id = await makeAgent(ada)
  const { db } = api.store.tenant(ada.workspaceId)
  const batch_id = uuidv7()
  const base = {
    agent_id,
    agent_name: 'Reception',
    call_type: 'phone',
    direction: 'outbound',
    status: 'completed',
  } as const
  const calls = [
    { ...base, from_number: '+14155550100', to_number: '+14155550199', disposition: 'voicemail', batch_id },
    { ...base, status: 'busy', from_number: '+14155550100', to_number: '+14155550198', disposition: 'busy' },
    { ...base, direction: 'inbound', from_number: '+14155550199', to_number: '+14155550100', disposition: 'completed' },
    { ...base, status: 'queued', to_number: '+14155550197', campaign_slug: 'spring' },
  ] as const
  const ids = calls.map(() => uuidv7())
  for (const [i, call] of calls.entries()) {
    await db
      .insertInto('calls')
      .values({ id: ids[i]!, ...call, created_at: new Date(1_700_000_000_000 + i) })
      .execute()
  }
  const found = async (query: Record<string, string | number>) => {
    const { status, body } = await ada.client.get('/calls/logs', { query })
    if (status !== 200) return status
    const items = body.items.map(({ call_log_id }: { call_log_id: string }) => ids.indexOf(call_log_id))
    return [body.total, ...items]
  }
  t.same(await found({ status: 'completed' }), [2, 2, 0])
  t.same(await found({ status: 'queued' }), [1, 3])
  t.same(await found({ direction: 'inbound' }), [1, 2])
  t.same(await found({ number: '+1 (415) 555-0199' }), [2, 2, 0])
  for (const part of ['5550199', '(415) 555-0199', '550199']) t.same(await found({ number: part }), [2, 2, 0], part)
  t.same(await found({ number: '01' }), [0], 'two digits are no search')
  t.same(await found({ batch_id }), [1, 0])
  t.same(await found({ batch_id: 'none' }), [0])
  t.same(await found({ campaign: 'spring' }), [1, 3])
  t.same(await found({ disposition: 'voicemail', direction: 'outbound' }), [1, 0])
  t.same(await found({ status: 'completed', page: 2, page_size: 1 }), [2, 0])
  t.same(await found({ status: 'completed', start_date: '2030-01-01' }), [0])
  t.equal(await found({ status: 'gone' }), 422)
  const { text } = await ada.client.get('/calls/export-csv', { query: { disposition: 'busy' } })
  t.equal(text.trim().split('\r\n').length, 2)
})

t.test('a list cuts large fields at 32 KiB and says so; the call itself has all of them', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const agent_id = await makeAgent(ada)
  const { db } = api.store.tenant(ada.workspaceId)
  const id = uuidv7()
  const variables = { a: 'short', b: 'é'.repeat(50_000), c: 'lost' }
  await db
    .insertInto('calls')
    .values({
      ...{ id, agent_id, agent_name: 'Reception', call_type: 'phone', direction: 'outbound', status: 'completed' },
      dynamic_variables: JSON.stringify(variables),
    } as never)
    .execute()
  const said = (seq: number, text: string) => ({
    call_id: id,
    seq,
    role: 'user' as const,
    text,
    start_ms: 0,
    end_ms: 1,
  })
  await db
    .insertInto('call_turns')
    .values([said(0, 'Hello.'), said(1, 'ü'.repeat(30_000)), said(2, 'Bye.')])
    .execute()
  const { body } = await ada.client.get('/calls/logs')
  const [item] = body.items
  t.same(item.truncated, ['dynamic_variables', 'transcript'])
  t.equal(item.dynamic_variables.a, 'short')
  t.ok(item.dynamic_variables.b.length > 10_000 && Buffer.byteLength(item.dynamic_variables.b) < 80_000)
  t.equal(item.transcript.length, 2)
  t.ok(Buffer.byteLength(item.transcript[1].text) <= 32 * 1024)
  const { body: whole } = await ada.client.get(`/calls/${id}`)
  t.same(whole.dynamic_variables, variables)
  t.equal(whole.transcript.length, 3)
  t.equal(whole.truncated, undefined)
})

t.test('a session token takes variables, as a JSON object in the query', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const agent_id = await makeAgent(ada)
  const ask = (variables: string) => ada.client.get('/calls/generate-token', { query: { agent_id, variables } })
  const { status, body } = await ask('{"first_name":"Grace"}')
  t.equal(status, 200)
  const call = await ada.client.get(`/calls/${body.call_log_id}`)
  t.same(call.body.dynamic_variables, { first_name: 'Grace' })
  for (const wrong of ['first_name=Grace', '["Grace"]', '{"n":1}']) {
    t.match(await ask(wrong), { status: 422, body: { detail: [{ loc: ['query', 'variables'] }] } }, wrong)
  }
})
