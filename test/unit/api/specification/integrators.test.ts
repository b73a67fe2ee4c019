import t from 'tap'
import { ApiClient, startTestApi } from '../../../support/instance/api.ts'

/** What programs that use the API rely on, beyond the specification. */

const AGENT = { agent_name: 'Ada', system_prompt: 'You answer.' }

t.test('an error has a code, the id of its request and what fills its sentence', async (t) => {
  const api = await startTestApi(t)
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
  const api = await startTestApi(t)
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
  const api = await startTestApi(t)
  const { body: document } = await api.client().get('/openapi.json')
  const text = JSON.stringify(document)
  t.notMatch(text, /patternProperties":\{"\^\.\*\$"/, 'maps are additionalProperties')
  const enums: string[] = []
  const walk = (at: unknown, path: string): void => {
    if (typeof at !== 'object' || at === null) return
    const one = at as Record<string, unknown>
    if (Array.isArray(one.enum) && one.type === undefined && !path.includes('/example')) enums.push(path)
    if (Array.isArray(one.anyOf) && typeof one.default === 'object' && one.default !== null) enums.push(`${path} default`)
    for (const [key, value] of Object.entries(one)) walk(value, `${path}/${key}`)
  }
  walk(document, '')
  t.same(enums, [], 'every enum has its type, and no object is a default beside null')
  t.same(document.paths['/agents'].post.security[0], { apiKey: [] }, 'the key comes before the cookie')
  const upload = document.paths['/batch/upload'].post.requestBody.content['multipart/form-data'].schema.$ref
  t.match(document.components.schemas[upload.split('/').pop()].properties.file, { format: 'binary' })
  for (const [type, { post }] of Object.entries(document.webhooks) as [string, { post: Record<string, never> }][]) {
    t.match(post, { tags: ['Webhook events'], requestBody: { content: { 'application/json': { schema: { $ref: /Event$/ } } } } }, type)
  }
  const { WebhookEvent } = document.components.schemas
  t.equal(WebhookEvent.oneOf.length, Object.keys(document.webhooks).length)
  t.equal(WebhookEvent.discriminator.mapping['call.ended'], '#/components/schemas/CallEndedEvent')
  t.match(document.components.schemas.CallEndedEvent.properties.data, { $ref: '#/components/schemas/Call' })
  const names = document.paths['/events'].get.parameters.map(({ name }: { name: string }) => name)
  t.ok(names.includes('Last-Event-ID'))
})
