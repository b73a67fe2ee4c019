import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import type { OpenConversation } from '../../../../runtime/call/link/linked-conversation.ts'
import { connectLinks } from '../../../../runtime/call/link/worker-end.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { RealtimeClient, until } from '../../../support/instance/realtime-node.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { scriptedConversation } from '../../../support/phone/scripted-conversation.ts'
import { startTestVoice } from '../../../support/phone/voice.ts'

const AGENT = { agent_name: 'Ava', system_prompt: 'Be kind.', first_message: 'Hello.' }

async function open(api: { url: string }, user: TestUser, agentId: string) {
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
  await client.got('session.started')
  return { client, callId: body.call_log_id as string }
}

t.test('a running call keeps the tools of its version, and the next call has the new ones', async (t) => {
  const asked: string[] = []
  const server = createServer((request, answer) => {
    asked.push(request.url ?? '')
    answer.end('done')
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1' } })
  await startTestVoice(t, api)
  const user = await api.signUp()
  const tool = (path: string) => ({
    type: 'http',
    name: 'book',
    description: 'Books.',
    http: { url: `${origin}${path}` },
  })
  const script = [{ question: 'Book', tool: { name: 'book', arguments: {} }, answer: '{output}' }]
  const made = await user.client.post('/agents', {
    body: { ...AGENT, LLM_provider: 'sim', LLM_model: JSON.stringify({ script }), tools: [tool('/first')] },
  })
  const path = `/agents/${made.body.agent_id}`
  const book = async () => {
    const { client, callId } = await open(api, user, made.body.agent_id)
    await client.got('transcript', { role: 'assistant', final: true })
    return {
      callId,
      say: () => client.send({ type: 'text', text: 'Book' }),
      end: () => client.send({ type: 'end' }),
    }
  }
  const first = await book()
  t.equal((await user.client.put(path, { body: { tools: [tool('/second')] } })).status, 200)
  first.say()
  await until(() => asked.length === 1)
  const second = await book()
  second.say()
  await until(() => asked.length === 2)
  t.same(asked, ['/first', '/second'])
  for (const [call, version] of [
    [first, 1],
    [second, 2],
  ] as const) {
    call.end()
    t.match(await callWhen(user, call.callId, isOver), { agent_version: version })
    const { body } = await user.client.get(`/calls/${call.callId}/events`)
    t.match(body.items[0], { type: 'queued', agent_version: version })
  }
  const { body } = await user.client.get('/calls/logs', {
    query: { agent_id: made.body.agent_id, agent_version: 1 },
  })
  t.same(
    body.items.map((call: { call_log_id: string }) => call.call_log_id),
    [first.callId],
  )
  const summed = await user.client.get('/reports/call-summary', {
    query: { agent_id: made.body.agent_id, agent_version: 2, fields: 'total_calls' },
  })
  t.same(summed.body, { total_calls: 1 })
})

t.test('a call whose worker is lost goes on with its version, whatever was published meanwhile', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const talked: (number | undefined)[] = []
  const noting: OpenConversation = (offer, ...rest) => {
    talked.push(offer.agent.agentVersion)
    return scriptedConversation(offer, ...rest)
  }
  const gone = new AbortController()
  const worker = connectLinks({
    ...{ urls: [api.url.replace(/^http/, 'ws')], token: api.config.linkToken, workerId: uuidv7(), capacity: 1 },
    metricsUrl: 'http://127.0.0.1:1/metrics',
    openConversation: noting,
    state: () => 'ready',
    ...{ clock: systemClock, random: Math.random, log: pino({ level: 'silent' }), signal: gone.signal },
  })
  t.teardown(() => worker.stop(0))
  await worker.welcomed
  const { body } = await user.client.post('/agents', { body: AGENT })
  const { client, callId } = await open(api, user, body.agent_id)
  await until(() => talked.length === 1)
  t.match((await user.client.put(`/agents/${body.agent_id}`, { body: { system_prompt: 'Be brief.' } })).body, {
    version: 2,
  })
  await linkWorker(t, api, { openConversation: noting })
  await worker.stop(0)
  await until(() => talked.length === 2)
  t.same(talked, [1, 1])
  client.send({ type: 'end' })
  t.match(await callWhen(user, callId, isOver), { agent_version: 1 })
})

t.test('with manual publishing calls and chats are answered by the live version', async (t) => {
  const api = await startTestApi(t)
  await startTestVoice(t, api)
  const user = await api.signUp()
  const echo = (answer: string) => JSON.stringify({ otherwise: answer })
  const phone = await startPhone(api, user, {
    ...AGENT,
    LLM_provider: 'sim',
    LLM_model: echo('The old answer.'),
    publishing: 'manual',
  })
  const changed = await user.client.put(`/agents/${phone.agentId}`, { body: { LLM_model: echo('The new answer.') } })
  t.match(changed.body, { version: 1, unpublished_changes: true, publishing: 'manual' })
  const chat = await user.client.post('/chats/interaction', { body: { agent_id: phone.agentId, message: 'Hello' } })
  t.equal(chat.body.response, 'The old answer.')
  t.match((await user.client.get(`/chats/${chat.body.chat_id}`)).body, { agent_version: 1 })
  const call = await user.client.post('/calls/outbound_call', {
    body: { agent_phone_number: phone.number, phone_number_to_dial: '+14155550199' },
  })
  t.equal(call.body.agent_version, null, 'which version talks is chosen when it is placed')
  const placed = await callWhen(user, call.body.call_log_id, ({ agent_version }) => agent_version !== null)
  t.equal(placed.agent_version, 1)
  await user.client.post(`/calls/${call.body.call_log_id}/hangup`)
})
