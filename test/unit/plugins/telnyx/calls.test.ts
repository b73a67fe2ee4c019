import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { createLogger } from '../../../../runtime/process/log.ts'
import { claimCarrierCall } from '../../../../store/redis/carrier-calls.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { ApiDouble, StreamDouble, telnyxKeys } from '../../../support/providers/doubles/carriers/stream-carrier.ts'
import { ILL_FORMED } from '../../../support/world/ill-formed.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const CONTROL_ID = 'v3:control'

async function start(t: Test) {
  const telnyx = await ApiDouble.start(t)
  telnyx.answer = () => ({ status: 200, body: { data: { call_control_id: CONTROL_ID, is_alive: true } } })
  const keys = telnyxKeys()
  const env = {
    TELNYX_API_KEY: 'KEY1',
    TELNYX_PUBLIC_KEY: keys.publicKey,
    TELNYX_CONNECTION_ID: '42',
    TELNYX_API_URL: telnyx.url,
    PUBLIC_URL: 'http://127.0.0.1:0',
  }
  const api = await startTestApi(t, { env })
  const user = await api.signUp()
  const phone = await startPhone(api, user, {}, 'telnyx')
  await linkWorker(t, api)
  const webhook = (event_type: string, payload: Record<string, unknown>, headers?: Record<string, string>) => {
    const body = JSON.stringify({ data: { event_type, payload: { call_control_id: CONTROL_ID, ...payload } } })
    return fetch(`${api.url}/telephony/telnyx/event`, { method: 'POST', body, headers: headers ?? keys.headers(body) })
  }
  const stream = async (url: string, client_state: string) => {
    const double = await StreamDouble.open(t, url)
    double.say({ event: 'connected', version: '1.0.0' })
    double.say({
      event: 'start',
      sequence_number: '1',
      stream_id: 's1',
      start: { call_control_id: CONTROL_ID, client_state, media_format: { encoding: 'PCMU', sample_rate: 8000 } },
    })
    return double
  }
  return { telnyx, api, user, phone, webhook, stream, keys }
}

t.test('an outbound call is ordered, streams, and is ended at Telnyx too', async (t) => {
  const { telnyx, user, phone, webhook, stream } = await start(t)
  const { body } = await user.client.post('/calls/outbound_call', {
    body: { agent_phone_number: phone.number, phone_number_to_dial: '+14155552671' },
  })
  const id = body.call_log_id
  const order = await telnyx.asked(/POST \/v2\/calls$/)
  t.match(order.body, { connection_id: '42', to: '+14155552671', from: phone.number, command_id: id })
  const { client_state, stream_url } = order.body
  await webhook('call.initiated', { client_state, direction: 'outgoing' })
  await callWhen(user, id, ({ status }) => status === 'ringing')
  const media = await stream(stream_url, client_state)
  await callWhen(user, id, ({ status, transcript }) => status === 'in_progress' && (transcript as unknown[]).length > 0)
  media.say({
    event: 'media',
    media: { track: 'inbound', chunk: '1', timestamp: '0', payload: '//8=' },
    stream_id: 's1',
  })
  await media.event('media')
  media.say({ event: 'dtmf', stream_id: 's1', dtmf: { digit: '7' } })
  await callWhen(user, id, ({ transcript }) => (transcript as { text: string }[]).some(({ text }) => text === 'key 7'))
  const again = await stream(stream_url, client_state)
  t.equal(await again.closed, 1008, 'a token is good for one stream')
  await user.client.post(`/calls/${id}/hangup`)
  await telnyx.asked(/POST \/v2\/calls\/v3:control\/actions\/hangup/)
  await media.closed
})

t.test('Telnyx is asked again to end a call while its API fails', async (t) => {
  const { telnyx, user, phone, webhook, stream } = await start(t)
  const { body } = await user.client.post('/calls/outbound_call', {
    body: { agent_phone_number: phone.number, phone_number_to_dial: '+14155552671' },
  })
  const { client_state, stream_url } = (await telnyx.asked(/POST \/v2\/calls$/)).body
  await webhook('call.initiated', { client_state, direction: 'outgoing' })
  const media = await stream(stream_url, client_state)
  await callWhen(user, body.call_log_id, ({ status }) => status === 'in_progress')
  const { answer } = telnyx
  let failures = 0
  telnyx.answer = (request) =>
    /hangup$/.test(request.path) && failures++ < 2 ? { status: failures === 1 ? 500 : 429 } : answer(request)
  await user.client.post(`/calls/${body.call_log_id}/hangup`)
  await media.closed
  t.match(await callWhen(user, body.call_log_id, isOver), { status: 'completed' })
  const hangUps = () => telnyx.requests.filter(({ path }) => /hangup$/.test(path)).length
  await waitUntil(
    () => hangUps() === 3,
    () => `three requests, not ${hangUps()}`,
    { everyMs: 20 },
  )
})

