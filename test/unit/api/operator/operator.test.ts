import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { hashPassword } from '../../../../api/auth/password.ts'
import { setupToken } from '../../../../api/auth/setup-token.ts'
import { ERRORS } from '../../../../runtime/lib/errors.ts'
import { ApiClient, startTestApi } from '../../../support/instance/api.ts'
import { openRaw } from '../../../support/world/raw-http.ts'

const PERSON = { name: 'Eve', password: 'correct horse', phone_number: '+14155550123' }
const FORWARDED = { 'x-forwarded-for': '203.0.113.9' }

t.test('the first user of a fresh instance runs it, the second does not', async (t) => {
  const api = await startTestApi(t)
  const [ada, eve] = [await api.signUp(), await api.signUp('Eve')]
  t.equal((await ada.client.get('/operator/settings')).status, 200)
  const refused = await eve.client.get('/operator/settings')
  t.same([refused.status, refused.body], [403, { detail: 'Operator access required' }])
  const made = await ada.client.patch(`/operator/users/${eve.id}`, { body: { is_operator: true } })
  t.match(made.body, { user_id: eve.id, is_operator: true })
  t.equal((await eve.client.get('/operator/workspaces')).body.total, 2)
})

t.test('of many who sign up first at once, one is the operator', async (t) => {
  const api = await startTestApi(t)
  await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      api.client().post('/auth/signup', { body: { ...PERSON, email: `u${i}@example.com` } }),
    ),
  )
  const { rows } = await api.store.pool.query('select count(*)::int as n from users where is_operator')
  t.equal(rows[0].n, 1)
})

t.test('a stranger is not the first user: they come from this machine, or show the setup token', async (t) => {
  const api = await startTestApi(t)
  const from = (headers: Record<string, string>, more: object = {}) =>
    api.client().post('/auth/signup', { body: { ...PERSON, email: 'eve@example.com', ...more }, headers })
  const foreign: Record<string, string>[] = [
    FORWARDED,
    { via: '1.1 proxy' },
    { forwarded: 'for=203.0.113.9' },
    { 'x-real-ip': '203.0.113.9' },
  ]
  for (const headers of foreign) {
    const refused = await from(headers)
    t.same([refused.status, refused.body.detail], [403, ERRORS.setup_token_missing.detail], JSON.stringify(headers))
  }
  const offer = await api.client().get('/auth/signup', { headers: FORWARDED })
  t.same(offer.body, { open: false, setup_token: true, sso: null, first: true })
  for (const setup_token of ['x', 'x'.repeat(32), setupToken('another secret')]) {
    const refused = await from(FORWARDED, { setup_token })
    t.same([refused.status, refused.body.detail], [403, ERRORS.setup_token_wrong.detail], setup_token)
  }

  const shown = { email: 'boss@example.com', setup_token: setupToken(api.config.jwtApiSecret) }
  t.equal((await from(FORWARDED, shown)).status, 201)
  const boss = api.client()
  await boss.post('/auth/login', { body: { email: shown.email, password: PERSON.password } })
  t.equal((await boss.get('/operator/settings')).status, 200, 'who shows it runs the installation')

  for (const headers of foreign) {
    const refused = await from(headers, { setup_token: shown.setup_token })
    t.same([refused.status, refused.body], [403, { detail: 'Signup is closed' }], 'it works while there is no user')
  }
  const later = await api.client().get('/auth/signup', { headers: FORWARDED })
  t.same(later.body, { open: false, setup_token: false, sso: null, first: false })
  t.equal((await from({})).status, 201)
})

