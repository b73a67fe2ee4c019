import t from 'tap'
import { type Answer, startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'

/** What clients of other languages and browsers send. */

const NUMBER = '+14155550100'

async function userWithAgent(api: TestApi): Promise<TestUser & { agentId: string }> {
  const user = await api.signUp()
  const { body } = await user.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
  const registered = { phone_number: NUMBER, provider: 'sim', agent_id: body.agent_id }
  const { status } = await user.client.post('/phone-numbers', { body: registered })
  if (status !== 201) throw new Error(`the number was not registered: ${status}`)
  return { ...user, agentId: body.agent_id }
}

/** `field: type` of each fault. */
const faults = ({ body }: Answer) =>
  (body.detail as { loc: string[]; type: string }[]).map(({ loc, type }) => `${loc.slice(1).join('.')}: ${type}`)

function batch(user: { agentId: string }, fields: Record<string, string> = {}): { form: FormData } {
  const form = new FormData()
  const all = { name: 'Renewals', agent_id: user.agentId, agent_phone_number: NUMBER, ...fields }
  for (const [name, value] of Object.entries(all)) form.set(name, value)
  form.set('file', new Blob(['phone_number\n+14155550199\n']), 'numbers.csv')
  return { form }
}

t.test('an upload takes every spelling of a form boolean, and an empty one as left out', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { client } = await api.signUp()
  await client.post('/api/v/campaign/', { body: { name: 'Renewals' } })
  const upload = async (dedupe: string) => {
    const form = new FormData()
    form.set('original_data', new Blob(['primary_phone\n+14155550199\n']), 'list.csv')
    form.set('dedupe', dedupe)
    return client.post('/api/v/upload/renewals/', { form })
  }
  for (const text of ['true', 'True', 'TRUE', '1', 'on', 'yes', 'false', 'False', '0', 'off', 'no', 'No', '']) {
    t.equal((await upload(text)).status, 201, text)
  }
  const refused = await upload('maybe')
  t.same([refused.status, faults(refused)], [422, ['dedupe: bool_type']])
})

t.test('a batch may be scheduled for the client’s own now, and empty fields count as left out', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const user = await userWithAgent(api)
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
  const now = await user.client.post('/batch/upload', batch(user, { scheduled_time: ago(20) }))
  t.same([now.status, now.body.status], [201, 'scheduled'])
  t.equal((await user.client.post('/batch/upload', batch(user, { scheduled_time: ago(9 * 60_000) }))).status, 201)
  const late = await user.client.post('/batch/upload', batch(user, { scheduled_time: ago(11 * 60_000) }))
  t.same([late.status, faults(late)], [422, ['scheduled_time: value_error']])
  const empty = await user.client.post('/batch/upload', batch(user, { scheduled_time: '', timezone: '' }))
  t.match(empty, { status: 201, body: { status: 'pending', scheduled_time: null, timezone: 'UTC' } })
})

t.test('a batch from a number that is not registered is of no agent', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const user = await userWithAgent(api)
  const { status, body } = await user.client.post('/batch/upload', batch(user, { agent_phone_number: '+14155550177' }))
  t.same([status, body], [404, { detail: 'Agent not found' }])
})

t.test('query fields that a read does not know are ignored', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { client } = await api.signUp()
  for (const path of [
    '/calls/export-csv?page=1&page_size=25&call_type=phone',
    '/calls/logs?call_tipe=web',
    '/auth/me?status=ready',
    '/agents?nocache=7',
  ]) {
    t.equal((await client.get(path)).status, 200, path)
  }
  t.equal((await client.get('/calls/logs?page=0&agentid=x')).status, 422, 'known ones are checked')
})

