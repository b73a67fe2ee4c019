import t from 'tap'
import { noteHealth } from '../../../../store/events/webhook-deliveries.ts'
import { ApiClient, startTestApi } from '../../../support/instance/api.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

/** What programs that use the API rely on, beyond the specification. */

const AGENT = { agent_name: 'Ada', system_prompt: 'You answer.' }

t.test('an error has a code, the id of its request and what fills its sentence', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${api.url}${path}`, init)
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> }
  }
  const missing = await ask('/nowhere', { headers: { 'x-request-id': 'mine-7' } })
  t.same(missing.body, { detail: 'Not Found', code: 'not_found', request_id: 'mine-7', params: {} })
  const none = await ask('/agents')
  t.match(none, { status: 401, body: { code: 'invalid_token', request_id: none.headers.get('x-request-id') } })
  t.equal(none.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
  const { headers } = await api.keyClient(ada)
  const scope = await ask('/agents', {
    ...{ method: 'POST', body: '{}', headers: { ...headers, 'content-type': 'application/json' } },
  })
  t.match(scope, {
    status: 401,
    body: { detail: 'Invalid or missing token', code: 'insufficient_scope', params: { scope: 'agents' } },
  })
  t.equal(scope.headers.get('www-authenticate'), 'Bearer error="insufficient_scope", scope="agents"')
  t.match((await ask('/api-keys', { headers })).body, { code: 'key_not_allowed', detail: 'Invalid or missing token' })
  const fault = await ask('/calls/logs?page=0', { headers })
  t.match(fault.body, { code: 'validation', detail: [{ loc: ['query', 'page'] }], params: {} })
})

t.test('a cookie that is no valid token leaves the request to the key; a good one is the user’s', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const { headers } = await api.keyClient(ada, ['read', 'agents'])
  const key = headers['x-api-key'] ?? headers.authorization ?? ''
  const post = (cookie: string) => new ApiClient(api.url, headers).post('/agents', { body: AGENT, headers: { cookie } })
  t.equal((await post(`access_token=${key}`)).status, 201, 'as generated clients send it')
  t.equal((await post('access_token=expired')).status, 201)
  const audited = await post(`access_token=${ada.client.cookies.get('access_token')}`)
  t.equal(audited.status, 201)
  const { body } = await ada.client.get('/audit-log')
  t.match(JSON.stringify(body.items[0]), new RegExp(ada.id), 'the last was hers')
})

t.test('the document has what generators of clients need', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { body: document } = await api.client().get('/openapi.json')
  const text = JSON.stringify(document)
  t.notMatch(text, /patternProperties":\{"\^\.\*\$"/, 'maps are additionalProperties')
  const enums: string[] = []
  const walk = (at: unknown, path: string): void => {
    if (typeof at !== 'object' || at === null) return
    const one = at as Record<string, unknown>
    if (Array.isArray(one.enum) && one.type === undefined && !path.includes('/example')) enums.push(path)
    if (Array.isArray(one.anyOf) && typeof one.default === 'object' && one.default !== null)
      enums.push(`${path} default`)
    for (const [key, value] of Object.entries(one)) walk(value, `${path}/${key}`)
  }
  walk(document, '')
  t.same(enums, [], 'every enum has its type, and no object is a default beside null')
  t.same(document.paths['/agents'].post.security[0], { apiKey: [] }, 'the key comes before the cookie')
  const upload = document.paths['/batch/upload'].post.requestBody.content['multipart/form-data'].schema.$ref
  t.match(document.components.schemas[upload.split('/').pop()].properties.file, { format: 'binary' })
  for (const [type, { post }] of Object.entries(document.webhooks) as [string, { post: Record<string, never> }][]) {
    t.match(
      post,
      { tags: ['Webhook events'], requestBody: { content: { 'application/json': { schema: { $ref: /Event$/ } } } } },
      type,
    )
  }
  const { WebhookEvent } = document.components.schemas
  t.equal(WebhookEvent.oneOf.length, Object.keys(document.webhooks).length)
  t.equal(WebhookEvent.discriminator.mapping['call.ended'], '#/components/schemas/CallEndedEvent')
  t.match(document.components.schemas.CallEndedEvent.properties.data, { $ref: '#/components/schemas/Call' })
  const names = document.paths['/events'].get.parameters.map(({ name }: { name: string }) => name)
  t.ok(names.includes('Last-Event-ID'))
})

t.test('events are read as JSON after a place, an event or a time, and a wrong place is said', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const json = { headers: { accept: 'application/json' } }
  const read = (query: Record<string, string>, headers: Record<string, string> = {}) =>
    ada.client.get('/events', { query, headers: { ...json.headers, ...headers } })
  const started = new Date()
  for (let i = 0; i < 5; i++) await ada.client.post('/agents', { body: { ...AGENT, agent_name: `Ada ${i}` } })
  // An event is read once all transactions that are older are over.
  let all: Awaited<ReturnType<typeof read>>['body']
  await waitUntil(async () => {
    ;({ body: all } = await read({ after: '0-0', types: 'agent.*' }))
    return all.items.length >= 5
  })
  t.equal(all.items.length, 5)
  t.match(all, { has_more: false, next: /^\d+-\d+$/ })
  const ids = all.items.map(({ id }: { id: string }) => id)
  const two = await read({ after: '0-0', types: 'agent.*', limit: '2' })
  t.same(
    two.body.items.map(({ id }: { id: string }) => id),
    ids.slice(0, 2),
  )
  t.equal(two.body.has_more, true)
  const rest = await read({ after: two.body.next, types: 'agent.*' })
  t.same(
    rest.body.items.map(({ id }: { id: string }) => id),
    ids.slice(2),
    'none missed, none twice',
  )
  const byId = await read({ after: ids[1], types: 'agent.*' })
  t.same(
    byId.body.items.map(({ id }: { id: string }) => id),
    ids.slice(2),
    'the id that webhooks get is a place, too',
  )
  const since = await read({ since: started.toISOString(), types: 'agent.*' })
  t.equal(since.body.items.length, 5)
  t.same((await read({ after: all.next })).body, { items: [], next: all.next, has_more: false })
  for (const wrong of ['abc', '4362', '0197f3a2-7c1e-7000-8000-00000000dead']) {
    const old = wrong.startsWith('0197')
    const refused = await read({}, { 'last-event-id': wrong })
    t.equal(refused.status, old ? 410 : 422, wrong)
    if (!old) t.match(refused.body.detail[0], { loc: ['header', 'Last-Event-ID'] })
    const stream = await ada.client.get('/events', { query: { wait_s: 0 }, headers: { 'last-event-id': wrong } })
    t.equal(stream.status, old ? 410 : 422, `${wrong} as a stream`)
  }
  const eve = await api.signUp('Eve')
  const foreign = await eve.client.get('/events', { query: { after: ids[0] }, ...json })
  t.equal(foreign.status, 422, 'an event of another workspace is no place')
})

t.test('a key may ask who it is, and with a scope that an Admin gives it manage webhooks and delete', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const calls = await api.keyClient(ada, ['calls'])
  const current = await calls.get('/api-keys/current')
  t.match(current, { status: 200, body: { scopes: ['calls'], workspace_id: ada.workspaceId, expires_at: null } })
  t.notOk('key' in current.body)
  t.equal((await ada.client.get('/api-keys/current')).status, 404)
  const hook = { url: 'https://example.com/hook', types: ['call.*'] }
  const without = await calls.post('/webhooks', { body: hook })
  t.match(without, { status: 401, code: 'insufficient_scope', params: { scope: 'webhooks' } })
  const key = await api.keyClient(ada, ['read', 'webhooks'])
  const made = await key.post('/webhooks', { body: hook })
  t.equal(made.status, 201)
  const path = `/webhooks/${made.body.webhook_id}`
  t.equal((await key.get(`${path}/deliveries`)).status, 200)
  t.match(await key.post(`${path}/recover`, { body: { since: '2026-01-01' } }), { status: 200 })
  t.equal((await key.delete(path)).status, 200)
  const { body: agent } = await ada.client.post('/agents', { body: AGENT })
  t.equal((await key.delete(`/agents/${agent.agent_id}`)).status, 401)
  const remover = await api.keyClient(ada, ['delete'])
  t.equal((await remover.delete(`/agents/${agent.agent_id}`)).status, 200)
  const privacy = await api.keyClient(ada, ['privacy'])
  t.equal((await privacy.post('/privacy/erase', { body: { phone_number: '+14155550199' } })).status, 200)
})

t.test('recover sends what waits for another attempt, and a success brings the others forward', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const { body: hook } = await ada.client.post('/webhooks', {
    body: { url: 'https://example.com/h', types: ['agent.*'] },
  })
  const deliver = async (n: number, status: string, inMinutes: number) => {
    await api.store.pool.query(
      `insert into webhook_deliveries (workspace_id, webhook_id, event_id, event_at, type, status, attempts, next_attempt_at)
       select workspace_id, $1, id, created_at, type, $2, 2, now() + $3 * interval '1 minute' from workspace_events
       where workspace_id = $4 and type = 'agent.changed' order by seq offset $5 limit 1`,
      [hook.webhook_id, status, inMinutes, ada.workspaceId, n],
    )
  }
  const since = new Date(Date.now() - 60_000).toISOString()
  for (let i = 0; i < 4; i++) await ada.client.post('/agents', { body: AGENT })
  await deliver(0, 'pending', 300)
  await deliver(1, 'failed', 0)
  await deliver(2, 'delivered', 0)
  await deliver(3, 'pending', 0.2)
  const recovered = await ada.client.post(`/webhooks/${hook.webhook_id}/recover`, { body: { since } })
  t.same(recovered.body, { deliveries: 2 }, 'the one that waits and the one that failed; not the one under way')
  const due = async () =>
    (
      await api.store.pool.query(
        `select count(*)::int as n from webhook_deliveries where status = 'pending' and next_attempt_at <= now()`,
      )
    ).rows[0].n
  t.equal(await due(), 2)
  await api.store.pool.query(
    `update webhook_deliveries set attempts = 2, next_attempt_at = now() + interval '5 hours' where status = 'pending'`,
  )
  await noteHealth(api.store, hook.webhook_id, false, new Date())
  t.equal(await due(), 3)
})

t.test(
  'a filter that is given several times takes any of the values; a field that holds one is not given two',
  async (t) => {
    const api = await startTestApi(t, { nodes: 2 })
    const ada = await api.signUp()
    for (const status of ['completed', 'failed', 'busy']) {
      await api.store.pool.query(
        `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, created_at, ended_at)
       values (gen_random_uuid(), $1, gen_random_uuid(), 'Ada', 'phone', 'outbound', $2, now(), now())`,
        [ada.workspaceId, status],
      )
    }
    const statuses = async (query: string) =>
      (await ada.client.get(`/calls/logs?${query}`)).body.items.map(({ status }: { status: string }) => status).sort()
    t.same(await statuses('status=completed&status=failed'), ['completed', 'failed'])
    t.same(await statuses('status=busy'), ['busy'])
    const wrong = await ada.client.get('/calls/logs?status=busy&status=lazy')
    t.match(wrong, { status: 422, body: { detail: [{ type: 'enum' }] } })
    const twice = await ada.client.get('/calls/logs?page=1&page=2')
    t.match(twice, { status: 422, body: { detail: [{ loc: ['query', 'page'], type: 'value_error' }] } })
    t.equal((await ada.client.get('/calls/logs?page=1&page=1')).status, 200)
  },
)

t.test('HEAD makes nothing: a read that has an effect does not know it', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const { body: agent } = await ada.client.post('/agents', { body: AGENT })
  const head = await ada.client.request('HEAD', `/calls/generate-token?agent_id=${agent.agent_id}`)
  t.same([head.status, head.headers.get('allow')], [405, 'GET'])
  t.equal((await ada.client.get('/calls/logs')).body.total, 0)
  t.equal((await ada.client.request('HEAD', '/calls/logs')).status, 200)
})
