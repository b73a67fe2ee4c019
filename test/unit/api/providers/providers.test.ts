import t from 'tap'
import type { ProviderBody } from '../../../../api/providers/schema.ts'
import { type ApiClient, startTestApi } from '../../../support/instance/api.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const { env: all, stop } = await startDoubles()
t.teardown(stop)
const { DEEPGRAM_API_KEY = '', DEEPGRAM_BASE_URL = '', CARTESIA_BASE_URL = '' } = all
const env = { DEEPGRAM_API_KEY, DEEPGRAM_BASE_URL, CARTESIA_BASE_URL }

async function providersOf(client: ApiClient): Promise<(name: string) => ProviderBody> {
  const { status, body } = await client.get('/providers')
  t.equal(status, 200)
  const { providers } = body as { providers: ProviderBody[] }
  return (name) => {
    const found = providers.find(({ provider }) => provider === name)
    if (found === undefined) throw new Error(`${name} is not listed`)
    return found
  }
}

t.test('what agents can be made of is listed with prices, voices, health and defaults', async (t) => {
  const api = await startTestApi(t, {
    env: { ...env, CARTESIA_API_KEY: 'wrong' },
  })
  const { client } = await api.signUp()
  // The page waits two seconds for their answers, and a busy machine may have them later.
  let of = await providersOf(client)
  await until(async () => {
    of = await providersOf(client)
    return ['deepgram', 'cartesia'].every((name) => of(name).health.state !== 'not_asked')
  })

  const deepgram = of('deepgram')
  t.equal(deepgram.title, 'Deepgram')
  t.match(deepgram.health, { state: 'ok', message: null })
  t.equal(deepgram.stt?.is_default, true)
  t.equal(deepgram.llm, null)
  t.equal(deepgram.stt?.any_model, true, 'DEEPGRAM_BASE_URL may have others')

  t.match(of('cartesia').health, { state: 'refused', message: /check CARTESIA_API_KEY/ })
  t.match(of('openai'), { health: { state: 'no_key', message: /OPENAI_API_KEY is not set/ } })
  t.match(
    of('openai').llm?.models.find(({ model }) => model === 'gpt-realtime-2.1'),
    { speech_to_speech: true, price: { output_per_million_tokens: 24 } },
    'a speech-to-speech model is one of the models to choose',
  )
  t.ok(of('openai').llm?.speech_to_speech.includes('gpt-realtime*'), 'whatever server it is at')
  t.same(of('openai').llm?.models.find(({ model }) => model === 'gpt-4.1-mini')?.price, {
    input_per_million_tokens: 0.4,
    output_per_million_tokens: 1.6,
  })
  const { llm, tts, isolation, allowed } = of('offline')
  t.match({ isolation, allowed }, { isolation: 'none', allowed: true })
  t.equal(llm?.is_default, true)
  t.match(
    tts?.voices.find(({ voice }) => voice === 'de'),
    { name: 'de', price: { per_million_characters: 0 } },
  )

  const made = await client.post('/agents', {
    body: { agent_name: 'Desk', system_prompt: 'Answer.', TTS_provider: 'offline' },
  })
  t.match(made.body, { LLM_provider: 'offline', STT_provider: 'deepgram', STT_model: 'nova-3' })
})

t.test('grants are shown to whoever runs the installation, a workspace’s own limits to everybody', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_OPERATORS: 'user-1@example.com' } })
  const operator = await api.signUp()
  t.same((await providersOf(operator.client))('openai').grants, {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as the operator writes it
    net: ['api.openai.com:443', '${OPENAI_BASE_URL}'],
    env: ['OPENAI_API_KEY', 'OPENAI_BASE_URL'],
    run: [],
    read: [],
    listen: [],
  })
  const tenant = await api.signUp()
  await operator.client.patch(`/operator/workspaces/${tenant.workspaceId}`, {
    body: { providers: ['sim'] },
  })
  const of = await providersOf(tenant.client)
  t.equal(of('openai').grants, null)
  t.equal(of('openai').allowed, false)
  t.equal(of('sim').allowed, true)
  const key = await api.keyClient(tenant)
  t.equal((await providersOf(key))('sim').allowed, true)
})

t.test('the providers travel in gzip where the client takes it, and are known by their tag either way', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const ask = (headers: Record<string, string>) => client.get('/providers', { headers })
  const plain = await ask({ 'accept-encoding': 'identity' })
  t.equal(plain.headers.get('content-encoding'), null)
  t.equal(plain.headers.get('vary'), 'accept-encoding')
  for (const refused of ['gzip;q=0', 'br, gzip; q=0.0', 'xgzip'])
    t.equal((await ask({ 'accept-encoding': refused })).headers.get('content-encoding'), null, refused)
  const tag = plain.headers.get('etag') ?? ''
  for (const taken of ['gzip', 'br;q=1, gzip;q=0.5', '*']) {
    const packed = await ask({ 'accept-encoding': taken })
    t.equal(packed.headers.get('content-encoding'), 'gzip', taken)
    t.same(Object.keys(packed.body), Object.keys(plain.body))
    t.equal((await ask({ 'accept-encoding': taken, 'if-none-match': packed.headers.get('etag') ?? '' })).status, 304)
  }
  t.equal((await ask({ 'accept-encoding': 'identity', 'if-none-match': `W/${tag}` })).status, 304)
})
