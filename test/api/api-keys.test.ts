import { createHash } from 'node:crypto'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { ApiClient, startTestApi } from '../support/api.ts'

t.test('a key is shown once, works in its workspace, notes its use and stops when deleted', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const made = await ada.client.post('/api-keys', { body: { name: 'CRM' } })
  t.equal(made.status, 201)
  t.same(Object.keys(made.body).sort(), ['created_at', 'id', 'key', 'name', 'prefix'])
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
