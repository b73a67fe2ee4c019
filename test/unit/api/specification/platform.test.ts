import { readFileSync } from 'node:fs'
import t from 'tap'
import { askCarrier } from '../../../../api/phone-numbers/carrier.ts'
import { CarrierFault } from '../../../../runtime/plugin-sdk/telephony/carrier.ts'
import { startTestApi } from '../../../support/instance/api.ts'

/** What the specification says of agents, numbers, batches and workspaces, where clients met something else. */

const AGENT = { agent_name: 'Ada', system_prompt: 'You answer.' }

t.test('a model or voice that a provider does not have is 422 and names what there is', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { client } = await api.signUp()
  const sim = { LLM_provider: 'sim', STT_provider: 'sim', TTS_provider: 'sim' }
  for (const [field, value] of [
    ['STT_model', 'closed-set'],
    ['LLM_model', 'gpt-4'],
    ['TTS_voice', 'nova'],
    ['LLM_model', '{no JSON'],
  ] as const) {
    const { status, body } = await client.post('/agents', { body: { ...AGENT, ...sim, [field]: value } })
    t.same([status, body.detail[0].loc, body.detail[0].type], [422, ['body', field], 'enum'], field)
    t.match(body.detail[0].msg, /must be one of ("default"|"tone")/)
  }
  const scenario = { ...AGENT, ...sim, LLM_model: '{"otherwise":"Yes."}', TTS_voice: 'en-us+f4' }
  t.equal((await client.post('/agents', { body: scenario })).status, 201)
  const { body: agent } = await client.post('/agents', { body: { ...AGENT, LLM_provider: 'offline' } })
  const changed = await client.put(`/agents/${agent.agent_id}`, { body: { LLM_provider: 'sim' } })
  t.match(changed, { status: 200, body: { LLM_model: 'default' } }, 'another provider comes with its own default')
  const wrong = await client.put(`/agents/${agent.agent_id}`, { body: { LLM_model: 'gpt-4' } })
  t.match(wrong, { status: 422, body: { detail: [{ loc: ['body', 'LLM_model'], type: 'enum' }] } })
})

t.test('the example of an agent in the documentation makes one', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { client } = await api.signUp()
  const { body: document } = await client.get('/openapi.json')
  const content = document.paths['/agents'].post.requestBody.content['application/json']
  const examples = [content.example, ...Object.values(content.examples ?? {})].filter(Boolean)
  t.ok(examples.length > 0)
  for (const example of examples) t.equal((await client.post('/agents', { body: example })).status, 201)
  const made = document.paths['/agents/{agent_id}'].get.responses['200'].content['application/json'].example
  const { LLM_provider, LLM_model, STT_provider, STT_model, TTS_provider, TTS_voice } = made
  const shown = { LLM_provider, LLM_model, STT_provider, STT_model, TTS_provider, TTS_voice }
  t.equal((await client.post('/agents', { body: { ...AGENT, ...shown } })).status, 201, 'nor does its answer lie')
})

t.test('a number of a deleted workspace can be registered with the answer', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const [ada, bob] = [await api.signUp(), await api.signUp('Bob')]
  const number = { phone_number: '+14155550100', provider: 'sim' }
  t.equal((await ada.client.post('/phone-numbers', { body: number })).status, 201)
  await api.store.global
    .insertInto('carrier_numbers')
    .values({ provider: 'twilio', phone_number: '+14155550101', workspace_id: ada.workspaceId, assigned_by: ada.id })
    .execute()
  t.equal((await ada.client.delete(`/workspaces/${ada.workspaceId}`)).status, 200)
  t.equal((await bob.client.post('/phone-numbers', { body: number })).status, 201)
  const left = await api.store.global.selectFrom('carrier_numbers').selectAll().execute()
  t.same(left, [], 'what the operator gave it can be given to another')
})

t.test('a SIP number on a trunk that does not exist is 404', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { client } = await api.signUp()
  const body = { phone_number: '+14155550100', provider: 'sip', trunk: 'nowhere' }
  const refused = await client.post('/phone-numbers', { body })
  t.same([refused.status, refused.body.detail], [404, 'Trunk not found'])
  t.equal((await client.get('/phone-numbers')).body.length, 0)
})

t.test('a fault of a SIP trunk begins with the name of the platform', async (t) => {
  const { title } = JSON.parse(readFileSync(new URL('../../../../plugins/sip/plugin.json', import.meta.url), 'utf8'))
  const services = { plugins: { titleOf: () => title } } as never
  const failing = askCarrier(services, 'sip', new AbortController().signal, async () => {
    throw new CarrierFault('the registrar does not answer')
  })
  await t.rejects(failing, { status: 500, message: 'Patchbay SIP error: the registrar does not answer' })
})

