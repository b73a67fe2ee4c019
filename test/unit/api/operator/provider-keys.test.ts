import t from 'tap'
import { checkProvider } from '../../../../runtime/plugin/provider-health.ts'
import { startTestApi, type TestApi } from '../../../support/instance/api.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { startTestVoice } from '../../../support/phone/voice.ts'
import { TwilioDouble } from '../../../support/providers/doubles/carriers/twilio.ts'
import { DOUBLE_KEY, startDoubles } from '../../../support/providers/doubles/start.ts'

const { env, stop } = await startDoubles()
t.teardown(stop)
const { OPENAI_BASE_URL = '', DEEPGRAM_BASE_URL = '' } = env
const OPENAI = '/operator/providers/openai'
const WRONG_KEY = 'wrong-key-wrong-key-0123'

const keyOf = async (api: TestApi) => {
  const { rows } = await api.store.pool.query('select * from provider_keys')
  return rows
}

t.test('a key is tested without being kept, and once pasted used by every process without a restart', async (t) => {
  const api = await startTestApi(t, { env: { OPENAI_BASE_URL } })
  const other = await startTestApi(t, { beside: api, env: { OPENAI_BASE_URL } })
  const voice = await startTestVoice(t, api, { OPENAI_BASE_URL })
  const { client, id } = await api.signUp()
  const stateOf = async (from = client) => {
    const { providers } = (await from.get('/operator/providers')).body
    return providers.find((one: { provider: string }) => one.provider === 'openai')
  }
  t.match(await stateOf(), {
    title: 'OpenAI',
    kinds: ['llm', 'realtime', 'stt', 'tts', 'embedding'],
    variables: [{ variable: 'OPENAI_API_KEY', source: null, hint: null, set_at: null }],
    health: { state: 'refused' },
  })

  const test = (key: string) => client.post(`${OPENAI}/test`, { body: { keys: { OPENAI_API_KEY: key } } })
  t.match((await test(WRONG_KEY)).body, { state: 'refused', message: /^OpenAI .*refused the key \(401\)/ })
  const tested = await test(`  ${DOUBLE_KEY}\n`)
  t.match(tested.body, { state: 'ok', latency_ms: Number, message: null }, 'spaces around a pasted key do not count')
  t.same(await keyOf(api), [], 'a test keeps nothing')
  t.match(await stateOf(), { health: { state: 'refused' } })

  const set = await client.put(`${OPENAI}/keys`, { body: { keys: { OPENAI_API_KEY: DOUBLE_KEY } } })
  t.equal(set.status, 200, set.text)
  t.match(set.body, {
    variables: [{ variable: 'OPENAI_API_KEY', source: 'stored', hint: DOUBLE_KEY.slice(-4), set_at: String }],
    health: { state: 'ok' },
  })
  const [row, ...more] = await keyOf(api)
  t.same([more, row.set_by], [[], id])
  t.match(row.value, /^v1\./)
  t.notMatch(JSON.stringify(row), DOUBLE_KEY, 'it is sealed')
  t.notMatch(JSON.stringify(await stateOf()), DOUBLE_KEY, 'and shown never again')

  const atOther = other.client()
  for (const [name, value] of client.cookies) atOther.cookies.set(name, value)
  await until(async () => (await stateOf(atOther)).health.state === 'ok')
  await until(() => voice.keys.sourceOf('openai', 'OPENAI_API_KEY') === 'stored')
  t.equal((await checkProvider(voice, 'openai')).state, 'ok', 'a voice worker uses it')
  const late = await startTestVoice(t, api, { OPENAI_BASE_URL })
  await until(() => late.keys.sourceOf('openai', 'OPENAI_API_KEY') === 'stored')

  const entries = (await client.get('/operator/audit-log')).body.items
  const entry = entries.find((one: { action: string }) => one.action === 'PUT /operator/providers/{provider}/keys')
  t.match(entry, { resource: `${OPENAI}/keys`, actor: { id } })
  t.notMatch(JSON.stringify(entries), DOUBLE_KEY)

  await client.put(`${OPENAI}/keys`, { body: { keys: { OPENAI_API_KEY: WRONG_KEY } } })
  t.match(await stateOf(), { health: { state: 'refused' } }, 'a new key replaces the one before at once')
  t.equal((await keyOf(api)).length, 1)
  const removed = await client.delete(`${OPENAI}/keys`)
  t.match(removed.body, { variables: [{ source: null, hint: null }] })
  t.same(await keyOf(api), [])
  await until(() => voice.keys.sourceOf('openai', 'OPENAI_API_KEY') === undefined)
})

