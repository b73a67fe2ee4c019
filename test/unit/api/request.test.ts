import { Writable } from 'node:stream'
import t from 'tap'
import { errorReply } from '../../../api/http/reply.ts'
import type { AnyRoute } from '../../../api/route.ts'
import { PatchbayError } from '../../../runtime/lib/errors.ts'
import { createLogger } from '../../../runtime/process/log.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { openRaw } from '../../support/world/raw-http.ts'

const AGENT = { agent_name: 'Reception', system_prompt: 'You answer the phone.' }
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

t.test('unknown paths and methods', async (t) => {
  const api = await startTestApi(t)
  const client = api.client()
  for (const path of ['/', '/nothing', '/agents/', '/agents/a/b', '/AGENTS', '/agents//', '/auth', '/%61gents']) {
    const answer = await client.get(path)
    t.same([answer.status, answer.body], [404, { detail: 'Not Found' }], path)
    t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  }
  for (const [method, path, allow] of [
    ['DELETE', '/agents', 'GET, HEAD, POST'],
    ['POST', '/agents/x', 'DELETE, GET, HEAD, PATCH, PUT'],
    ['GET', '/auth/login', 'POST'],
    ['OPTIONS', '/health', 'GET, HEAD'],
  ] as const) {
    const answer = await client.request(method, path)
    t.same([answer.status, answer.body, answer.headers.get('allow')], [405, { detail: 'Method Not Allowed' }, allow])
  }
  t.equal((await client.request('HEAD', '/health')).status, 200)
})

t.test('every answer carries a request id, the caller’s own when it is fit to be echoed', async (t) => {
  const api = await startTestApi(t)
  const client = api.client()
  const id = async (path: string, sent?: string) =>
    (await client.get(path, sent === undefined ? {} : { headers: { 'x-request-id': sent } })).headers.get(
      'x-request-id',
    )
  for (const path of ['/health', '/nothing', '/agents', '/docs', '/openapi.json']) {
    t.equal(await id(path, 'my-id_1'), 'my-id_1')
    t.match(await id(path), UUID)
  }
  t.match(await id('/health', 'a b'), UUID)
  t.match(await id('/health', 'x'.repeat(129)), UUID)
  t.equal((await client.post('/health', { headers: { 'x-request-id': 'r' } })).headers.get('x-request-id'), 'r')
})

t.test('malformed bodies get their 400 and change nothing', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const post = (body: unknown, contentType = 'application/json') =>
    client.post('/agents', { body, headers: { 'content-type': contentType } })
  const whole = JSON.stringify(AGENT)
  const malformed = { detail: 'Malformed body' }
  for (const body of [whole.slice(0, -1), '', '{"a":1}}', 'nonsense']) {
    const answer = await post(body)
    t.same([answer.status, answer.body], [400, malformed], body)
  }
  for (const contentType of [
    'text/plain',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ]) {
    const answer = await post(whole, contentType)
    const detail = 'Malformed body: the header content-type must be application/json'
    t.same([answer.status, answer.body], [400, { detail }], contentType)
  }
  t.equal((await post(whole, 'Application/JSON; charset=utf-8')).status, 201)
  const large = await post(JSON.stringify({ ...AGENT, padding: 'x'.repeat(2 * 1024 * 1024) }))
  t.same([large.status, large.body], [400, { detail: 'Body too large' }])
  const fits = await post(JSON.stringify({ ...AGENT, padding: 'x'.repeat(1024 * 1024 - 200) }))
  t.equal(fits.status, 201)
  t.equal((await client.get('/agents')).body.length, 2)
})