t.test('a call that nobody takes is told as it is', async (t) => {
  const { telnyx, user, phone, webhook } = await start(t)
  for (const [hangup_cause, expected] of [
    ['user_busy', { status: 'busy' }],
    ['timeout', { status: 'no_answer' }],
    ['unallocated_number', { end_reason: 'invalid_number' }],
    ['unspecified', { error: 'Telnyx error: the call failed (unspecified)' }],
  ] as const) {
    telnyx.requests.length = 0
    const { body } = await user.client.post('/calls/outbound_call', {
      body: { agent_phone_number: phone.number, phone_number_to_dial: '+14155552671' },
    })
    const { client_state } = (await telnyx.asked(/POST \/v2\/calls$/)).body
    await webhook('call.hangup', { client_state, direction: 'outgoing', hangup_cause })
    await webhook('call.hangup', { client_state, direction: 'outgoing', hangup_cause })
    t.match(await callWhen(user, body.call_log_id, isOver), expected, hangup_cause)
  }
  telnyx.answer = () => ({ status: 403, body: { errors: [{ code: '10010', title: 'Authorization failed' }] } })
  const { body } = await user.client.post('/calls/outbound_call', {
    body: { agent_phone_number: phone.number, phone_number_to_dial: '+14155552671' },
  })
  t.match(await callWhen(user, body.call_log_id, isOver), { error: 'Telnyx error: Authorization failed (10010)' })
})

t.test('an incoming call is answered with our stream, an unknown number is refused', async (t) => {
  const { telnyx, user, phone, webhook, stream } = await start(t)
  await webhook('call.initiated', { direction: 'incoming', from: '+14155550123', to: phone.number })
  const { body } = await telnyx.asked(/actions\/answer$/)
  await stream(body.stream_url, body.client_state)
  const { body: logs } = await user.client.get('/calls/logs')
  const id = logs.items[0].call_log_id
  await callWhen(user, id, ({ status }) => status === 'in_progress')
  await webhook('call.hangup', { direction: 'incoming', hangup_cause: 'normal_clearing' })
  t.match(await callWhen(user, id, isOver), { direction: 'inbound', end_reason: 'caller_hangup' })
  await webhook('call.initiated', { call_control_id: 'v3:other', direction: 'incoming', to: '+14155550999' })
  t.match((await telnyx.asked(/v3:other\/actions\/reject$/)).body, { cause: 'CALL_REJECTED' })
})

t.test('a call that is announced again, after its end or by another node, is one call', async (t) => {
  const { telnyx, api, user, phone, webhook, stream } = await start(t)
  const announce = (control = CONTROL_ID) =>
    webhook('call.initiated', {
      call_control_id: control,
      direction: 'incoming',
      from: '+14155550123',
      to: phone.number,
    })
  await announce()
  const { body } = await telnyx.asked(/actions\/answer$/)
  await stream(body.stream_url, body.client_state)
  const id = (await user.client.get('/calls/logs')).body.items[0].call_log_id
  await callWhen(user, id, ({ status }) => status === 'in_progress')
  await webhook('call.hangup', { direction: 'incoming', hangup_cause: 'normal_clearing' })
  await callWhen(user, id, isOver)
  const redis = await createRedis(api.redisUrl, createLogger({ level: 'silent', name: 'test' }))
  t.teardown(() => redis.destroy())
  t.equal(await claimCarrierCall(redis, 'telnyx', 'v3:elsewhere'), true)
  telnyx.requests.length = 0
  await announce()
  await announce('v3:elsewhere')
  // What is announced for the first time goes on behind them.
  await announce('v3:new')
  await telnyx.asked(/v3:new\/actions\/answer$/)
  t.equal(telnyx.requests.length, 1, 'neither is answered or refused a second time')
  t.equal((await user.client.get('/calls/logs')).body.total, 2)
})

