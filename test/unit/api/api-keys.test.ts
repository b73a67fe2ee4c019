import { createHash } from 'node:crypto'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { ApiClient, startTestApi } from '../../support/instance/api.ts'

t.test('a key is shown once, works in its workspace, notes its use and stops when deleted', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const made = await ada.client.post('/api-keys', { body: { name: 'CRM' } })
  t.equal(made.status, 201)
  t.same(Object.keys(made.body).sort(), ['created_at', 'expires_at', 'id', 'key', 'name', 'prefix', 'scopes'])
  t.ok(made.body.key.startsWith(made.body.prefix))
  const before = await ada.client.get('/api-keys')
  t.match(before.body, [{ id: made.body.id, name: 'CRM', prefix: made.body.prefix, last_used_at: null }])
  t.notOk('key' in before.body[0])
  const { key_hash } = await api.store.acrossTenants.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow()
  t.same(key_hash, createHash('sha256').update(made.body.key).digest())

  const client = new ApiClient(api.url, { 'x-api-key': made.body.key })
  t.equal((await client.get('/agents')).status, 200)
  t.type((await ada.client.get('/api-keys')).body[0].last_used_at, 'string')

  const deleted = await ada.client.delete(`/api-keys/${made.body.id}`)
  t.same([deleted.status, deleted.body], [200, { detail: 'API key deleted' }])
  const refused = await client.get('/agents')
  t.same([refused.status, refused.body], [401, { detail: 'Invalid API key' }])
})

t.test('keys are for Admins of the workspace alone', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const stranger = await api.signUp()
  const { body: key } = await ada.client.post('/api-keys', { body: { name: 'CRM' } })
  for (const role of ['member', 'developer'] as const) {
    const { client } = await api.member(ada, role)
    for (const answer of [
      await client.get('/api-keys'),
      await client.post('/api-keys', { body: {} }),
      await client.delete(`/api-keys/${key.id}`),
    ]) {
      t.same([answer.status, answer.body], [403, { detail: 'Admin access required' }])
    }
  }
  for (const answer of [
    await stranger.client.delete(`/api-keys/${key.id}`),
    await ada.client.delete(`/api-keys/${uuidv7()}`),
    await ada.client.delete('/api-keys/garbage'),
  ]) {
    t.same([answer.status, answer.body], [404, { detail: 'API key not found' }])
  }
  t.same((await stranger.client.get('/api-keys')).body, [])
  t.equal((await (await api.keyClient(ada)).get('/api-keys')).status, 401)
  t.match((await ada.client.post('/api-keys', { body: {} })).body.detail, [{ loc: ['body', 'name'], type: 'missing' }])
})

t.test('a key does what its scopes allow, and is told which one is missing', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const body = { agent_name: 'Ada', system_prompt: 'You answer.' }
  const plain = await api.keyClient(ada)
  const refused = await plain.post('/agents', { body })
  t.same([refused.status, refused.body], [401, { detail: 'Invalid or missing token' }])
  t.equal(refused.headers.get('x-required-scope'), 'agents')

  const builder = await api.keyClient(ada, ['agents', 'numbers'])
  const agent = await builder.post('/agents', { body })
  t.equal(agent.status, 201)
  const number = { phone_number: '+14155550100', provider: 'sim', agent_id: agent.body.agent_id }
  t.equal((await builder.post('/phone-numbers', { body: number })).status, 201)
  t.equal((await builder.delete(`/agents/${agent.body.agent_id}`)).status, 401, 'what needs an Admin takes no key')
  const unread = await builder.get('/agents')
  t.same([unread.status, unread.headers.get('x-required-scope')], [401, 'read'])
  const wrong = await ada.client.post('/api-keys', { body: { name: 'x', scopes: ['all'] } })
  t.match([wrong.status, wrong.body], [422, { detail: [{ loc: ['body', 'scopes', '0'], type: 'enum' }] }])
})

t.test('a key is also taken as a bearer token; the cookie goes first where the endpoint is the user’s', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const { body } = await ada.client.post('/api-keys', { body: { name: 'CRM' } })
  const bearer = new ApiClient(api.url, { authorization: `Bearer ${body.key}` })
  t.equal((await bearer.get('/agents')).status, 200)
  t.equal((await new ApiClient(api.url, { authorization: 'Bearer pb_nothing' }).get('/agents')).status, 401)
  t.equal((await new ApiClient(api.url, { authorization: 'Basic x' }).get('/agents')).status, 401)
  const both = await ada.client.post('/agents', {
    body: { agent_name: 'Ada', system_prompt: 'You answer.' },
    headers: { 'x-api-key': body.key },
  })
  t.equal(both.status, 201)
})

t.test('a key ends at its time, and a rotated one after its grace', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const past = await ada.client.post('/api-keys', { body: { name: 'x', expires_at: '2020-01-01T00:00:00Z' } })
  t.match([past.status, past.body], [422, { detail: [{ loc: ['body', 'expires_at'] }] }])
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const made = await ada.client.post('/api-keys', { body: { name: 'CRM', scopes: ['read'], expires_at } })
  t.equal(made.body.expires_at, expires_at)
  const status = async (key: string) => (await new ApiClient(api.url, { 'x-api-key': key }).get('/agents')).status
  t.equal(await status(made.body.key), 200)

  const next = await ada.client.post(`/api-keys/${made.body.id}/rotate`, { body: { grace_s: 600 } })
  t.match(next.body, { name: 'CRM', scopes: ['read'], expires_at })
  t.same([await status(made.body.key), await status(next.body.key)], [200, 200])
  const again = await ada.client.post(`/api-keys/${made.body.id}/rotate`, { body: { grace_s: 0 } })
  t.same([await status(made.body.key), await status(again.body.key)], [401, 200])
  await api.store.pool.query(`update api_keys set expires_at = now() - interval '1 s'`)
  t.equal(await status(next.body.key), 401)
})
