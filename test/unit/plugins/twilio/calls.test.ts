import t, { type Test } from 'tap'
import { uuidv7 } from 'uuidv7'
import { WebSocket } from 'ws'
import { twilioProvider } from '../../../../plugins/twilio/provider.ts'
import { StreamCarrier } from '../../../../runtime/plugin-sdk/telephony/stream/carrier.ts'
import { NO_TRUNKS } from '../../../../runtime/plugin-sdk/telephony/trunk.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { runOnlyHost } from '../../../support/instance/plugin-host.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { TwilioDouble } from '../../../support/providers/doubles/carriers/twilio.ts'
import type { TwilioCall } from '../../../support/providers/doubles/carriers/twilio-call.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const TO = '+14155552671'

async function start(t: Test, agent: Record<string, unknown> = {}, env: Record<string, string> = {}) {
  const twilio = await TwilioDouble.start(t)
  const api = await startTestApi(t, { env: { PUBLIC_URL: 'http://127.0.0.1:0', ...twilio.env, ...env } })
  const user = await api.signUp()
  const phone = await startPhone(api, user, agent, 'twilio')
  twilio.own(phone.number, `${api.url}/telephony/twilio/voice`)
  await linkWorker(t, api)
  const dial = async (to = TO): Promise<string> => {
    const body = { agent_phone_number: phone.number, phone_number_to_dial: to }
    return (await user.client.post('/calls/outbound_call', { body })).body.call_log_id
  }
  const ended = (id: string) => callWhen(user, id, isOver)
  const live = (id: string) =>
    callWhen(user, id, ({ status, transcript }) => status === 'in_progress' && (transcript as unknown[]).length > 0)
  const inbound = async (): Promise<string> => {
    for (;;) {
      const { body } = await user.client.get('/calls/logs')
      const call = body.items.find(({ direction }: { direction: string }) => direction === 'inbound')
      if (call !== undefined) return call.call_log_id
      await pause()
    }
  }
  const atTwilio = async (count = 1): Promise<TwilioCall> => {
    await until(() => twilio.calls.size >= count)
    return [...twilio.calls.values()][count - 1]!
  }
  return { twilio, api, user, phone, dial, ended, live, inbound, atTwilio }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 20))
async function until(condition: () => boolean, timeoutMs = 90_000): Promise<void> {
  const endMs = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`Never came true: ${condition}`)
    await pause()
  }
}

t.test('an outbound call goes from queued over ringing and in_progress to its one end', async (t) => {
  const { twilio, user, dial, live, ended, atTwilio } = await start(t)
  const rung = Promise.withResolvers<void>()
  twilio.people.set(TO, { picksUp: rung.promise })
  const id = await dial()
  await callWhen(user, id, ({ status }) => status === 'ringing')
  // Told after it was picked up, ringing would be no news.
  rung.resolve()
  await live(id)
  const call = await atTwilio()
  t.match((await user.client.post(`/calls/${id}/hangup`)).body, { status: 'completed', end_reason: 'api_hangup' })
  await until(() => call.over)
  t.equal(call.status, 'completed', 'nobody is left on the line')
  const happened = async () => {
    const { items } = (await user.client.get(`/calls/${id}/events?page_size=100`)).body
    return items.map(({ type }: { type: string }) => type)
  }
  await waitUntil(async () => (await happened()).includes('ended'))
  const steps = ['queued', 'ringing', 'answered', 'ended']
  t.same(
    (await happened()).filter((type: string) => steps.includes(type)),
    steps,
  )

  const second = await dial()
  await live(second)
  ;(await atTwilio(2)).hangUp()
  t.match(await ended(second), { status: 'completed', end_reason: 'caller_hangup' })
  t.ok(twilio.callbackAnswers.every((status) => status === 204))
})