t.test('the environment wins over what is stored, and is shown as such', async (t) => {
  const api = await startTestApi(t, { env: { OPENAI_BASE_URL, OPENAI_API_KEY: DOUBLE_KEY } })
  const { client } = await api.signUp()
  const { providers } = (await client.get('/operator/providers')).body
  const openai = providers.find((one: { provider: string }) => one.provider === 'openai')
  t.match(openai, { variables: [{ source: 'environment', hint: null }], health: { state: 'ok' } })
  for (const [method, path] of [
    ['PUT', 'keys'],
    ['POST', 'test'],
  ] as const) {
    const refused = await client.request(method, `${OPENAI}/${path}`, { body: { keys: { OPENAI_API_KEY: 'mine' } } })
    t.equal(refused.status, 422)
    t.match(refused.body.detail, [
      { loc: ['body', 'keys', 'OPENAI_API_KEY'], msg: /set in the environment, which wins/ },
    ])
  }
  t.same(await keyOf(api), [])
  // Stored before the environment had one.
  const before = await startTestApi(t, { beside: api, env: { OPENAI_BASE_URL } })
  const there = before.client()
  for (const [name, value] of client.cookies) there.cookies.set(name, value)
  t.equal((await there.put(`${OPENAI}/keys`, { body: { keys: { OPENAI_API_KEY: WRONG_KEY } } })).status, 200)
  const still = (await client.get('/operator/providers')).body.providers
  t.match(
    still.find((one: { provider: string }) => one.provider === 'openai'),
    { variables: [{ source: 'environment' }], health: { state: 'ok' } },
  )
})

t.test('a provider whose key was pasted serves new agents, as one whose key the environment has', async (t) => {
  const api = await startTestApi(t, { env: { DEEPGRAM_BASE_URL } })
  const { client } = await api.signUp()
  const make = async () =>
    (await client.post('/agents', { body: { agent_name: 'Desk', system_prompt: 'You answer.' } })).body.STT_provider
  t.equal(await make(), 'sim')
  const keys = { DEEPGRAM_API_KEY: DOUBLE_KEY }
  t.equal((await client.put('/operator/providers/deepgram/keys', { body: { keys } })).status, 200)
  t.equal(await make(), 'deepgram')
  t.equal((await client.delete('/operator/providers/deepgram/keys')).status, 200)
  t.equal(await make(), 'sim')
})

t.test('a carrier takes its account without a restart, and a changed token while it runs', async (t) => {
  const twilio = await TwilioDouble.start(t)
  const api = await startTestApi(t, { env: { TWILIO_API_URL: twilio.url } })
  const { client } = await api.signUp()
  const path = '/operator/providers/twilio/keys'
  const buy = () => client.post('/phone-numbers/purchase', { body: { country: 'US', provider: 'twilio' } })
  t.match((await buy()).body.detail, /TWILIO_AUTH_TOKEN is not set/)

  const wrong = { TWILIO_ACCOUNT_SID: twilio.accountSid, TWILIO_AUTH_TOKEN: WRONG_KEY }
  const set = await client.put(path, { body: { keys: wrong } })
  t.match(set.body, {
    variables: [{ variable: 'TWILIO_AUTH_TOKEN' }, { variable: 'TWILIO_ACCOUNT_SID' }],
    health: { state: 'refused', message: /^Twilio refused the key \(401\); check TWILIO_AUTH_TOKEN/ },
  })
  t.not((await buy()).status, 201)
  const right = await client.put(path, { body: { keys: { TWILIO_AUTH_TOKEN: twilio.authToken } } })
  t.match(right.body, { health: { state: 'ok' } }, 'the variable that is left out keeps its value')
  t.equal((await buy()).status, 201)
})

t.test('only operators see and set keys; what is no key of a provider is refused', async (t) => {
  const api = await startTestApi(t, { env: { OPENAI_BASE_URL } })
  const { client } = await api.signUp()
  const { client: stranger } = await api.signUp('Eve')
  const body = { keys: { OPENAI_API_KEY: DOUBLE_KEY } }
  const asked = [
    await stranger.get('/operator/providers'),
    await stranger.put(`${OPENAI}/keys`, { body }),
    await stranger.post(`${OPENAI}/test`, { body }),
    await stranger.delete(`${OPENAI}/keys`),
  ]
  t.same(
    asked.map(({ status }) => status),
    [403, 403, 403, 403],
  )
  for (const name of ['nobody', 'offline', 's3']) {
    t.match(await client.put(`/operator/providers/${name}/keys`, { body }), { status: 404, code: 'provider_not_found' })
  }
  for (const keys of [
    {},
    { PATH: '/tmp' },
    { OPENAI_BASE_URL: 'http://x' },
    { OPENAI_API_KEY: 'a\r\nb: c' },
    { OPENAI_API_KEY: '' },
  ]) {
    t.equal((await client.put(`${OPENAI}/keys`, { body: { keys } })).status, 422, JSON.stringify(keys))
  }
  t.same(await keyOf(api), [])
})
