import { join } from 'node:path'
import t from 'tap'
import { startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'
import { RealtimeClient, until } from '../../../support/instance/realtime-node.ts'
import { callWhen, isOver } from '../../../support/phone/phone.ts'
import { startTestVoice } from '../../../support/phone/voice.ts'
import { DOUBLE_KEY, startDoubles } from '../../../support/providers/doubles/start.ts'

const { env, stop } = await startDoubles()
t.teardown(stop)
const { OPENAI_BASE_URL = '', ELEVENLABS_BASE_URL = '' } = env
const WRONG_KEY = 'wrong-key-wrong-key-0123'
const KEYS = { OPENAI_API_KEY: DOUBLE_KEY }
const AGENT = {
  ...{ agent_name: 'Desk', system_prompt: 'You answer.', first_message: 'Hello.' },
  ...{ LLM_provider: 'openai', STT_provider: 'sim', TTS_provider: 'sim' },
}

const setKey = ({ client }: TestUser, keys: Record<string, string> = KEYS, provider = 'openai') =>
  client.put(`/providers/${provider}/keys`, { body: { keys } })
const ownOf = async ({ client }: TestUser, provider = 'openai') => {
  const { providers } = (await client.get('/providers/keys')).body
  return providers.find((one: { provider: string }) => one.provider === provider)
}
const rowsOf = async (api: TestApi) => (await api.store.pool.query('select * from workspace_provider_keys')).rows
const chat = ({ client }: TestUser, agentId: string) =>
  client.post('/chats/interaction', { body: { agent_id: agentId, session_id: 'one', message: 'Hello?' } })

t.test(
  'a workspace uses its own key in chats and calls, others do not, and its costs say whose they are',
  async (t) => {
    // A server in the vendor's place has prices of its own alone.
    const price = { from: '2020-01-01', inputPerMillionTokens: 10, outputPerMillionTokens: 10 }
    const prices = JSON.stringify({ llm: { openai: { '*': [price] } } })
    const file = join(t.testdir({ 'prices.json': prices }), 'prices.json')
    const api = await startTestApi(t, {
      env: { OPENAI_BASE_URL, OPENAI_API_KEY: WRONG_KEY, PATCHBAY_PRICES: file },
    })
    await startTestVoice(t, api, { OPENAI_BASE_URL, OPENAI_API_KEY: WRONG_KEY })
    const ada = await api.signUp()
    const eve = await api.signUp('Eve')
    t.match(await ownOf(ada), {
      title: 'OpenAI',
      variables: [{ variable: 'OPENAI_API_KEY', hint: null }],
      account: 'installation',
      set_at: null,
    })
    const tested = await ada.client.post('/providers/openai/test', { body: { keys: { OPENAI_API_KEY: WRONG_KEY } } })
    t.match(tested.body, { state: 'refused', message: /refused the key/ })
    t.match(await setKey(ada, { OPENAI_API_KEY: WRONG_KEY }), {
      status: 422,
      body: { detail: [{ loc: ['body', 'keys', 'OPENAI_API_KEY'], msg: /refused the key/ }] },
    })
    t.same(await rowsOf(api), [], 'a key that is refused is not kept')

    const set = await setKey(ada, { OPENAI_API_KEY: ` ${DOUBLE_KEY}\n` })
    t.equal(set.status, 200, set.text)
    t.match(set.body, { variables: [{ hint: DOUBLE_KEY.slice(-4) }], account: 'workspace', set_at: String })
    const [row] = await rowsOf(api)
    t.match(row, { workspace_id: ada.workspaceId, set_by: ada.id, value: /^v1\./ })
    t.match(await ownOf(eve), { account: 'installation', variables: [{ hint: null }] })
    const { providers } = (await ada.client.get('/providers')).body
    t.match(
      providers.find((one: { provider: string }) => one.provider === 'openai'),
      { own_key: true, health: { state: 'ok' } },
    )
    const audit = JSON.stringify((await ada.client.get('/audit-log')).body)
    t.match(audit, /PUT \/providers\/\{provider\}\/keys/)
    t.notMatch(audit + JSON.stringify([set.body, row]), DOUBLE_KEY, 'it is sealed, and shown never again')

    const made = await ada.client.post('/agents', { body: AGENT })
    t.equal(made.status, 201, made.text)
    const answered = await chat(ada, made.body.agent_id)
    t.equal(answered.status, 200, answered.text)
    t.ok(answered.body.cost.cost_llm > 0)
    const used = async () =>
      (await api.store.pool.query('select cost_usd from chat_spending where workspace_id = $1', [ada.workspaceId])).rows
    t.same(await used(), [], 'the month of the workspace counts what the operator pays')

    const { body } = await ada.client.get('/calls/generate-token', { query: { agent_id: made.body.agent_id } })
    const call = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
    await call.got('transcript', { role: 'assistant', final: true })
    call.send({ type: 'text', text: 'Hello?' })
    const answers = () =>
      call.messages.filter(({ type, role, final }) => type === 'transcript' && role === 'assistant' && final)
    await until(
      () => answers().length === 2,
      () => `the answer after the greeting in ${JSON.stringify(call.messages.slice(-10))}`,
    )
    call.send({ type: 'end' })
    const { cost } = (await callWhen(ada, body.call_log_id, isOver)) as unknown as { cost: Record<string, number> }
    t.ok((cost.cost_llm ?? 0) > 0)
    t.equal(cost.own_keys_cost, cost.cost_llm)
    const { totals } = (await ada.client.get('/reports/dashboard')).body
    t.match(totals, { cost_llm: cost.cost_llm, own_keys_cost: cost.cost_llm })

    const theirs = await eve.client.post('/agents', { body: AGENT })
    t.match(theirs, { status: 422, body: { detail: [{ loc: ['body', 'LLM_provider'], msg: /refused the key/ }] } })
    t.match((await ada.client.delete('/providers/openai/keys')).body, { account: 'installation', set_at: null })
    t.same(await rowsOf(api), [])
    t.not((await chat(ada, made.body.agent_id)).status, 200, 'without its own key it has the operator’s again')
  },
)

t.test('an own key opens a provider that the operator allows nobody; the operator may forbid own keys', async (t) => {
  const api = await startTestApi(t, { env: { OPENAI_BASE_URL } })
  const operator = await api.signUp()
  const eve = await api.signUp('Eve')
  const quotas = (body: object) => operator.client.patch(`/operator/workspaces/${eve.workspaceId}`, { body })
  t.equal((await quotas({ providers: ['sim', 'offline'] })).status, 200)
  t.equal((await eve.client.post('/agents', { body: AGENT })).status, 422)
  t.equal((await setKey(eve)).status, 200)
  const made = await eve.client.post('/agents', { body: AGENT })
  t.equal(made.status, 201, made.text)
  t.equal((await chat(eve, made.body.agent_id)).status, 200)

  t.match((await quotas({ own_keys: false })).body, { quotas: { own_keys: false } })
  t.match(await setKey(eve), { status: 403, code: 'own_keys_refused' })
  t.match((await eve.client.get('/providers/keys')).body, { allowed: false })
  t.not((await chat(eve, made.body.agent_id)).status, 200, 'the stored one is used no more')
  await quotas({ own_keys: true })
  t.equal((await chat(eve, made.body.agent_id)).status, 200)
})

t.test('what is no whole key of a provider of speech or language is refused', async (t) => {
  const api = await startTestApi(t, { env: { OPENAI_BASE_URL } })
  const ada = await api.signUp()
  for (const name of ['twilio', 'offline', 's3', 'nobody']) {
    t.match(await setKey(ada, { TWILIO_AUTH_TOKEN: 'x' }, name), { status: 404, code: 'provider_not_found' })
  }
  const wrong: Record<string, string>[] = [
    {},
    { OPENAI_BASE_URL: 'http://x' },
    { OPENAI_API_KEY: 'a\r\nb: c' },
    { OPENAI_API_KEY: '' },
  ]
  for (const keys of wrong) {
    t.equal((await setKey(ada, keys)).status, 422, JSON.stringify(keys))
  }
  t.match((await setKey(ada, { AZURE_SPEECH_KEY: 'key' }, 'azure')).body.detail, [
    { loc: ['body', 'keys', 'AZURE_SPEECH_REGION'], msg: /is missing/ },
  ])
  t.same(await rowsOf(api), [])
})

t.test('the voices of the workspace’s own account can be chosen', async (t) => {
  const api = await startTestApi(t, { env: { ELEVENLABS_BASE_URL } })
  const [ada, eve] = [await api.signUp(), await api.signUp('Eve')]
  t.equal((await setKey(ada, { ELEVENLABS_API_KEY: DOUBLE_KEY }, 'elevenlabs')).status, 200)
  const voicesOf = async ({ client }: TestUser) => {
    const { providers } = (await client.get('/providers')).body
    return providers.find((one: { provider: string }) => one.provider === 'elevenlabs').tts.voices
  }
  t.ok((await voicesOf(ada)).length > (await voicesOf(eve)).length)
})