t.test('ill-formed text in what Telnyx sends is clean in the log of the call', async (t) => {
  const { telnyx, user, phone, webhook } = await start(t)
  for (const [kind, { text, clean }] of Object.entries(ILL_FORMED)) {
    telnyx.requests.length = 0
    const { body } = await user.client.post('/calls/outbound_call', {
      body: { agent_phone_number: phone.number, phone_number_to_dial: '+14155552671' },
    })
    const { client_state } = (await telnyx.asked(/POST \/v2\/calls$/)).body
    const sent = await webhook('call.hangup', { client_state, direction: 'outgoing', hangup_cause: text })
    t.equal(sent.status, 200, kind)
    t.match(await callWhen(user, body.call_log_id, isOver), { error: `Telnyx error: the call failed (${clean})` }, kind)
  }
  await webhook('call.initiated', { direction: 'incoming', from: ILL_FORMED.NUL?.text, to: phone.number })
  await telnyx.asked(/actions\/answer$/)
  const { body: logs } = await user.client.get('/calls/logs', { query: { direction: 'inbound' } })
  t.match(logs.items, [{ from_number: null }], 'what is no number is no caller’s')
  const nested = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`)
  t.equal((await webhook('x', { more: nested })).status, 400, 'nor is what is nested too deeply taken')
})

t.test('an incoming call is refused where the operator’s quota is used up, and is in no log of calls', async (t) => {
  const { telnyx, user, phone, webhook } = await start(t)
  const refused = async (control: string) => {
    await webhook('call.initiated', { call_control_id: control, direction: 'incoming', to: phone.number })
    return (await telnyx.asked(new RegExp(`${control}/actions/(reject|answer)$`))).body
  }
  const set = async (quotas: Record<string, unknown>) => {
    const answer = await user.client.patch(`/operator/workspaces/${user.workspaceId}`, { body: quotas })
    t.equal(answer.status, 200, answer.text)
  }
  await set({ minutes_a_month: 0 })
  t.match(await refused('v3:month'), { cause: 'USER_BUSY' })
  await set({ minutes_a_month: null, providers: ['telnyx'] })
  t.match(
    await refused('v3:providers'),
    { cause: 'USER_BUSY' },
    'its agent has a provider that is not allowed any more',
  )
  t.equal((await user.client.get('/calls/logs')).body.total, 0)
  await set({ providers: null })
  t.match(await refused('v3:taken'), { stream_url: String })
})

t.test('a webhook that Telnyx did not sign, or signed long ago, is refused', async (t) => {
  const { webhook, keys } = await start(t)
  t.equal((await webhook('call.initiated', {}, {})).status, 403)
  t.equal((await webhook('call.initiated', {}, keys.headers('another body'))).status, 403)
  const body = JSON.stringify({ data: { event_type: 'x', payload: { call_control_id: CONTROL_ID } } })
  t.equal((await webhook('x', {}, keys.headers(body, Date.now() - 600_000))).status, 403)
  t.equal((await webhook('x', {})).status, 200)
})

t.test('streams that belong to no call are refused before they open, however many there are', async (t) => {
  const { telnyx, api, user, phone, webhook, stream } = await start(t)
  const idle = await Promise.all(
    Array.from({ length: 500 }, (_, i) => statusOf(`${api.url}/telephony/telnyx/stream${i % 2 ? `?pass=${i}` : ''}`)),
  )
  t.same([...new Set(idle)], [403])
  const { body } = await user.client.post('/calls/outbound_call', {
    body: { agent_phone_number: phone.number, phone_number_to_dial: '+14155552671' },
  })
  const { client_state, stream_url } = (await telnyx.asked(/POST \/v2\/calls$/)).body
  await webhook('call.initiated', { client_state, direction: 'outgoing' })
  const media = await stream(stream_url, client_state)
  await callWhen(user, body.call_log_id, ({ status }) => status === 'in_progress')
  await user.client.post(`/calls/${body.call_log_id}/hangup`)
  await media.closed
  t.equal(await statusOf(stream_url), 403, 'the pass goes with its call')
})

/** What an attempt to open a WebSocket is answered with. */
async function statusOf(url: string): Promise<number> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'))
  socket.on('error', () => undefined)
  return new Promise((resolve) => {
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0)
      response.destroy()
    })
    socket.once('open', () => resolve(101))
  })
}
