import t from 'tap'
import { startTestApi } from '../../support/instance/api.ts'
import { RealtimeClient, until } from '../../support/instance/realtime-node.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../support/phone/phone.ts'
import { startTestVoice } from '../../support/phone/voice.ts'
import { type CollectedSpan, startCollector } from '../../support/providers/otlp-collector.ts'

const TURNS = 10

t.test('a call of ten turns comes to a collector as one trace that says what the recording does', async (t) => {
  const collector = await startCollector(t)
  const api = await startTestApi(t, {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b,x-other=c',
      OTEL_SERVICE_NAME: 'switchboard',
    },
  })
  await startTestVoice(t, api)
  const user = await api.signUp()
  const { body: agent } = await user.client.post('/agents', {
    body: {
      agent_name: 'Ava',
      system_prompt: 'Be kind.',
      first_message: 'Hi.',
      LLM_provider: 'sim',
      LLM_model: JSON.stringify({ script: [{ question: 'Go on', answer: 'Yes it is.' }] }),
      TTS_provider: 'sim',
      TTS_voice: 'tone',
    },
  })
  const { body: session } = await user.client.get('/calls/generate-token', { query: { agent_id: agent.agent_id } })
  const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, session.token)
  await client.got('session.started')
  const answers = () =>
    client.messages.filter(({ type, role, final }) => type === 'transcript' && role === 'assistant' && final === true)
  for (let n = 1; n <= TURNS; n++) {
    await until(() => answers().length >= n)
    client.send({ type: 'text', text: 'Go on' })
  }
  await until(() => answers().length > TURNS)
  client.send({ type: 'end' })
  const call = await callWhen(user, session.call_log_id, isOver)
  await until(() => collector.spans.some(({ name }) => name === 'call'))
  t.same(collector.faults, [])
  t.match(collector.headers[0], { 'x-tenant': 'a b', 'x-other': 'c' })
  const traceId = call.call_log_id.replaceAll('-', '')
  const spans = collector.spans.filter((span) => span.traceId === traceId)
  t.ok(collector.spans.every(({ service }) => service === 'switchboard'))
  const ids = new Set(spans.map(({ spanId }) => spanId))
  t.ok(spans.every(({ parentSpanId }) => parentSpanId === '' || ids.has(parentSpanId)))
  t.equal(spans.filter(({ name }) => name === 'turn').length, TURNS)
  t.notOk(
    spans.some(({ attributes }) => 'patchbay.text' in attributes),
    'no words without PATCHBAY_TRACE_CONTENT',
  )

  // What the recording is cut by (`GET /calls/{id}/turns/{turn}/audio`).
  const { body: turns } = await user.client.get(`/calls/${call.call_log_id}/turns`)
  const answeredMs = Date.parse(call.answered_at)
  const spoken = spans.filter(({ name }) => name === 'agent speaks' || name === 'greeting').sort(byStart)
  const told = turns.filter(({ role }: { role: string }) => role === 'assistant')
  t.equal(spoken.length, told.length)
  for (const [i, { startMs, endMs }] of spoken.entries()) {
    const { start_ms, end_ms } = told[i]
    t.ok(Math.abs(startMs - answeredMs - start_ms) <= 20, `${i} begins ${startMs - answeredMs}, as told ${start_ms}`)
    t.ok(Math.abs(endMs - answeredMs - end_ms) <= 20, `${i} ends ${endMs - answeredMs}, as told ${end_ms}`)
  }
  for (const turn of spans.filter(({ name }) => name === 'turn')) {
    const parts = spans.filter(({ parentSpanId }) => parentSpanId === turn.spanId).sort(byStart)
    t.equal(Math.min(...parts.map(({ startMs }) => startMs)), turn.startMs)
    t.equal(Math.max(...parts.map(({ endMs }) => endMs)), turn.endMs)
    const answer = parts.find(({ name }) => name === 'agent speaks')
    const last = parts.findLast(({ name }) => name === 'tts' || name === 'playout')
    t.ok(Math.abs((answer?.startMs ?? 0) - (last?.endMs ?? 0)) <= 20, 'the stages add up to the first sound')
  }
})

t.test('a collector that refuses, or is away, costs a call nothing', async (t) => {
  const refusing = await startCollector(t, 500)
  for (const endpoint of [refusing.url, 'http://127.0.0.1:1']) {
    const api = await startTestApi(t, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } })
    await linkWorker(t, api)
    const user = await api.signUp()
    const { agentId } = await startPhone(api, user)
    const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
    const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
    await client.got('session.started')
    client.send({ type: 'end' })
    t.match(await callWhen(user, body.call_log_id, isOver), { status: 'completed' })
  }
})

const byStart = (a: CollectedSpan, b: CollectedSpan): number => a.startMs - b.startMs
