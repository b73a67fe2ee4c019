import t from 'tap'
import { routes } from '../../../../api/routes.ts'
import { startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'

/** `Idempotency-Key` of the POSTs whose handlers keep nothing themselves. */

const AGENT = { agent_name: 'Ada', system_prompt: 'You answer.' }
const key = (name: string) => ({ 'idempotency-key': name })
const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed')

const api = await startTestApi(t)
const ada = await api.signUp()
const agents = async (user: TestUser = ada) => (await user.client.get('/agents')).body.length as number

t.test('a create that comes again with its key makes nothing, and gets the first answer, marked', async (t) => {
  const send = (of: TestUser = ada) => of.client.post('/agents', { body: AGENT, headers: key('a') })
  const first = await send()
  t.equal(first.status, 201)
  t.equal(replayed(first), null)
  const again = await send()
  t.equal(again.text, first.text)
  t.equal(again.status, 201)
  t.equal(replayed(again), 'true')
  t.not(again.headers.get('x-request-id'), first.headers.get('x-request-id'), 'each request has its own id')
  t.equal(await agents(), 1)
  const eve = await api.signUp('Eve')
  t.equal(replayed(await send(eve)), null, 'a key is of one workspace')
  const at = async () => (await ada.client.get('/audit-log')).body.total
  const before = await at()
  await send()
  t.equal(await at(), before, 'what was not done again is in no log')
})

t.test('fifty at once make one, over two nodes', async (t) => {
  const other = await startTestApi(t, { beside: api, settings: { jwtApiSecret: api.config.jwtApiSecret } })
  const before = await agents()
  const second = Object.assign(other.client(), { headers: (await api.keyClient(ada, ['read', 'agents'])).headers })
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      (i % 2 === 0 ? ada.client : second).post('/agents', { body: AGENT, headers: key('many') }),
    ),
  )
  t.same([...new Set(answers.map(({ status }) => status))], [201])
  t.equal(new Set(answers.map(({ text }) => text)).size, 1)
  t.equal(await agents(), before + 1)
})

t.test('a key with another body, query or path is 422', async (t) => {
  t.equal((await ada.client.post('/agents', { body: AGENT, headers: key('b') })).status, 201)
  const other = await ada.client.post('/agents', { body: { ...AGENT, agent_name: 'Bob' }, headers: key('b') })
  t.match(other, {
    status: 422,
    body: { detail: [{ loc: ['header', 'Idempotency-Key'], msg: 'was used with another input' }] },
  })
  t.equal((await ada.client.post('/webhooks', { body: AGENT, headers: key('b') })).status, 422)
  const hook = { url: 'https://example.com/hook', types: ['call.*'] }
  t.equal((await ada.client.post('/webhooks', { body: hook, headers: key('b') })).status, 422, 'another route')
  t.equal((await ada.client.post('/agents', { body: AGENT, headers: key('x'.repeat(256)) })).status, 422)
})

t.test('a refusal is not kept: the request may come again once it is right', async (t) => {
  const number = { phone_number: '+14155550101', provider: 'sim' }
  const agentId = '0197f3a2-7c1e-7000-8000-00000000dead'
  const send = (body: object) => ada.client.post('/phone-numbers', { body, headers: key('c') })
  t.equal((await send({ ...number, agent_id: agentId })).status, 404)
  t.equal((await send(number)).status, 201)
  t.equal(replayed(await send(number)), 'true')
})

t.test('a secret that is shown once is given again, and lies sealed in the database', async (t) => {
  const send = () => ada.client.post('/api-keys', { body: { name: 'CRM' }, headers: key('d') })
  const { body } = await send()
  t.match(body.key, /^pb_/)
  t.equal((await send()).body.key, body.key)
  const { rows } = await api.store.pool.query('select answer from idempotency_keys')
  t.notMatch(JSON.stringify(rows), body.key)
  t.notMatch(JSON.stringify(rows), /Ada/)
})