t.test('a paused batch with a call that rings is still running to a deletion', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const user = await api.signUp()
  const { body: agent } = await user.client.post('/agents', { body: AGENT })
  const number = { phone_number: '+14155550100', provider: 'sim', agent_id: agent.agent_id }
  await user.client.post('/phone-numbers', { body: number })
  const form = new FormData()
  form.set('name', 'Renewals')
  form.set('agent_id', agent.agent_id)
  form.set('agent_phone_number', '+14155550100')
  form.set('file', new Blob(['phone_number\n+14155550199\n']), 'numbers.csv')
  const { body: batch } = await user.client.post('/batch/upload', { form })
  const of = `/batch/${batch.batch_id}`
  await user.client.post(`${of}/send`)
  await user.client.post(`${of}/pause`)
  const call = { agent_id: agent.agent_id, agent_name: 'Ada', call_type: 'phone', direction: 'outbound' } as const
  await api.store
    .tenant(user.workspaceId)
    .db.insertInto('calls')
    .values({
      ...{ ...call, id: '0197f3a2-7c1e-7000-8000-0000000000aa', status: 'ringing', batch_id: batch.batch_id },
      ...{ placed_at: new Date(), created_at: new Date(), dynamic_variables: '{}' },
    })
    .execute()
  const refused = await user.client.delete(of)
  t.same([refused.status, refused.body.detail], [400, 'Batch is currently running'])
  await api.store.pool.query(`update calls set status = 'no_answer', ended_at = now() where batch_id = $1`, [
    batch.batch_id,
  ])
  t.equal((await user.client.delete(of)).status, 200)
})

t.test('pages of an origin that the operator names may read and write with the cookies', async (t) => {
  const origin = 'https://app.example.com'
  const api = await startTestApi(t, {
    nodes: 2,
    env: { PATCHBAY_ALLOWED_ORIGINS: `${origin},https://other.example.com` },
  })
  const ada = await api.signUp()
  const cookie = [...ada.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const ask = (method: string, path: string, headers: Record<string, string>, body?: string) =>
    fetch(`${api.url}${path}`, { method, headers, ...(body ? { body } : {}) })
  const preflight = await ask('OPTIONS', '/workspaces', {
    ...{ origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
  })
  t.equal(preflight.status, 204)
  t.match(preflight.headers.get('access-control-allow-methods'), /POST/)
  t.match(preflight.headers.get('access-control-allow-headers'), /content-type/)
  t.equal(preflight.headers.get('access-control-allow-origin'), origin)
  t.equal(preflight.headers.get('access-control-allow-credentials'), 'true')
  const json = { 'content-type': 'application/json', cookie, 'sec-fetch-site': 'same-site' }
  const write = await ask('POST', '/workspaces', { ...json, origin }, '{"name":"x"}')
  t.same([write.status, write.headers.get('access-control-allow-origin')], [201, origin])
  t.match(write.headers.get('vary'), /Origin/)
  const fault = await ask('POST', '/workspaces', { ...json, origin }, '{}')
  t.same([fault.status, fault.headers.get('access-control-allow-origin')], [422, origin], 'an error is read, too')
  const foreign = await ask('POST', '/workspaces', { ...json, origin: 'https://evil.example' }, '{"name":"x"}')
  t.same([foreign.status, foreign.headers.get('access-control-allow-origin')], [403, null])
  t.equal((await ask('OPTIONS', '/workspaces', { origin: 'https://evil.example' })).status, 405)
})

t.test('without the setting no origin but its own may write, and none gets a preflight', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const origin = 'https://app.example.com'
  t.equal((await ada.client.post('/workspaces', { body: { name: 'x' }, headers: { origin } })).status, 403)
  const preflight = await fetch(`${api.url}/workspaces`, { method: 'OPTIONS', headers: { origin } })
  t.equal(preflight.status, 405)
})

t.test('45 messages of one session at once are all answered', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { client } = await api.signUp()
  const { body: agent } = await client.post('/agents', { body: AGENT })
  const ask = () =>
    client.post('/chats/interaction', { body: { agent_id: agent.agent_id, session_id: 's', message: 'Hello?' } })
  const answers = await Promise.all(Array.from({ length: 45 }, ask))
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]))
})