t.test('a body cut off on the wire or in invalid UTF-8 is malformed', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const cookie = `access_token=${client.cookies.get('access_token')}`
  const head = (length: number, more = '') =>
    `POST /agents HTTP/1.1\r\nhost: x\r\ncookie: ${cookie}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${more}\r\n`
  const utf8 = await openRaw(api.url)
  const invalid = Buffer.concat([Buffer.from('{"agent_name":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])
  utf8.write(head(invalid.length))
  utf8.write(invalid)
  t.match(await utf8.until((received) => received.includes('}')), /400 Bad Request[\s\S]*{"detail":"Malformed body",/)
  const again = JSON.stringify(AGENT)
  utf8.write(head(again.length))
  utf8.write(again)
  t.match(await utf8.until((received) => received.includes('agent_id')), /201 Created/, 'the connection goes on')
  utf8.socket.destroy()

  for (const cut of [1, 10]) {
    const raw = await openRaw(api.url)
    raw.write(head(again.length) + again.slice(0, cut))
    raw.socket.end()
    await raw.closed()
  }
  const stalled = await openRaw(api.url)
  stalled.write(head(again.length) + again.slice(0, 10))
  t.match(
    await stalled.until((received) => received.includes('}')),
    /400 Bad Request[\s\S]*{"detail":"Malformed body",/,
  )
  stalled.socket.destroy()

  const endless = await openRaw(api.url)
  endless.write(head(1024 * 1024 * 1024))
  const chunk = new Uint8Array(256 * 1024).fill(0x20)
  for (let i = 0; i < 8; i++) endless.write(chunk)
  t.match(
    await endless.until((received) => received.includes('}')),
    /400 Bad Request[\s\S]*{"detail":"Body too large",/,
  )
  endless.socket.destroy()
  t.equal((await client.get('/agents')).body.length, 1)
})

t.test('checks come in their order: 401, 403 workspace, 403 role, input, 404', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const { client: member } = await api.member(ada, 'member')
  const broken = { body: '{', headers: { 'content-type': 'application/json' } }
  t.equal((await api.client().put('/agents/garbage', broken)).status, 401)
  const foreign = { ...broken, headers: { ...broken.headers, 'x-workspace-id': 'garbage' } }
  t.same((await member.put('/agents/garbage', foreign)).body, { detail: 'Not a member of this workspace' })
  t.same((await member.put('/agents/garbage', broken)).body, { detail: 'Insufficient permissions' })
  t.same((await ada.client.put('/agents/garbage', broken)).body, { detail: 'Malformed body' })
  t.equal((await ada.client.put('/agents/garbage', { body: { temperature: 'x' } })).status, 422)
  t.equal((await ada.client.put('/agents/garbage', { body: {} })).status, 404)
})

t.test('queries are read as text, numbers and booleans; all their faults come at once', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const faults = async (query: string) => {
    const answer = await client.get(`/calls/logs?${query}`)
    return answer.status === 422
      ? answer.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`)
      : answer.status
  }
  t.same(await faults('page=0&page_size=201&call_type=fax&start_date=tomorrow&end_date=2026-02-30'), [
    'query.page greater_than_equal',
    'query.page_size less_than_equal',
    'query.call_type enum',
    'query.start_date datetime_parsing',
    'query.end_date datetime_parsing',
  ])
  t.same(await faults('page=one&page_size=1.5'), ['query.page int_type', 'query.page_size int_type'])
  t.same(await faults('page=&page_size=0x10'), ['query.page int_type', 'query.page_size int_type'])
  t.same(await faults('page=99999999999999999999'), ['query.page less_than_equal'])
  t.same(await faults('agent_id=%00'), ['query.agent_id value_error'])
  t.equal(await faults('page=2147483647&page_size=200'), 200)
  for (const date of [
    '2026-01-31',
    '2026-01-31T09:00',
    '2026-01-31T09:00:00Z',
    '2026-01-31T10:00:00+01:00',
    '2026-01-31T10:00:00%2B0100',
  ]) {
    t.equal(await faults(`start_date=${date}`), 200, date)
  }
})

t.test('a defect answers 500 with nothing but its id, under which the log has the cause', async (t) => {
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const api = await startTestApi(t, { log: createLogger({ level: 'error', name: 'test', destination }) })
  const { client } = await api.signUp()
  await api.store.pool.query('alter table agents rename to agents_gone')
  const answer = await client.get('/agents', { headers: { 'x-request-id': 'find-me' } })
  t.same([answer.status, answer.body], [500, { detail: 'Internal server error' }])
  const logged = lines.find((line) => line.includes('find-me')) ?? ''
  t.match(logged, /relation \\"agents\\" does not exist/)
  t.notMatch(logged, /access_token/)
  await api.store.pool.query('alter table agents_gone rename to agents')
  t.equal((await client.get('/agents')).status, 200)
})

t.test('a sentence for operators is not for callers, unless the route says so', async (t) => {
  const log = createLogger({ level: 'silent', name: 'test' })
  const error = new PatchbayError('plugin', { params: { reason: 'Plugin "x" reads /etc/secret' } })
  const body = (route?: AnyRoute) => JSON.parse(errorReply(error, 'r', log, undefined, route).body as string)
  t.same(body(), { detail: 'Internal server error', code: 'internal', request_id: 'r', params: {} })
  t.match(body({ errors: ['plugin'] } as unknown as AnyRoute), {
    detail: 'Plugin "x" reads /etc/secret',
    code: 'plugin',
  })
})

t.test('clients that go away in the middle of their requests do no harm', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const attempts = Array.from({ length: 50 }, async (_, i) => {
    const stop = new AbortController()
    const request = client.post('/workspaces', { body: { name: `w${i}` }, signal: stop.signal })
    setTimeout(() => stop.abort(), i % 10)
    await request.catch(() => {})
  })
  await Promise.all(attempts)
  t.equal((await client.get('/auth/me')).status, 200)
})

t.test('a body nested too deeply is refused before anything walks it', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}"]}"${'}'.repeat(depth)}`
  const post = (parameters: string) =>
    client.post('/agents', { body: `${JSON.stringify(AGENT).slice(0, -1)},"extra":${parameters}}` })
  t.equal((await post(nested(60))).status, 201)
  for (const depth of [64, 5_000, 100_000]) {
    const { status, body } = await post(nested(depth))
    t.same([status, body], [400, { detail: 'Body nested too deeply' }], `${depth} deep`)
  }
})

t.test('a body of more fields than calls can wait for is refused before it is parsed', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const post = (extra: unknown) => client.post('/agents', { body: { ...AGENT, extra } })
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, '{:[']))
  t.equal((await post(fields(4_900))).status, 201)
  for (const extra of [fields(30_000), Array.from({ length: 60_000 }, () => [])]) {
    const { status, body } = await post(extra)
    t.same([status, body], [400, { detail: 'Body has too many fields' }])
  }
})

