import t from 'tap'
import { isAudited } from '../../../api/route.ts'
import { routes } from '../../../api/routes.ts'
import { type ApiClient, startTestApi, type TestApi } from '../../support/instance/api.ts'
import { startPhone } from '../../support/phone/phone.ts'

/** Routes that leave nothing in the audit log, by the reason. A new route is audited or stands here. */
const NOT_AUDITED: Readonly<Record<string, readonly string[]>> = {
  'the security log has it': [
    'POST /auth/signup',
    'POST /auth/login',
    'GET /auth/sso',
    'GET /auth/sso/callback',
    'POST /auth/refresh',
    'POST /auth/logout',
    'POST /auth/password/forgotten',
    'POST /auth/password/reset',
    'POST /auth/email/verify',
  ],
  'it is public and the same for everybody': [
    'GET /auth/signup',
    'POST /auth/invitation',
    'GET /account/{page}',
    'GET /talk/{agent_id}',
    'GET /client/v1/{file}',
    'GET /client/',
    'GET /client/{file}',
    'GET /widget.js',
    'GET /asyncapi.json',
    'GET /tests/schema',
    'GET /health',
    'GET /maintenance',
    'GET /ready',
    'GET /openapi.json',
    'GET /docs',
    'GET /docs/{file}',
  ],
  'a link opens it, and who was given the link is in the log': ['GET /files/{link}'],
  'the call it makes is the record': [
    'GET /calls/generate-token',
    'GET /public/agents/{agent_id}',
    'POST /public/agents/{agent_id}/session',
    'POST /telephony/{provider}/{event}',
  ],
  'the chat it makes is the record': ['POST /chats/interaction'],
  'it changes nothing': [
    'POST /batch/preview',
    'POST /agents/{agent_id}/query',
    'POST /api/v/campaign/{slug}/preview/',
    'POST /trunks/{trunk_id}/check',
  ],
  'the requests it carries are audited themselves': ['POST /mcp'],
  'the user reads what is their own': [
    'GET /auth/me',
    'GET /auth/sessions',
    'GET /auth/invitations',
    'GET /workspaces',
  ],
  'a page of the console reads it all day; exports, sound and live views are in the log': [
    'GET /workspaces/{workspace_id}/members',
    'GET /workspaces/{workspace_id}/invitations',
    'GET /workspaces/{workspace_id}/retention',
    'GET /agents',
    'GET /agents/{agent_id}',
    'GET /agents/{agent_id}/tools',
    'GET /agents/{agent_id}/rollout',
    'GET /agents/{agent_id}/versions',
    'GET /agents/{agent_id}/versions/{version}',
    'GET /agents/{agent_id}/versions/{version}/diff',
    'GET /agents/{agent_id}/documents',
    'GET /api-keys',
    'GET /api-keys/current',
    'GET /requests',
    'GET /calls/logs',
    'GET /calls/{call_log_id}',
    'GET /calls/{call_log_id}/events',
    'GET /calls/{call_log_id}/sip',
    'GET /calls/{call_log_id}/turns',
    'GET /refused-calls',
    'GET /batch',
    'GET /batch/{batch_id}',
    'GET /batch/{batch_id}/items',
    'GET /api/v/campaign/',
    'GET /api/v/campaign/{slug}/',
    'GET /api/v/campaign/{slug}/status/',
    'GET /api/v/campaign/{slug}/prospects/',
    'GET /api/v/list/',
    'GET /api/v/list/{list_slug}/',
    'GET /api/v/upload/{uuid}/',
    'GET /api/v/prospect/{uuid}/',
    'GET /do-not-call',
    'GET /tests',
    'GET /tests/{test_id}',
    'GET /tests/runs',
    'GET /tests/runs/{run_id}',
    'GET /tests/runs/{run_id}/cases',
    'GET /tests/judge/agreement',
    'GET /chats/logs',
    'GET /chats/{chat_id}',
    'GET /phone-numbers',
    'GET /phone-numbers/{phone_number}',
    'GET /trunks',
    'GET /trunks/{trunk_id}',
    'GET /trunks/{trunk_id}/health',
    'GET /extensions',
    'GET /extensions/{extension_id}',
    'GET /providers',
    'GET /providers/keys',
    'GET /webhooks',
    'GET /webhooks/{webhook_id}',
    'GET /webhooks/{webhook_id}/deliveries',
    'GET /events',
    'GET /reports/dashboard',
    'GET /reports/call-summary',
    'GET /reports/disposition',
    'GET /reports/workload',
    'GET /audit-log',
  ],
  'the operator reads the state of the installation': [
    'GET /operator/settings',
    'GET /operator/workspaces',
    'GET /operator/workspaces/{workspace_id}',
    'GET /operator/trunk-hosts',
    'GET /operator/users',
    'GET /operator/workers',
    'GET /operator/audit-log',
    'GET /operator/worker-pools',
    'GET /operator/providers',
    'GET /operator/models',
    'GET /operator/phone-numbers',
    'GET /operator/security-log',
  ],
}

t.test('every route is audited, or it is said why not', async (t) => {
  const not = routes.filter((route) => !isAudited(route)).map(({ method, path }) => `${method} ${path}`)
  t.same(not.sort(), Object.values(NOT_AUDITED).flat().sort())
})

const entriesOf = async (client: ApiClient) => (await client.get('/audit-log')).body.items