t.test('a form is compared by its fields and files, not by its boundary', async (t) => {
  const { body: agent } = await ada.client.post('/agents', { body: AGENT })
  const send = (content: string) => {
    const form = new FormData()
    form.append('files', new Blob([content]), 'hours.txt')
    return ada.client.post(`/agents/${agent.agent_id}/upload`, { form, headers: key('e') })
  }
  const first = await send('We open at nine.')
  t.equal(first.status, 201)
  const again = await send('We open at nine.')
  t.equal(again.text, first.text)
  t.equal(replayed(again), 'true')
  t.equal((await send('We open at ten.')).status, 422)
  t.equal((await ada.client.get(`/agents/${agent.agent_id}/documents`)).body.length, 1)
})

t.test('a request of no workspace has its key with its user', async (t) => {
  const send = () => ada.client.post('/workspaces', { body: { name: 'Sales' }, headers: key('f') })
  const first = await send()
  t.equal(first.status, 201)
  t.equal((await send()).text, first.text)
  t.equal((await ada.client.get('/workspaces')).body.length, 2)
})

t.test('a request that broke off is 409, and not done again', async (t) => {
  const send = () => ada.client.post('/agents', { body: AGENT, headers: key('g') })
  await send()
  const before = await agents()
  const broken = `update idempotency_keys set answer = null, created_at = now() - interval '1 minute' where key = 'g'`
  await api.store.pool.query(broken)
  t.match(await send(), { status: 409, code: 'idempotency_unsettled' })
  t.equal(await agents(), before)
  await api.store.pool.query(
    `update idempotency_keys set answer = 'v1.sealed-under-a-key-that-is-gone' where key = 'g'`,
  )
  t.match(await send(), { status: 409, code: 'idempotency_unsettled' })
  await api.store.pool.query(`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'g'`)
  t.equal((await send()).status, 201, 'after a day the key is free')
})

t.test('a client that leaves in mid-request finds its answer when it comes again', async (t) => {
  const { body: call } = await placeCall(api, ada)
  const leaving = new AbortController()
  const path = `/calls/${call.call_log_id}/hangup`
  const sent = ada.client.post(path, { headers: key('h'), signal: leaving.signal }).catch(() => 'left')
  setTimeout(() => leaving.abort(), 5)
  await sent
  const again = await ada.client.post(path, { headers: key('h') })
  t.equal(again.status, 200)
  t.equal((await ada.client.get(`/calls/${call.call_log_id}`)).body.status, 'canceled')
})

async function placeCall(of: TestApi, user: TestUser) {
  const { body: agent } = await user.client.post('/agents', { body: AGENT })
  t.ok(of)
  await user.client.post('/phone-numbers', {
    body: { phone_number: '+14155550102', provider: 'sim', agent_id: agent.agent_id },
  })
  return user.client.post('/calls/outbound_call', {
    body: { agent_phone_number: '+14155550102', phone_number_to_dial: '+14155550199' },
  })
}

t.test('handlers that keep their answers themselves mark them, too', async (t) => {
  const body = { provider: 'sim', country: 'US' }
  const buy = () => ada.client.post('/phone-numbers/purchase', { body, headers: key('i') })
  t.equal(replayed(await buy()), null)
  t.equal(replayed(await buy()), 'true')
})

t.test('every POST behind a sign-in says in the document that it takes a key', async (t) => {
  const { body: document } = await api.client().get('/openapi.json')
  for (const { method, path, auth } of routes) {
    if (method !== 'POST') continue
    const [, item] =
      Object.entries(document.paths).find(
        ([name]) => name.replaceAll(/\{\w+\}/g, '{}') === path.replaceAll(/\{\w+\}/g, '{}'),
      ) ?? []
    const { parameters = [] } = (item as { post: { parameters?: { name: string }[] } }).post
    const takes = parameters.some(({ name }) => name === 'Idempotency-Key')
    t.equal(takes, auth !== 'none', path)
  }
})
