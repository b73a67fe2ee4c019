import t from 'tap'
import { WAV_HEAD_BYTES } from '../../../../runtime/recording/wav.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { RealtimeClient, until } from '../../../support/instance/realtime-node.ts'
import { linkWorker, startPhone } from '../../../support/phone/phone.ts'

t.test('of each turn one sees what became of it and hears how it sounded', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_RECORD_CALLS: 'true' } })
  await linkWorker(t, api)
  const user = await api.signUp()
  const { agentId } = await startPhone(api, user)
  const { body: session } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const callId = session.call_log_id
  const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, session.token)
  await client.got('session.started')
  client.send({ type: 'text', text: 'tool' })
  await until(() => client.messages.filter(({ type, final }) => type === 'transcript' && final).length >= 2)
  client.send({ type: 'text', text: 'and then?' })
  await until(() => client.messages.filter(({ type, final }) => type === 'transcript' && final).length >= 4)
  client.send({ type: 'end' })
  await client.closed()
  await until(
    async () => (await user.client.get(`/calls/${callId}`)).body.recording_url !== null,
    () => 'the recording',
  )
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  let turns: any[] = []
  await until(
    async () => {
      turns = (await user.client.get(`/calls/${callId}/turns`)).body
      return turns.some(({ latency }) => latency !== null)
    },
    () => JSON.stringify(turns),
  )
  const { body: call } = await user.client.get(`/calls/${callId}`)
  t.same(
    turns.map(({ role, text }) => ({ role, text })),
    call.transcript.map(({ role, text }: { role: string; text: string }) => ({ role, text })),
  )
  t.ok(
    turns.some(({ tools }) => tools.length === 1),
    'the tool',
  )
  const answer = turns.find(({ latency }) => latency !== null)
  t.match(answer, {
    role: 'assistant',
    latency: { total_ms: 321, endpointing_ms: 200, llm_ms: 100, tts_ms: 21 },
    providers: { stt: { provider: 'sim' }, llm: { provider: 'offline' }, tts: { provider: 'offline' } },
  })
  t.equal((await user.client.get(`/calls/${callId}/turns`, { query: { page: 1, page_size: 1 } })).body.items.length, 1)

  const path = new URL(answer.audio_url).pathname
  t.equal(path, `/calls/${callId}/turns/${answer.turn}/audio`)
  const response = await fetch(new URL(path, api.url), {
    headers: { cookie: [...user.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
  })
  t.equal(response.headers.get('content-type'), 'audio/wav')
  const wav = Buffer.from(await response.arrayBuffer())
  const seconds = (wav.length - WAV_HEAD_BYTES) / 4 / wav.readUInt32LE(24)
  t.equal(wav.readUInt32LE(40), wav.length - WAV_HEAD_BYTES, 'the head says its length')
  t.ok(seconds <= (answer.end_ms - answer.start_ms) / 1000 + 0.001, `${seconds} s`)

  for (const turn of ['99', '-1', 'x', '1.0']) {
    t.match(await user.client.get(`/calls/${callId}/turns/${turn}/audio`), { status: 404 }, turn)
  }
  const other = await api.signUp()
  t.equal((await other.client.get(`/calls/${callId}/turns`)).status, 404)
  t.equal((await other.client.get(path)).status, 404)
})