t.test('a campaign made in another of one’s workspaces is in that one’s log', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const { body: other } = await user.client.post('/workspaces', { body: { name: 'Other', type: 'team' } })
  await user.client.post(`/workspaces/${user.workspaceId}/switch`)
  const make = (name: string) =>
    user.client.post('/api/v/campaign/', { body: { name, slug: name, workspace: other.workspace_id } })
  t.equal((await make('in-other')).status, 201)
  t.notOk((await entriesOf(user.client)).some(({ action }: { action: string }) => action === 'POST /api/v/campaign/'))
  const there = await user.client.get('/audit-log', { headers: { 'x-workspace-id': other.workspace_id } })
  t.match(
    there.body.items.find(({ action }: { action: string }) => action === 'POST /api/v/campaign/'),
    { workspace_id: other.workspace_id, resource: '/api/v/campaign/in-other' },
  )
  await api.store.global
    .updateTable('workspaces')
    .set({ suspended_at: new Date() })
    .where('id', '=', other.workspace_id)
    .execute()
  const refused = await make('in-suspended')
  t.same([refused.status, refused.body.detail], [403, 'Workspace is suspended'])
  const listed = await user.client.get('/api/v/campaign/', { query: { workspace: other.workspace_id } })
  t.equal(listed.status, 200, 'reads are served')
})

t.test('who exports and who listens in is in the log, with the address', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  await user.client.get('/calls/export-csv', {
    query: { call_type: 'web' },
    headers: { 'x-forwarded-for': '203.0.113.9' },
  })
  const { agentId } = await startPhone(api, user)
  const { body: call } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  await user.client.post(`/calls/${call.call_log_id}/listen`)
  const items = await entriesOf(user.client)
  t.match(
    items.find(({ action }: { action: string }) => action === 'GET /calls/export-csv'),
    {
      actor: { id: user.id },
      resource: '/calls/export-csv',
      detail: { filters: ['call_type'] },
      address: '203.0.113.9',
    },
  )
  t.ok(items.some(({ action }: { action: string }) => action === 'POST /calls/{call_log_id}/listen'))
})

t.test('of the address of a webhook only its origin is in the log', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const secrets = /hook-path|query-token|pass-word/
  const url = (host: string) => `https://${host}/hook-path?key=query-token#pass-word`
  const { status, body } = await client.post('/webhooks', {
    body: { url: url('one.example.com'), types: ['call.ended'] },
  })
  t.equal(status, 201)
  t.equal(
    (await client.patch(`/webhooks/${body.webhook_id}`, { body: { url: url('two.example.com:8443') } })).status,
    200,
  )
  const items = await entriesOf(client)
  const detailOf = (action: string) => items.find((one: { action: string }) => one.action === action)?.detail
  t.match(detailOf('POST /webhooks'), { url: 'https://one.example.com', types: ['call.ended'] })
  t.match(detailOf('PATCH /webhooks/{webhook_id}'), { url: 'https://two.example.com:8443' })
  t.notMatch(JSON.stringify(items), secrets)
  const { rows } = await api.store.pool.query('select audit_log::text as entry from audit_log')
  t.notMatch(JSON.stringify(rows), secrets, 'nor in the database')
})

const securityOf = async (client: ApiClient, query: Record<string, string> = {}) =>
  (await client.get('/operator/security-log', { query: { page_size: 100, ...query } })).body.items
const login = (api: TestApi, email: string, password: string, headers: Record<string, string> = {}) =>
  api.client().post('/auth/login', { body: { email, password }, headers })

t.test('logins, refused ones, lock-outs, replays, links and keys are in the security log', async (t) => {
  const nowMs = Date.now()
  const clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() }
  const api = await startTestApi(t, { clock })
  const boss = await api.signUp()
  const from = { 'x-forwarded-for': '203.0.113.9' }
  const refused = await api.client().post('/auth/signup', {
    body: { name: 'Eve', email: 'eve@example.com', password: 'correct horse', phone_number: '+14155550123' },
    headers: from,
  })
  t.equal(refused.status, 403)
  for (let i = 0; i < 13; i++) await login(api, boss.email, 'wrong', from)
  await login(api, 'my-password-by-mistake', 'wrong', from)
  const { body: key } = await boss.client.post('/api-keys', { body: { name: 'CRM' } })
  const { body: next } = await boss.client.post(`/api-keys/${key.id}/rotate`, { body: { grace_s: 0 } })
  await boss.client.delete(`/api-keys/${next.id}`)
  await api.client().post('/auth/password/reset', { body: { token: 'x'.repeat(43), new_password: 'battery staple' } })
  const back = await login(api, boss.email, boss.password)
  t.equal(back.status, 200)
  const client = api.client()
  await client.post('/auth/login', { body: { email: boss.email, password: boss.password } })
  const items: { kind: string; account: string; address: string; user_id: string | null }[] = await securityOf(client)
  const counts = Object.fromEntries(
    [...new Set(items.map(({ kind }) => kind))].map((kind) => [kind, items.filter((one) => one.kind === kind).length]),
  )
  t.match(counts, {
    signup: 1,
    signup_refused: 1,
    login_failed: 11,
    locked_out: 1,
    login: 3,
    key_created: 1,
    key_rotated: 1,
    key_revoked: 1,
    link_refused: 1,
  })
  t.match(
    items.find(({ kind }) => kind === 'login_failed'),
    { user_id: null, account: '', address: '203.0.113.9' },
    'what was typed for no account is not kept',
  )
  t.ok((await securityOf(client, { kind: 'login_failed', user_id: boss.id })).length === 10)
  await t.rejects(api.store.pool.query('delete from security_log'), /append-only/)
})
