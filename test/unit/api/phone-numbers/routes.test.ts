import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'

const api = await startTestApi(t)
const owner = await api.signUp()
const agent = (await owner.client.post('/agents', { body: { agent_name: 'Reception', system_prompt: 'Be brief.' } }))
  .body

t.test('a number is registered as E.164, read, given to an agent and deleted', async (t) => {
  const created = await owner.client.post('/phone-numbers', {
    body: { phone_number: '+1 (415) 555-2671', provider: 'sim' },
  })
  t.equal(created.status, 201)
  t.match(created.body, {
    phone_number: '+14155552671',
    workspace_id: owner.workspaceId,
    provider: 'sim',
    agent_id: null,
    trunk: null,
  })
  t.strictSame((await owner.client.get('/phone-numbers')).body, [created.body])
  t.strictSame((await owner.client.get('/phone-numbers/%2B14155552671')).body, created.body)
  t.strictSame((await owner.client.get('/phone-numbers/14155552671')).body, created.body)

  const given = await owner.client.patch('/phone-numbers/+14155552671', { body: { agent_id: agent.agent_id } })
  t.equal(given.body.agent_id, agent.agent_id)
  t.strictSame((await owner.client.get(`/agents/${agent.agent_id}`)).body.phone_numbers, ['+14155552671'])

  const taken = await owner.client.patch('/phone-numbers/+14155552671', { body: { agent_id: null } })
  t.equal(taken.body.agent_id, null)
  t.strictSame((await owner.client.delete('/phone-numbers/+14155552671')).body, { detail: 'Phone number deleted' })
  const gone = await owner.client.get('/phone-numbers/+14155552671')
  t.strictSame([gone.status, gone.body], [404, { detail: 'Phone number not found' }])
})

t.test('a number is registered once in a workspace, and no other workspace sees it or is held up by it', async (t) => {
  const stranger = await api.signUp()
  const body = { phone_number: '+14155552672', provider: 'sim' }
  t.equal((await owner.client.post('/phone-numbers', { body })).status, 201)
  const again = await owner.client.post('/phone-numbers', { body: { ...body, phone_number: '+1 415 555 2672' } })
  t.strictSame([again.status, again.body], [409, { detail: 'Phone number already registered' }])
  t.equal((await stranger.client.get('/phone-numbers/+14155552672')).status, 404)
  t.equal((await stranger.client.delete('/phone-numbers/+14155552672')).status, 404)
  t.equal((await stranger.client.patch('/phone-numbers/+14155552672', { body: { agent_id: null } })).status, 404)
  t.strictSame((await stranger.client.get('/phone-numbers')).body, [])
  t.equal((await stranger.client.post('/phone-numbers', { body })).status, 201)
  t.equal((await stranger.client.delete('/phone-numbers/+14155552672')).status, 200)
  t.equal((await owner.client.get('/phone-numbers/+14155552672')).status, 200)
  const foreign = await stranger.client.post('/phone-numbers', {
    body: { phone_number: '+14155552673', provider: 'sim', agent_id: agent.agent_id },
  })
  t.strictSame([foreign.status, foreign.body], [404, { detail: 'Agent not found' }])
})

t.test('wrong input is named and stores nothing', async (t) => {
  const post = (body: object) => owner.client.post('/phone-numbers', { body })
  for (const phone_number of ['12', 'call me', '', undefined]) {
    const { status, body } = await post({ phone_number, provider: 'sim' })
    t.strictSame([status, body], [400, { detail: 'Invalid phone number format' }], String(phone_number))
  }
  const unknown = await post({ phone_number: '+14155552674', provider: 'acme' })
  t.equal(unknown.status, 422)
  t.match(unknown.body.detail, [{ loc: ['body', 'provider'], type: 'enum', msg: /"sim"/ }])
  const trunk = await post({ phone_number: '+14155552674', provider: 'sim', trunk: 'main' })
  t.match(trunk.body.detail, [{ loc: ['body', 'trunk'], type: 'value_error' }])
  t.equal((await post({ phone_number: '+14155552674' })).body.detail[0].type, 'missing')
  t.equal((await owner.client.get('/phone-numbers/+14155552674')).status, 404)
  t.equal((await owner.client.get('/phone-numbers/reception')).status, 404)
})

t.test('a number moves to another trunk of its workspace, and to no other', async (t) => {
  const { client } = owner
  const trunk = { allowed_addresses: ['192.0.2.0/24'] }
  for (const name of ['one', 'two']) {
    const made = await client.post('/trunks', { body: { ...trunk, name, host: `${name}.sip.example.com` } })
    t.equal(made.status, 201)
  }
  const number = '+14155552699'
  await client.post('/phone-numbers', { body: { phone_number: number, provider: 'sip', trunk: 'one' } })
  const moved = await client.patch(`/phone-numbers/${number}`, { body: { trunk: 'two' } })
  t.match(moved, { status: 200, body: { trunk: 'two' } })
  const lost = await client.patch(`/phone-numbers/${number}`, { body: { trunk: 'three' } })
  t.same([lost.status, lost.body.detail], [404, 'Trunk not found'])
  t.match((await client.get(`/phone-numbers/${number}`)).body, { trunk: 'two' })
})

t.test('a number is bought; the provider says itself why it has none', async (t) => {
  const bought = await owner.client.post('/phone-numbers/purchase', {
    body: { provider: 'sim', country: 'US', area_code: '212' },
  })
  t.equal(bought.status, 201)
  t.match(bought.body.phone_number, /^\+1212\d{7}$/)
  t.strictSame((await owner.client.get(`/phone-numbers/${bought.body.phone_number}`)).body, bought.body)
  const { status, body } = await owner.client.post('/phone-numbers/purchase', {
    body: { provider: 'sim', country: 'FR' },
  })
  t.equal(status, 500)
  t.match(body.detail, /^Sim error: no number of FR/)
  t.equal(
    (await owner.client.post('/phone-numbers/purchase', { body: { provider: 'sim', country: 'France' } })).status,
    422,
  )
})

t.test('a carrier that is not set up says what is missing', async (t) => {
  for (const [path, body] of [
    ['/phone-numbers/purchase', { provider: 'twilio', country: 'US' }],
    ['/phone-numbers', { provider: 'twilio', phone_number: '+14155552999' }],
  ] as const) {
    const { status, body: answer } = await owner.client.post(path, { body })
    t.equal(status, 500)
    t.match(answer.detail, /^Twilio error: TWILIO_AUTH_TOKEN is not set; set it to your key/)
  }
})

t.test('members read, developers write, keys do neither', async (t) => {
  const member = await api.member(owner, 'member')
  const developer = await api.member(owner, 'developer')
  const body = { phone_number: '+14155552675', provider: 'sim' }
  const refused = await member.client.post('/phone-numbers', { body })
  t.strictSame([refused.status, refused.body], [403, { detail: 'Insufficient permissions' }])
  t.equal((await member.client.get('/phone-numbers')).status, 200)
  t.equal((await developer.client.post('/phone-numbers', { body })).status, 201)
  t.equal((await member.client.delete('/phone-numbers/+14155552675')).status, 403)
  t.equal((await developer.client.delete('/phone-numbers/+14155552675')).status, 200)
  const key = await api.keyClient(owner)
  t.equal((await key.get('/phone-numbers')).status, 401)
  t.equal((await api.client().post('/phone-numbers', { body })).status, 401)
})