t.test('what becomes of a call that nobody takes is told as it is', async (t) => {
  const { twilio, dial, ended } = await start(t)
  const cases = [
    [{ does: 'busy' }, { status: 'busy', end_reason: 'busy' }],
    [{ does: 'no-answer' }, { status: 'no_answer', end_reason: 'no_answer' }],
    [
      { does: 'failed', sipCode: 404 },
      { status: 'failed', end_reason: 'invalid_number' },
    ],
    [
      { does: 'failed', sipCode: 603, ringMs: 1_500 },
      { status: 'failed', end_reason: 'rejected', carrier: { released_by: 'callee', cause: 'declined' } },
    ],
    [
      { does: 'failed', sipCode: 603 },
      { status: 'failed', end_reason: 'blocked', carrier: { released_by: 'network', cause: 'blocked' } },
    ],
    [
      { does: 'failed', sipCode: 603, errorCode: 32_203, ringMs: 1_500 },
      { status: 'failed', end_reason: 'blocked', error: /32203/ },
    ],
    [
      { does: 'failed', sipCode: 503, errorCode: 32_011 },
      { status: 'failed', end_reason: 'carrier_error', error: 'Twilio error: the call failed (error 32011, SIP 503)' },
    ],
    [{ does: 'hangs-up-at-once' }, { status: 'failed', disposition: 'hung_up', error: 'The callee hung up at once' }],
  ] as const
  // Each callback comes twice, and in another order than it was sent.
  twilio.faults = { duplicates: true, delaysMs: [150, 0, 80] }
  for (const [index, [person, expected]] of cases.entries()) {
    const number = `+1415555200${index}`
    twilio.people.set(number, person)
    t.match(await ended(await dial(number)), expected, JSON.stringify(person))
  }
})

t.test('callbacks that come twice, late and out of order change nothing', async (t) => {
  const { twilio, dial, live, ended, atTwilio } = await start(t)
  twilio.faults = { duplicates: true, delaysMs: [400, 300, 200, 0] }
  const id = await dial()
  await live(id)
  ;(await atTwilio()).hangUp()
  const end = await ended(id)
  t.match(end, { status: 'completed', end_reason: 'caller_hangup' })
  await until(() => twilio.callbackAnswers.length === 8)
  t.match(await ended(id), end)
})

t.test("Twilio's refusals reach the call log in its own words", async (t) => {
  const { twilio, dial, ended } = await start(t)
  twilio.refusals.push({ status: 400, code: 21_215, message: 'Geo Permission is not enabled' })
  t.match(await ended(await dial()), {
    status: 'failed',
    end_reason: 'carrier_error',
    error: 'Twilio error: Geo Permission is not enabled (21215)',
  })
  twilio.refusals.push({ status: 400, code: 21_211, message: "Invalid 'To' Phone Number" })
  t.match(await ended(await dial()), { status: 'failed', end_reason: 'invalid_number' })
})

t.test('too many requests are asked again', async (t) => {
  const { twilio, dial, live } = await start(t)
  twilio.rateLimited = 2
  await live(await dial())
  t.equal(twilio.requests.filter((request) => request === 'POST /Calls.json').length, 3)
})

t.test('a stream that breaks off is opened again, and the call goes on', async (t) => {
  const { user, dial, live, ended, atTwilio } = await start(t)
  const id = await dial()
  await live(id)
  const call = await atTwilio()
  call.breakStream()
  await until(() => call.opened === 2)
  call.press('5')
  const isHeard = ({ transcript }: Record<string, unknown>) =>
    (transcript as { text: string }[]).some(({ text }) => text === 'key 5')
  // Hung up before, the end may overtake the key: they go different ways.
  const log = await callWhen(user, id, (call) => isHeard(call) || isOver(call))
  t.equal(log.status, 'in_progress')
  t.ok(isHeard(log), 'a key pressed afterwards is heard')
  t.equal(call.over, false)
  call.hangUp()
  t.match(await ended(id), { status: 'completed' })
})

t.test('an incoming call reaches the agent of its number, and rings until the agent is there', async (t) => {
  const { twilio, phone, inbound, live, ended } = await start(t)
  const call = await twilio.callIn('+14155550123', phone.number)
  const id = await inbound()
  t.match(await live(id), { direction: 'inbound', from_number: '+14155550123', to_number: phone.number })
  call.hangUp()
  t.match(await ended(id), { status: 'completed', end_reason: 'caller_hangup' })
  const withheld = await twilio.callIn('anonymous', phone.number)
  await until(() => withheld.status === 'in-progress')
  withheld.hangUp()
})

t.test('an incoming call that nobody can take is refused, unanswered', async (t) => {
  const { twilio, api, user, phone } = await start(t, {}, { PATCHBAY_QUEUE_WAIT_MS: '500' })
  twilio.own('+14155550777', `${api.url}/telephony/twilio/voice`)
  const stranger = await twilio.callIn('+14155550123', '+14155550777')
  await until(() => stranger.over)
  t.equal(stranger.rejectedFor, 'rejected', 'a number nobody has is not in service')
  t.same(stranger.streams, [])

  await user.client.patch(`/phone-numbers/${phone.number}`, { body: { max_concurrent_calls: 0 } })
  const full = await twilio.callIn('+14155550123', phone.number)
  await until(() => full.over)
  t.equal(full.rejectedFor, 'busy')
})

