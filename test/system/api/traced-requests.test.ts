import t from 'tap'
import { startTestApi } from '../../support/instance/api.ts'
import { startTestJobs } from '../../support/instance/jobs.ts'
import { RealtimeClient, until } from '../../support/instance/realtime-node.ts'
import { callWhen, isOver } from '../../support/phone/phone.ts'
import { startTestVoice } from '../../support/phone/voice.ts'
import { startChatServer } from '../../support/providers/chat-server.ts'
import { startMcpExample } from '../../support/providers/mcp-example.ts'
import { startMcpProxy } from '../../support/providers/mcp-proxy.ts'
import { type CollectedSpan, startCollector } from '../../support/providers/otlp-collector.ts'
import { freePort } from '../../support/sip/sip-peers.ts'
import { startReceiver } from '../../support/world/webhook-receiver.ts'

/** Requests that come in and go out, as spans; whoever is asked for a call is told which. */

const collector = await startCollector(t)
const models = await startChatServer(t, () => 'Yes it is.')
const adminPort = await freePort()
const env = { ...models.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1' }
const api = await startTestApi(t, { env: { ...env, PATCHBAY_ADMIN_PORT: String(adminPort) } })
await startTestVoice(t, api, env)
await startTestJobs(t, api, env)
const user = await api.signUp()

async function call(agent: Record<string, unknown>, say: string): Promise<string> {
  const { body: made, text } = await user.client.post('/agents', {
    body: { ...{ agent_name: 'Ava', system_prompt: 'Be kind.', TTS_provider: 'sim', TTS_voice: 'tone' }, ...agent },
  })
  if (made.agent_id === undefined) throw new Error(text)
  // A call waits two seconds for a server that was never listed, and this machine may be busier than that.
  await until(async () => {
    const { body } = await user.client.get(`/agents/${made.agent_id}/tools`)
    return agent.tools === undefined || body.tools.length > 0
  })
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: made.agent_id } })
  const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
  await client.got('session.started')
  client.send({ type: 'text', text: say })
  const answered = () => client.messages.some(({ role, final }) => role === 'assistant' && final === true)
  await until(answered, undefined, 90_000)
  client.send({ type: 'end' })
  await callWhen(user, body.call_log_id, isOver)
  return body.call_log_id
}

const traceOf = (callId: string) => collector.spans.filter(({ traceId }) => traceId === callId.replaceAll('-', ''))

/** The span of a trace that is as wanted, once it came. */
async function span(callId: string, wanted: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
  await until(
    () => traceOf(callId).some(wanted),
    () => JSON.stringify(traceOf(callId)),
    90_000,
  )
  return traceOf(callId).find(wanted)!
}

const [SERVER, CLIENT] = [2, 3]

t.test('a tool and a webhook are told which span of the call asked them', async (t) => {
  const shop = await startReceiver(t, (_, response) => void response.end('It is on its way.'))
  const hook = await startReceiver(t)
  await user.client.post('/webhooks', { body: { url: hook.url, types: ['call.ended'] } })
  const callId = await call(
    {
      LLM_provider: 'sim',
      LLM_model: JSON.stringify({
        script: [{ question: 'Where is it', answer: 'One moment.', tool: { name: 'order', arguments: {} } }],
      }),
      tools: [{ type: 'http', name: 'order', description: 'Where an order is.', http: { url: shop.url } }],
    },
    'Where is it',
  )
  const tool = await span(callId, ({ name }) => name === 'execute_tool order')
  const get = await span(callId, ({ kind, parentSpanId }) => kind === CLIENT && parentSpanId === tool.spanId)
  t.match(get, { name: 'GET', attributes: { 'http.request.method': 'GET', 'http.response.status_code': 200 } })
  t.equal(get.attributes['server.address'], '127.0.0.1')
  t.notMatch(JSON.stringify(get), '/hook', 'what is asked of whom may be a secret')
  t.equal(shop.received[0]?.headers.traceparent, `00-${get.traceId}-${get.spanId}-01`)
  t.ok(get.startMs >= tool.startMs - 1 && get.endMs <= tool.endMs + 1, 'within the tool')

  const root = await span(callId, ({ name }) => name === 'call')
  const post = await span(callId, ({ kind, name }) => kind === CLIENT && name === 'POST')
  t.equal(post.parentSpanId, root.spanId)
  const ended = await hook.of('call.ended', ({ data }) => data.call_log_id === callId)
  t.equal(ended.headers.traceparent, `00-${post.traceId}-${post.spanId}-01`)
  t.same(collector.faults, [])
})