t.test('a page whose name leads to this machine, and a tunnel to it, are not this machine', async (t) => {
  const api = await startTestApi(t)
  const body = JSON.stringify({ ...PERSON, email: 'eve@example.com' })
  const signUp = async (host: string) => {
    const head = [
      'POST /auth/signup HTTP/1.1',
      `host: ${host}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ]
    const connection = await openRaw(api.url)
    connection.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    const [line = ''] = (await connection.until((text) => text.includes('\r\n\r\n'))).split('\r\n')
    connection.socket.destroy()
    return line
  }
  t.equal(await signUp('rebound.example:8080'), 'HTTP/1.1 403 Forbidden')
  t.equal(await signUp('localhost:8080'), 'HTTP/1.1 201 Created')
})

t.test('where everybody may sign up, a stranger who comes first does not run the installation', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_SIGNUP: 'open' } })
  const body = { ...PERSON, email: 'eve@example.com' }
  t.equal((await api.client().post('/auth/signup', { body, headers: FORWARDED })).status, 201)
  const eve = api.client()
  await eve.post('/auth/login', { body })
  t.equal((await eve.get('/operator/settings')).status, 403)
})

t.test(
  'the setup token opens an installation whose signup is closed, and makes an operator where others ran the database',
  async (t) => {
    const api = await startTestApi(t, { env: { PATCHBAY_SIGNUP: 'closed' } })
    const body = { ...PERSON, email: 'boss@example.com', setup_token: setupToken(api.config.jwtApiSecret) }
    t.equal((await api.client().post('/auth/signup', { body, headers: FORWARDED })).status, 201)
    const boss = api.client()
    await boss.post('/auth/login', { body: { email: body.email, password: body.password } })
    t.equal((await boss.get('/operator/settings')).status, 200)
  },
)

t.test('the operator opens and closes signup, and invites by a link that works once', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_SIGNUP: 'closed' } })
  const invitedBy = async (email: string) => {
    const { body } = await boss.client.post('/operator/invitations', { body: { email } })
    return body.token as string
  }
  const signUp = (email: string, invitation?: string) =>
    api.client().post('/auth/signup', { body: { ...PERSON, email, ...(invitation ? { invitation } : {}) } })
  t.equal((await signUp('eve@example.com')).status, 403)
  const [user] = (
    await api.store.pool.query(
      `insert into users (id, name, email, password_hash, phone_number, is_operator)
       select $1, 'Boss', 'boss@example.com', '', '+14155550123', true returning id`,
      [uuidv7()],
    )
  ).rows
  const boss = { id: user.id, client: new ApiClient(api.url) }
  await api.store.pool.query('update users set password_hash = $1', [await hashPassword('correct horse', 'boss')])
  await boss.client.post('/auth/login', { body: { email: 'boss@example.com', password: 'correct horse' } })

  const token = await invitedBy('grace@example.com')
  t.equal((await signUp('eve@example.com', token)).status, 400, 'of another address')
  const second = await invitedBy('grace@example.com')
  t.equal((await signUp('Grace@example.com', second)).status, 201)
  t.equal((await signUp('grace2@example.com', second)).status, 400, 'once')

  t.match((await boss.client.patch('/operator/settings', { body: { signup: 'open' } })).body, {
    effective_signup: 'open',
  })
  const far = await api
    .client()
    .post('/auth/signup', { body: { ...PERSON, email: 'far@example.com' }, headers: FORWARDED })
  t.equal(far.status, 201)
})

t.test('an address that makes an operator is not to be had from afar', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_OPERATORS: 'Boss@example.com', PATCHBAY_SIGNUP: 'open' } })
  await api.signUp()
  const body = { ...PERSON, email: 'boss@example.com' }
  t.equal((await api.client().post('/auth/signup', { body, headers: FORWARDED })).status, 403)
  t.equal((await api.client().post('/auth/signup', { body })).status, 201)
  const boss = api.client()
  await boss.post('/auth/login', { body })
  t.equal((await boss.get('/operator/settings')).status, 200)
})

t.test('a suspended workspace reads, and neither writes nor calls; its keys get 403', async (t) => {
  const api = await startTestApi(t)
  const [boss, eve] = [await api.signUp(), await api.signUp('Eve')]
  const agent = await eve.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
  const number = { phone_number: '+14155550100', provider: 'sim', agent_id: agent.body.agent_id }
  await eve.client.post('/phone-numbers', { body: number })
  const key = await api.keyClient(eve)
  const suspended = await boss.client.post(`/operator/workspaces/${eve.workspaceId}/suspend`, {
    body: { reason: 'Unpaid' },
  })
  t.equal(suspended.status, 200)
  const REFUSED = [403, { detail: 'Workspace is suspended' }]
  const call = { agent_phone_number: '+14155550100', phone_number_to_dial: '+14155550199' }
  for (const answer of [
    await eve.client.post('/calls/outbound_call', { body: call }),
    await eve.client.get('/calls/generate-token', { query: { phone: '+14155550100' } }),
    await eve.client.post('/agents', { body: { agent_name: 'x', system_prompt: 'x' } }),
    await key.get('/agents'),
  ]) {
    t.same([answer.status, answer.body], REFUSED)
  }
  t.equal((await eve.client.get('/agents')).status, 200)
  t.match((await boss.client.get(`/operator/workspaces/${eve.workspaceId}`)).body, { suspended_reason: 'Unpaid' })
  await boss.client.post(`/operator/workspaces/${eve.workspaceId}/resume`)
  t.equal((await key.get('/agents')).status, 200)
})

t.test('documents take no more room than the installation gives a workspace, told while they come', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_STORAGE_PER_WORKSPACE_BYTES: '1000000' } })
  await api.signUp()
  const { client } = await api.signUp('Eve')
  const { agent_id } = (await client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } }))
    .body
  const upload = async (...sizes: number[]) => {
    const form = new FormData()
    for (const [i, size] of sizes.entries()) form.append('files', new Blob(['x'.repeat(size)]), `${i}.txt`)
    return client.post(`/agents/${agent_id}/upload`, { form })
  }
  const refused = await upload(600_000, 600_000, 10)
  t.same([refused.status, refused.body], [403, { detail: 'Quota reached: 1000000 storage bytes' }])
  t.equal((await api.store.pool.query('select from upload_parts')).rowCount, 0, 'nothing of it is kept')
  t.equal((await upload(600_000, 300_000)).status, 201)
})

t.test('quotas of the operator hold', async (t) => {
  const api = await startTestApi(t)
  const [boss, eve] = [await api.signUp(), await api.signUp('Eve')]
  const set = (body: object) => boss.client.patch(`/operator/workspaces/${eve.workspaceId}`, { body })
  const agent = () => eve.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
  t.match((await set({ agents: 1, purchases: false })).body.quotas, { agents: 1, purchases: false, documents: null })
  const { agent_id } = (await agent()).body
  const second = await agent()
  t.same([second.status, second.body], [403, { detail: 'Quota reached: 1 agents' }])
  const bought = await eve.client.post('/phone-numbers/purchase', { body: { provider: 'sim', country: 'US' } })
  t.match([bought.status, bought.body.detail], [403, /allows this workspace no purchases/])

  await set({ agents: null, documents: 1, storage_bytes: 10 })
  const upload = async (text: string) => {
    const form = new FormData()
    form.append('files', new Blob([text]), 'a.txt')
    return (await eve.client.post(`/agents/${agent_id}/upload`, { form })).status
  }
  t.equal(await upload('more than ten bytes'), 403)
  t.equal(await upload('ten'), 201)
  t.equal(await upload('ten'), 403)

  const left = await api.store.pool.query('select from upload_parts')
  t.equal(left.rowCount, 1, 'of what did not fit nothing is kept')

  await set({ providers: ['offline', 'sim'] })
  t.equal((await agent()).status, 201)
  await set({ providers: ['offline'] })
  t.match((await agent()).body.detail, [{ loc: ['body', 'STT_provider'], type: 'enum' }])
  const web = await eve.client.get('/calls/generate-token', { query: { agent_id } })
  t.equal(web.status, 403, 'also an agent made before')

  await set({ providers: null, minutes_a_month: 1 })
  const session = () => eve.client.get('/calls/generate-token', { query: { agent_id } })
  t.equal((await session()).status, 200)
  await api.store.pool.query(`update calls set status = 'completed', duration_ms = 61000, ended_at = now()`)
  const used = await session()
  t.same([used.status, used.body], [403, { detail: 'Quota reached: 1 minutes of calls a month' }])
  const { use } = (await boss.client.get(`/operator/workspaces/${eve.workspaceId}`)).body
  t.match(use, { agents: 2, documents: 1, storage_bytes: 3 })
  t.ok(use.minutes_this_month > 1)
})

t.test('a trunk’s host is one workspace’s, and no machine of the operator’s network unless approved', async (t) => {
  const api = await startTestApi(t)
  const [boss, owner, stranger] = [await api.signUp(), await api.signUp('Owner'), await api.signUp('Eve')]
  const trunk = (host: string) => ({ name: `t ${host}`, host, allowed_addresses: ['198.51.100.1'] })
  const add = (user: typeof owner, host: string) => user.client.post('/trunks', { body: trunk(host) })
  t.equal((await add(owner, '203.0.113.5:5061')).status, 201)
  const taken = await add(stranger, '203.0.113.5')
  t.match([taken.status, taken.body.detail], [409, /belongs to another workspace/])
  for (const host of ['127.0.0.1', '10.1.2.3:5070', 'localhost', 'pbx', '[::1]', '169.254.169.254']) {
    const refused = await add(owner, host)
    t.match([refused.status, refused.body.detail], [422, [{ loc: ['body', 'host'], msg: /ask the operator/ }]], host)
  }
  const approve = { host: '10.1.2.3', workspace_id: owner.workspaceId }
  t.equal((await boss.client.post('/operator/trunk-hosts', { body: approve })).status, 201)
  t.equal((await add(owner, '10.1.2.3:5070')).status, 201)
  t.equal((await add(stranger, '10.1.2.3')).status, 409)
  t.equal((await add(boss, '10.9.9.9')).status, 201, 'the operator need not ask')
})

t.test('with another host a trunk’s password is forgotten', async (t) => {
  const api = await startTestApi(t)
  await api.signUp()
  const owner = await api.signUp('Owner')
  const body = {
    name: 'main',
    host: '203.0.113.5',
    username: 'u',
    password: 'secret',
    allowed_addresses: ['198.51.100.1'],
  }
  const { trunk_id } = (await owner.client.post('/trunks', { body })).body
  const moved = await owner.client.patch(`/trunks/${trunk_id}`, { body: { host: '203.0.113.6' } })
  t.match([moved.status, moved.body.has_password], [200, false])
  const kept = await owner.client.patch(`/trunks/${trunk_id}`, { body: { host: '203.0.113.7', password: 'secret' } })
  t.equal(kept.body.has_password, true)
})

t.test('who did what is written down, and nobody changes it', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const key = await api.keyClient(ada, ['agents'])
  const { agent_id } = (
    await key.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'A secret.' }, headers: FORWARDED })
  ).body
  await ada.client.delete(`/agents/${agent_id}`)
  await ada.client.delete(`/agents/${agent_id}`)
  const { items } = (await ada.client.get('/audit-log')).body
  t.match(items.slice(0, 2), [
    {
      actor: { kind: 'user', id: ada.id, name: ada.email },
      action: 'DELETE /agents/{agent_id}',
      resource: `/agents/${agent_id}`,
      address: '127.0.0.1',
    },
    {
      actor: { kind: 'key', name: 'test' },
      action: 'POST /agents',
      resource: `/agents/${agent_id}`,
      detail: { fields: ['agent_name', 'system_prompt'] },
      address: '203.0.113.9',
      workspace_id: ada.workspaceId,
    },
  ])
  t.notMatch(JSON.stringify(items), 'A secret')
  for (const change of ['delete from audit_log', `update audit_log set action = ''`, 'truncate audit_log']) {
    await t.rejects(api.store.pool.query(change), { message: /append-only/ }, change)
  }
  const eve = await api.signUp('Eve')
  t.same((await eve.client.get('/audit-log')).body.items, [])
  t.ok((await ada.client.get('/operator/audit-log')).body.total >= 3)
})