t.test('a page of large items comes whole, and calls have their turns while it is written', async (t) => {
  const api = await startTestApi(t)
  const { client, workspaceId } = await api.signUp()
  await api.store.pool.query(
    `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, dynamic_variables, created_at, ended_at)
     select gen_random_uuid(), $1, gen_random_uuid(), 'Ada', 'phone', 'outbound', 'completed', jsonb_build_object('x', repeat('"', 15000), 'n', n::text),
       now() - n * interval '1 second', now() from generate_series(1, 200) as n`,
    [workspaceId],
  )
  const { status, body, text, headers } = await client.get('/calls/logs', { query: { page_size: 200 } })
  t.equal(status, 200)
  t.ok(text.length > 6_000_000)
  t.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  t.equal(headers.get('content-length'), null, 'a stream')
  t.same([body.total, body.page, body.items.length], [200, 1, 200])
  t.same(
    body.items.map((call: { dynamic_variables: { n: string } }) => call.dynamic_variables.n),
    Array.from({ length: 200 }, (_, i) => String(i + 1)),
  )
})

t.test('every answer is kept by no cache, sniffed by no browser and framed by no page', async (t) => {
  const api = await startTestApi(t)
  for (const path of ['/health', '/nothing', '/agents', '/openapi.json']) {
    const { headers } = await api.client().get(path)
    t.equal(headers.get('cache-control'), 'no-store', path)
    t.equal(headers.get('x-content-type-options'), 'nosniff', path)
    t.equal(headers.get('content-security-policy'), "frame-ancestors 'none'", path)
    t.equal(headers.get('strict-transport-security'), null, path)
  }
  const docs = await api.client().get('/docs')
  t.match(docs.headers.get('content-security-policy'), /^default-src 'none'; .*frame-ancestors 'none'$/)
  t.match((await fetch(`${api.url}/realtime?token=x`)).headers.get('cache-control'), 'no-store')
})