t.test('a server of MCP tools is told which tool of the call asks it', async (t) => {
  const example = await startMcpExample(t)
  const asked: { method: string; traceparent: string | undefined }[] = []
  const proxy = await startMcpProxy(t, example.url, ({ method }, headers) => {
    asked.push({ method, traceparent: headers.traceparent as string | undefined })
  })
  const callId = await call(
    {
      LLM_provider: 'sim',
      LLM_model: JSON.stringify({
        script: [{ question: 'Greet me', answer: '{output}', tool: { name: 'greet', arguments: { name: 'Ada' } } }],
      }),
      tools: [{ type: 'mcp', url: proxy.url, allow: ['greet'] }],
    },
    'Greet me',
  )
  const tool = await span(callId, ({ name }) => name === 'execute_tool greet')
  const post = await span(callId, ({ kind, parentSpanId }) => kind === CLIENT && parentSpanId === tool.spanId)
  t.match(post, { name: 'POST', attributes: { 'http.response.status_code': 200, 'server.address': '127.0.0.1' } })
  t.same(
    asked.filter(({ method }) => method === 'tools/call'),
    [{ method: 'tools/call', traceparent: `00-${post.traceId}-${post.spanId}-01` }],
  )
})

t.test('a language model is told which call it works for', async (t) => {
  const callId = await call({ LLM_provider: 'openai', LLM_model: 'gpt-4o-mini' }, 'Is it open')
  const root = await span(callId, ({ name }) => name === 'call')
  t.equal(models.asked.at(-1)?.headers.traceparent, `00-${root.traceId}-${root.spanId}-01`)
})

t.test('a request that is answered is a span of whoever asked', async (t) => {
  const traceId = 'a'.repeat(32)
  const traceparent = `00-${traceId}-${'b'.repeat(16)}-01`
  t.equal((await user.client.get('/agents', { headers: { traceparent } })).status, 200)
  await until(() => collector.spans.some((one) => one.traceId === traceId))
  t.match(
    collector.spans.find((one) => one.traceId === traceId),
    {
      name: 'GET /agents',
      kind: SERVER,
      parentSpanId: 'b'.repeat(16),
      attributes: { 'http.route': '/agents', 'http.response.status_code': 200 },
    },
  )
  await user.client.get('/health', { headers: { traceparent } })
  await user.client.get('/agents/none', { headers: { traceparent: `00-${'c'.repeat(32)}-${'b'.repeat(16)}-00` } })
  await until(() => collector.spans.some(({ name }) => name === 'GET /agents/{agent_id}'))
  t.equal(collector.spans.filter((one) => one.traceId === traceId).length, 1, 'machines that ask after health are none')
  t.notOk(
    collector.spans.some((one) => one.traceId === 'c'.repeat(32)),
    'nor of one that is not recorded',
  )
})

t.test('metrics name the trace of one that they counted', async (t) => {
  const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`, {
    headers: { accept: 'application/openmetrics-text;version=1.0.0' },
  })
  t.match(response.headers.get('content-type'), 'application/openmetrics-text')
  const text = await response.text()
  const [, traceId] = /route="\/agents".* # \{trace_id="([\da-f]{32})"\}/.exec(text) ?? []
  t.ok(collector.spans.some((one) => one.traceId === traceId))
})
