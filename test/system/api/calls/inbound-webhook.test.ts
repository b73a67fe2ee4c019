import pino from 'pino'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { askInboundWebhook, type InboundQuestion } from '../../../../api/calls/inbound-webhook.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { parseInfrastructureRule } from '../../../../runtime/plugin/grants/net-rule.ts'
import { newWebhookSecret, webhookSecrets } from '../../../../runtime/webhooks/signature.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { isOver, linkWorker } from '../../../support/phone/phone.ts'
import { startCollector } from '../../../support/providers/otlp-collector.ts'
import { skipWithout, startBaresip } from '../../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../../support/sip/sip-phone.ts'
import { ILL_FORMED } from '../../../support/world/ill-formed.ts'
import { ownTime } from '../../../support/world/own-time.ts'
import { startReceiver } from '../../../support/world/webhook-receiver.ts'

const DATA_KEY = 'data-key-data-key-data-key-data-key'
const options = {
  allowed: [parseInfrastructureRule('127.0.0.1')],
  keys: { dataKey: DATA_KEY },
  clock: systemClock,
  log: pino({ enabled: false }),
  signal: new AbortController().signal,
}
const secret = newWebhookSecret()
const question = (url: string): InboundQuestion => ({
  url,
  secret: webhookSecrets(DATA_KEY).seal(secret, '+14155550100'),
  callId: 'c',
  workspaceId: 'w',
  from: '+14155550199',
  to: '+14155550100',
  provider: 'sip',
  agentId: null,
})

t.test('what a number asks is signed, and its answer is used only where it is one', async (t) => {
  let says = '{"agent_id": "a", "dynamic_variables": {"name": "Ada"}}'
  const receiver = await startReceiver(t, (_, response) => void response.end(says))
  t.same(await askInboundWebhook(question(receiver.url), options), {
    says: { agent_id: 'a', dynamic_variables: { name: 'Ada' } },
  })
  const [asked] = receiver.received
  t.match(new Webhook(secret).verify(asked?.text ?? '', asked?.headers ?? {}), {
    type: 'call.inbound',
    from_number: '+14155550199',
    to_number: '+14155550100',
  })
  for (const { text, clean } of Object.values(ILL_FORMED)) {
    says = JSON.stringify({ dynamic_variables: { [text]: text } })
    t.same(await askInboundWebhook(question(receiver.url), options), {
      says: { dynamic_variables: { [clean]: clean } },
    })
  }
  says = '{"dynamic_variables": {"n": 7}}'
  t.match(await askInboundWebhook(question(receiver.url), options), { fault: /its answer is not/ })
  says = 'hello'
  t.match(await askInboundWebhook(question(receiver.url), options), { fault: 'its answer is no JSON' })
  const broken = await startReceiver(t, (_, response) => void response.writeHead(500).end())
  t.match(await askInboundWebhook(question(broken.url), options), { fault: 'it answered status 500' })
  const hanging = await startReceiver(t, () => undefined)
  const tookMs = ownTime(t)
  t.match(await askInboundWebhook(question(hanging.url), options), { fault: 'no answer within 2000 ms' })
  t.ok(tookMs() < 3_500, `${tookMs()} ms`)
  t.match(await askInboundWebhook(question(receiver.url), { ...options, allowed: [] }), {
    fault: 'its address may not be reached',
  })
})

t.test('what cannot be signed is not asked', async (t) => {
  const receiver = await startReceiver(t)
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(line) })
  for (const sealed of [webhookSecrets('another data key').seal(secret, '+14155550100'), null]) {
    t.match(await askInboundWebhook({ ...question(receiver.url), secret: sealed }, { ...options, log }), {
      fault: /its secret cannot be opened .* set it again/,
    })
  }
  t.same(receiver.received, [])
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ level: 50, callId: 'c' }, { level: 50 }],
  )
})

t.test('its secret is shown once, and taken away with it', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const set = { phone_number: '+14155550100', provider: 'sim', inbound_webhook: 'https://example.com/answers' }
  const made = await user.client.post('/phone-numbers', { body: set })
  t.match(made, { status: 201, body: { inbound_webhook: set.inbound_webhook, inbound_webhook_secret: /^whsec_/ } })
  const path = '/phone-numbers/14155550100'
  t.equal((await user.client.get(path)).body.inbound_webhook_secret, undefined)
  const off = await user.client.patch(path, { body: { inbound_webhook: null } })
  t.equal(off.body.inbound_webhook, null)
  t.equal((await user.client.patch(path, { body: { inbound_webhook: 'ftp://example.com' } })).status, 422)
})

t.test('a call is answered by the agent its webhook names, or refused', { skip: skipWithout('baresip') }, async (t) => {
  const collector = await startCollector(t)
  const sip = await startSipApi(t, {
    env: { PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  })
  const { api, user, sipPort } = sip
  await linkWorker(t, api)
  const { number } = await addSipNumber(sip)
  const { body: other } = await user.client.post('/agents', {
    body: { agent_name: 'Night desk', system_prompt: 'You are the night desk.', first_message: 'Hello {{name}}.' },
  })
  let reject = false
  const receiver = await startReceiver(t, (_, response) => {
    response.end(JSON.stringify({ agent_id: other.agent_id, dynamic_variables: { name: 'Ada' }, reject }))
  })
  await user.client.patch(`/phone-numbers/${number.slice(1)}`, { body: { inbound_webhook: receiver.url } })
  const phone = await startBaresip(t, { says: new Int16Array(80_000) })
  phone.command('dial', `sip:${number}@127.0.0.1:${sipPort}`)
  await phone.event('CALL_ESTABLISHED')
  const logs = async () => (await user.client.get('/calls/logs')).body.items
  const [call] = await logs()
  t.match(call, { agent_name: 'Night desk', dynamic_variables: { name: 'Ada' } })
  t.equal(receiver.received[0]?.body.call_log_id, call.call_log_id)
  const traceId = call.call_log_id.replaceAll('-', '')
  await until(() => collector.spans.some((span) => span.traceId === traceId && span.name === 'POST'))
  const { spanId } = collector.spans.find((span) => span.traceId === traceId && span.name === 'POST')!
  t.equal(receiver.received[0]?.headers.traceparent, `00-${traceId}-${spanId}-01`, 'it is told which call asks')
  phone.command('hangup')
  await until(async () => isOver((await logs())[0]))
  reject = true
  phone.command('dial', `sip:${number}@127.0.0.1:${sipPort}`)
  await until(() => phone.events.filter(({ type }) => type === 'CALL_CLOSED').length >= 2)
  t.equal((await logs()).length, 1, 'a call that is refused is none')
})