t.test('a number and a workspace have no more calls at once than they may', async (t) => {
  const { twilio, user, phone, dial, live, ended } = await start(t, {}, { PATCHBAY_QUEUE_WAIT_MS: '700' })
  await user.client.patch(`/phone-numbers/${phone.number}`, { body: { max_concurrent_calls: 1 } })
  const first = await dial()
  await live(first)
  t.match(await ended(await dial()), {
    status: 'failed',
    end_reason: 'no_capacity',
    error: 'The phone number has as many calls at once as it may',
  })
  const incoming = await twilio.callIn('+14155550123', phone.number)
  await until(() => incoming.over)
  t.equal(incoming.rejectedFor, 'busy', 'both directions count')
  await user.client.post(`/calls/${first}/hangup`)
  await live(await dial())

  await user.client.patch(`/phone-numbers/${phone.number}`, { body: { max_concurrent_calls: null } })
  const { body } = await user.client.patch(`/workspaces/${user.workspaceId}`, { body: { max_concurrent_calls: 1 } })
  t.equal(body.max_concurrent_calls, 1)
  t.match(await ended(await dial()), { error: 'The workspace has as many calls at once as it may' })
})

t.test('a request without the right signature is refused before anything is opened', async (t) => {
  const { twilio, api, phone, user } = await start(t)
  const url = `${api.url}/telephony/twilio/voice`
  const form = { CallSid: 'CA1', From: '+14155550123', To: phone.number }
  const ask = (signature: string) =>
    fetch(url, { method: 'POST', body: new URLSearchParams(form), headers: { 'x-twilio-signature': signature } })
  for (const signature of ['', 'bm9uZQ==', twilio.sign(`${url}?x=1`, form), twilio.sign(url, { ...form, To: '+1' })]) {
    const response = await ask(signature)
    t.equal(response.status, 403)
    t.match(await response.json(), { detail: 'Signature does not match', code: 'forged_request' })
  }
  twilio.faults = { badSignatures: true }
  await twilio.callIn('+14155550123', phone.number)
  t.equal((await user.client.get('/calls/logs')).body.items.length, 0)
  twilio.faults = {}

  const stream = `${api.url.replace('http', 'ws')}/telephony/twilio/stream`
  const open = (headers: Record<string, string>) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(stream, { headers })
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
      socket.on('error', () => resolve(-1))
      socket.on('open', () => {
        const start = { streamSid: 'MZ1', callSid: 'CA1', customParameters: { token: 'guessed' } }
        socket.send(JSON.stringify({ event: 'start', streamSid: 'MZ1', start }))
      })
      socket.on('close', resolve)
    })
  t.equal(await open({}), 403)
  t.equal(await open({ 'x-twilio-signature': twilio.sign(stream) }), 1008, 'signed, but for no call')
})

t.test('a machine that Twilio detects is hung up on, a human is not', async (t) => {
  const { twilio, dial, live, atTwilio } = await start(t)
  twilio.people.set(TO, { answeredBy: { value: 'human', afterMs: 50 } })
  await live(await dial())
  const call = await atTwilio()
  await until(() => twilio.callbackAnswers.length >= 4)
  t.equal(call.over, false)
})

t.test('the reaper finds a call at Twilio whose api node died', async (t) => {
  const { twilio, api, user, phone, dial, live, atTwilio } = await start(t)
  const id = await dial()
  await live(id)
  const call = await atTwilio()
  const { db } = api.store.tenant(user.workspaceId)
  const carrierIds = db.selectFrom('calls').select('carrier_call_id').where('id', '=', id)
  // It is written down while the call goes on.
  await waitUntil(async () => (await carrierIds.executeTakeFirstOrThrow()).carrier_call_id !== null)
  t.equal((await carrierIds.executeTakeFirstOrThrow()).carrier_call_id, call.sid)
  // Another process, which never heard of the call.
  const host = runOnlyHost('twilio', { env: { get: (name) => twilio.env[name] } })
  host.net.fetch = (url, init) => fetch(url, init)
  const options = { settings: {}, trunks: NO_TRUNKS }
  const other = new StreamCarrier(twilioProvider(host, options), host.log, undefined)
  const signal = AbortSignal.timeout(60_000)
  t.equal(await other.lookup(id, signal, call.sid), 'live')
  t.equal(await other.lookup(uuidv7(), signal), 'unknown')
  t.equal(await other.lookup(id, signal, 'CA00'), 'unknown')
  await other.hangup(id, signal, call.sid)
  await until(() => call.over)
  t.equal(await other.lookup(id, signal, call.sid), 'ended')
  await other.hangup(id, signal, call.sid)
  t.ok(phone)
})