t.test('the plus of a phone number may come unescaped', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { client, agentId } = await userWithAgent(api)
  const token = await client.get(`/calls/generate-token?phone=${NUMBER}`)
  t.same([token.status, token.body.agent_id], [200, agentId])
  const call = { agent_phone_number: NUMBER, phone_number_to_dial: '+14155550199' }
  t.equal((await client.post('/calls/outbound_call', { body: call })).status, 201)
  t.equal((await client.get('/calls/logs?number=+14155550199')).body.total, 1)
  await client.post('/api/v/campaign/', { body: { name: 'Renewals', locale_name: 'USCA' } })
  const { body: lists } = await client.get('/api/v/list/', { query: { campaign: 'renewals' } })
  const added = await client.request('POST', `/api/v/prospect/${lists[0].list_uuid}/`, {
    body: 'primary_phone=+442079460018&first_name=Ada',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.same([added.status, added.body.primary_phone], [201, '+442079460018'])
})

t.test('a report begins seven days before now, or before its end where that is earlier', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { client } = await api.signUp()
  const day = 86_400_000
  const spanOf = async (query: Record<string, string>) => {
    const { body } = await client.get('/reports/dashboard', { query })
    return { start: Date.parse(body.start_date), end: Date.parse(body.end_date) }
  }
  const near = (actual: number, expected: number) => t.ok(Math.abs(actual - expected) < 60_000)
  const plain = await spanOf({})
  near(plain.start, Date.now() - 7 * day)
  near(plain.end, Date.now())
  const ahead = await spanOf({ end_date: new Date(Date.now() + 30 * day).toISOString() })
  near(ahead.start, Date.now() - 7 * day)
  const past = await spanOf({ end_date: new Date(Date.now() - 30 * day).toISOString() })
  near(past.start, Date.now() - 37 * day)
})

t.test('a create with missing fields names all of them, the phone number included', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const user = await userWithAgent(api)
  const missing = (...fields: string[]) => fields.map((field) => `${field}: missing`).sort()
  for (const [path, fields] of [
    ['/auth/signup', ['name', 'email', 'password', 'phone_number']],
    ['/agents', ['agent_name', 'system_prompt']],
    ['/workspaces', ['name']],
    ['/phone-numbers', ['phone_number', 'provider']],
    ['/api/v/campaign/', ['name']],
    ['/api-keys', ['name']],
    ['/webhooks', ['url', 'types']],
  ] as const) {
    const answer = await user.client.post(path, { body: {} })
    t.same([answer.status, faults(answer).sort()], [422, missing(...fields)], path)
  }
  const upload = await user.client.post('/batch/upload', { form: new FormData() })
  t.same(
    [upload.status, faults(upload).sort()],
    [422, missing('agent_id', 'agent_phone_number', 'file', 'name')],
    'a batch',
  )
})

t.test('an invalid phone number is 400 where it is the only fault and where a call is placed', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const user = await userWithAgent(api)
  const post = (path: string, body: unknown) => user.client.post(path, { body })
  const PHONE = { detail: 'Invalid phone number format' }
  const ada = { name: 'Ada', email: 'ada@example.com', password: 'correct horse' }
  for (const phone of [undefined, null, '', '12', 'x'.repeat(500)]) {
    const signup = await post('/auth/signup', { ...ada, phone_number: phone })
    t.same([signup.status, signup.body], [400, PHONE], `alone: ${String(phone)}`)
  }
  const beside = await post('/auth/signup', { ...ada, password: 'short', phone_number: '12' })
  t.same([beside.status, faults(beside)], [422, ['password: string_too_short', 'phone_number: value_error']])
  const number = await post('/phone-numbers', { phone_number: '12', provider: 7 })
  t.same([number.status, faults(number).sort()], [422, ['phone_number: value_error', 'provider: string_type']])
  const call = await post('/calls/outbound_call', { phone_number_to_dial: '12', dynamic_variables: 7 })
  t.same([call.status, call.body], [400, PHONE], 'calls come first')
  const empty = await post('/calls/outbound_call', {})
  t.same([empty.status, empty.body], [400, PHONE])
  const alone = await user.client.post('/batch/upload', batch(user, { agent_phone_number: '12' }))
  t.same([alone.status, alone.body], [400, PHONE])
})