t.test('behind https, browsers are told to stay there', async (t) => {
  const api = await startTestApi(t, { env: { PUBLIC_URL: 'https://voice.example.com', PATCHBAY_SIGNUP: 'open' } })
  t.equal((await api.client().get('/health')).headers.get('strict-transport-security'), 'max-age=31536000')
})

t.test('a workspace that is named must be one’s own, also where none is needed', async (t) => {
  const api = await startTestApi(t)
  const [ada, eve] = [await api.signUp(), await api.signUp('Eve')]
  const own = `/workspaces/${ada.workspaceId}/members`
  for (const path of ['/workspaces', '/auth/me', '/agents', own]) {
    for (const named of [eve.workspaceId, 'garbage']) {
      const { status, body } = await ada.client.get(path, { headers: { 'x-workspace-id': named } })
      t.same([status, body], [403, { detail: 'Not a member of this workspace' }], `${path} ${named}`)
    }
    t.equal((await ada.client.get(path, { headers: { 'x-workspace-id': ada.workspaceId } })).status, 200, path)
  }
  const made = await ada.client.post('/workspaces', {
    body: { name: 'x', type: 'team' },
    headers: { 'x-workspace-id': eve.workspaceId },
  })
  t.equal(made.status, 403)
})

t.test('a phone number that is missing, null, overlong or none is 400 alone, and where a call is placed', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const signup = { name: 'Ada', email: 'new@example.com', password: 'correct horse' }
  const call = { agent_phone_number: '+14155550100', phone_number_to_dial: '+14155550199' }
  for (const number of [undefined, null, 7, '', '+12', '+1'.padEnd(70, '5')]) {
    for (const [path, body] of [
      ['/auth/signup', { ...signup, phone_number: number }],
      ['/calls/outbound_call', { ...call, agent_phone_number: number }],
      ['/calls/outbound_call', { ...call, phone_number_to_dial: number, dynamic_variables: 7 }],
      ['/phone-numbers', { phone_number: number, provider: 'sim' }],
    ] as const) {
      const answer = await client.post(path, { body })
      t.same([answer.status, answer.body], [400, { detail: 'Invalid phone number format' }], `${path} ${number}`)
    }
    const form = new FormData()
    form.append('file', new Blob(['phone_number\n+14155550199\n']), 'a.csv')
    form.append('name', 'March')
    form.append('agent_id', '0197f3a2-7c1e-7000-8000-000000000003')
    if (number !== undefined) form.append('agent_phone_number', String(number))
    const upload = await client.post('/batch/upload', { form })
    t.same([upload.status, upload.body], [400, { detail: 'Invalid phone number format' }], `batch ${number}`)
  }
})

t.test('a request whose end is a matter of opinion is refused, and its connection closed', async (t) => {
  // Of the node itself: a proxy before several would refuse it first.
  const api = await startTestApi(t, { nodes: 1 })
  const chunked = '2\r\n{}\r\n0\r\n\r\n'
  for (const [framing, body] of [
    ['content-length: 2\r\ncontent-length: 7', '{}'],
    ['transfer-encoding: xchunked', chunked],
    ['transfer-encoding: chunked\r\ntransfer-encoding: identity', chunked],
  ] as const) {
    const raw = await openRaw(api.url)
    raw.write(`POST /auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${framing}\r\n\r\n${body}`)
    const said = await raw.closed()
    t.match(said, /^HTTP\/1\.1 400 Bad Request/, framing)
    t.match(said, /\{"detail":"Malformed request",/, framing)
  }
})
