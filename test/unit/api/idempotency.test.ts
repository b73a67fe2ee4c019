import t from 'tap'
import { startTestApi, type TestApi, type TestUser } from '../../support/instance/api.ts'

const FROM = '+14155550100'

async function withNumber(api: TestApi): Promise<TestUser> {
  const ada = await api.signUp()
  const agent = await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
  await ada.client.post('/phone-numbers', {
    body: { phone_number: FROM, provider: 'sim', agent_id: agent.body.agent_id },
  })
  return ada
}

const order = (to: string) => ({ agent_phone_number: FROM, phone_number_to_dial: to })

t.test('a key sent a hundred times at once places one call and gets one answer', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await withNumber(api)
  const headers = { 'idempotency-key': 'order-1' }
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      ada.client.post('/calls/outbound_call', { body: order('+14155550199'), headers }),
    ),
  )
  t.same([...new Set(answers.map(({ status }) => status))], [201])
  t.equal(new Set(answers.map(({ text }) => text)).size, 1, 'the same answer to the letter')
  t.equal((await ada.client.get('/calls/logs')).body.total, 1)

  const late = await ada.client.post('/calls/outbound_call', { body: order('+14155550199'), headers })
  t.equal(late.text, answers[0]?.text, 'also when the call is long under way')
})

t.test('a key with another input is 422, whoever else has it is somebody else', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await withNumber(api)
  const headers = { 'idempotency-key': 'k' }
  const call = (to: string) => ada.client.post('/calls/outbound_call', { body: order(to), headers })
  t.equal((await call('+14155550199')).status, 201)
  const other = await call('+14155550198')
  t.equal(other.status, 422)
  t.match(other.body.detail, [{ loc: ['header', 'Idempotency-Key'], msg: 'was used with another input' }])
  const purchase = await ada.client.post('/phone-numbers/purchase', {
    body: { provider: 'sim', country: 'US' },
    headers,
  })
  t.equal(purchase.status, 422, 'another route is another input')
  const long = await ada.client.post('/calls/outbound_call', {
    body: order('+14155550199'),
    headers: { 'idempotency-key': 'x'.repeat(256) },
  })
  t.equal(long.status, 422)

  const eve = await api.signUp('Eve')
  const bought = await eve.client.post('/phone-numbers/purchase', { body: { provider: 'sim', country: 'US' }, headers })
  t.equal(bought.status, 201, 'a key is of one workspace')
})

t.test('a request that failed can be sent again with its key', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const headers = { 'idempotency-key': 'k' }
  const call = () => ada.client.post('/calls/outbound_call', { body: order('+14155550199'), headers })
  t.equal((await call()).status, 404)
  const agent = await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
  await ada.client.post('/phone-numbers', {
    body: { phone_number: FROM, provider: 'sim', agent_id: agent.body.agent_id },
  })
  t.equal((await call()).status, 201)
})

t.test('a purchase with a key buys one number; one that was broken off is not tried again', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const buy = (key: string) =>
    ada.client.post('/phone-numbers/purchase', {
      body: { provider: 'sim', country: 'US' },
      headers: { 'idempotency-key': key },
    })
  const answers = await Promise.all(Array.from({ length: 10 }, () => buy('a')))
  t.equal(new Set(answers.map(({ text }) => text)).size, 1)
  t.equal((await ada.client.get('/phone-numbers')).body.length, 1)

  // What a process leaves behind that ends while the carrier sells.
  await api.store.pool.query(`update idempotency_keys set answer = null where key = 'a'`)
  const broken = await buy('a')
  t.equal(broken.status, 409)
  t.match(broken.body.detail, 'has not answered')
  t.equal((await ada.client.get('/phone-numbers')).body.length, 1)
})

t.test('a key is forgotten after a day', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await withNumber(api)
  const headers = { 'idempotency-key': 'k' }
  const call = () => ada.client.post('/calls/outbound_call', { body: order('+14155550199'), headers })
  const first = await call()
  await api.store.pool.query(`update idempotency_keys set created_at = now() - interval '25 hours'`)
  const second = await call()
  t.equal(second.status, 201)
  t.not(second.body.call_log_id, first.body.call_log_id)
})

t.test('an upload that is sent again with its key is one batch, another file under the key is refused', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await withNumber(api)
  const { body: agents } = await ada.client.get('/agents')
  const upload = (csv: string, key: string) => {
    const form = new FormData()
    form.append('file', new Blob([csv]), 'a.csv')
    for (const [name, value] of [
      ['name', 'b'],
      ['agent_id', agents[0].agent_id],
      ['agent_phone_number', FROM],
    ]) {
      form.append(name!, value!)
    }
    return ada.client.post('/batch/upload', { form, headers: { 'idempotency-key': key } })
  }
  const csv = 'phone_number\n+14155550199\n'
  const answers = await Promise.all(Array.from({ length: 4 }, () => upload(csv, 'k')))
  t.same([...new Set(answers.map(({ status }) => status))], [201])
  t.equal(new Set(answers.map(({ text }) => text)).size, 1)
  t.equal((await ada.client.get('/batch')).body.length, 1)
  const other = await upload('phone_number\n+14155550198\n', 'k')
  t.match([other.status, other.body.detail], [422, [{ msg: 'was used with another input' }]])

  // What a process leaves behind that ends after the commit, and before.
  await api.store.pool.query('update idempotency_keys set answer = null')
  t.equal((await upload(csv, 'k')).body.batch_id, answers[0]?.body.batch_id, 'what was made is found')
  await api.store.pool.query('update idempotency_keys set answer = null')
  await api.store.pool.query('delete from batches')
  t.equal((await upload(csv, 'k')).body.batch_id, answers[0]?.body.batch_id, 'what was not made is made')
  t.equal((await ada.client.get('/batch')).body.length, 1)

  t.equal((await upload('nothing\n', 'bad')).status, 400)
  t.equal((await upload(csv, 'bad')).status, 201, 'a refused upload leaves its key free')
})

t.test('uploads of prospects and test calls of a campaign are idempotent, too', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await withNumber(api)
  const { body: agents } = await ada.client.get('/agents')
  const { body: campaign } = await ada.client.post('/api/v/campaign/', {
    body: { name: 'Renewals', agent_id: agents[0].agent_id, paused: true },
  })
  const headers = { 'idempotency-key': 'k' }
  const upload = (csv: string) => {
    const form = new FormData()
    form.append('original_data', new Blob([csv]), 'a.csv')
    return ada.client.post(`/api/v/upload/${campaign.slug}/`, { form, headers })
  }
  const csv = 'primary_phone\n+14155550199\n'
  const answers = await Promise.all([upload(csv), upload(csv), upload(csv)])
  t.equal(answers[0]?.status, 201)
  t.equal(new Set(answers.map(({ text }) => text)).size, 1)
  t.equal((await upload('primary_phone\n+14155550198\n')).status, 422)
  t.equal((await api.store.pool.query('select from prospect_uploads')).rowCount, 1)

  const call = () =>
    ada.client.post(`/api/v/campaign/${campaign.slug}/test-call/`, {
      body: { phone_number: '+14155550199' },
      headers: { 'idempotency-key': 'call' },
    })
  const calls = await Promise.all(Array.from({ length: 5 }, call))
  t.equal(calls[0]?.status, 201)
  t.equal(new Set(calls.map(({ text }) => text)).size, 1)
  t.equal((await ada.client.get('/calls/logs')).body.total, 1)
})
