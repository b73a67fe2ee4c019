import t, { type Test } from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { ApiDouble, plivoHeaders, StreamDouble } from '../../../support/providers/doubles/carriers/stream-carrier.ts'

const UUID = 'plivo-call'
const TOKEN = 'plivo-token'

async function start(t: Test) {
  const plivo = await ApiDouble.start(t)
  plivo.answer = ({ method }) => (method === 'DELETE' ? { status: 204 } : { status: 201, body: { request_uuid: 'r' } })
  const env = {
    PLIVO_AUTH_ID: 'MA1',
    PLIVO_AUTH_TOKEN: TOKEN,
    PLIVO_API_URL: plivo.url,
    PUBLIC_URL: 'http://127.0.0.1:0',
  }
  const api = await startTestApi(t, { env })
  const user = await api.signUp()
  const phone = await startPhone(api, user, {}, 'plivo')
  await linkWorker(t, api)
  const post = async (url: string, fields: Record<string, string>, headers?: Record<string, string>) => {
    const form = { CallUUID: UUID, ...fields }
    const response = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: headers ?? plivoHeaders(TOKEN, url, form),
    })
    return { status: response.status, text: await response.text() }
  }
  const stream = async (xml: string) => {
    const [, token = '', url = ''] = /extraHeaders="token=([^"]+)">([^<]+)<\/Stream>/.exec(xml) ?? []
    const double = await StreamDouble.open(t, url)
    double.say({
      event: 'start',
      sequenceNumber: 0,
      start: { callId: UUID, streamId: 's1', accountId: 'MA1', tracks: ['inbound'] },
      extra_headers: `{token: ${token}}`,
    })
    return double
  }
  const dial = async () => {
    const { body } = await user.client.post('/calls/outbound_call', {
      body: { agent_phone_number: phone.number, phone_number_to_dial: '+14155552671' },
    })
    return body.call_log_id as string
  }
  return { plivo, api, user, phone, post, stream, dial }
}

t.test('an outbound call is ordered, streams, and is ended at Plivo too', async (t) => {
  const { plivo, user, phone, post, stream, dial } = await start(t)
  const id = await dial()
  const { body, path } = await plivo.asked(/POST .*\/Call\/$/)
  t.equal(path, '/v1/Account/MA1/Call/')
  t.match(body, { to: '14155552671', from: phone.number.slice(1), answer_method: 'POST' })
  t.equal((await post(body.ring_url, { Event: 'Ring', CallStatus: 'ringing' })).status, 204)
  await callWhen(user, id, ({ status }) => status === 'ringing')
  const media = await stream((await post(body.answer_url, { Event: 'StartApp', CallStatus: 'in-progress' })).text)
  await callWhen(user, id, ({ status, transcript }) => status === 'in_progress' && (transcript as unknown[]).length > 0)
  media.say({
    event: 'media',
    streamId: 's1',
    media: { track: 'inbound', timestamp: '1700000000000', payload: '//8=' },
  })
  t.match(await media.event('playAudio'), {
    media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: '//8=' },
  })
  media.say({ event: 'dtmf', streamId: 's1', dtmf: { digit: '9' } })
  await callWhen(user, id, ({ transcript }) => (transcript as { text: string }[]).some(({ text }) => text === 'key 9'))
  await user.client.post(`/calls/${id}/hangup`)
  await plivo.asked(/DELETE .*\/Call\/plivo-call\/$/)
})

t.test('a call that nobody takes is told as it is', async (t) => {
  const { plivo, user, post, dial } = await start(t)
  const cases = [
    [{ CallStatus: 'busy', HangupCauseName: 'Busy Line' }, { status: 'busy' }],
    [{ CallStatus: 'no-answer', HangupCauseName: 'No Answer' }, { status: 'no_answer' }],
    [{ CallStatus: 'failed', HangupCauseName: 'Invalid Destination Address' }, { end_reason: 'invalid_number' }],
    [
      { CallStatus: 'failed', HangupCauseName: 'Network Error' },
      { error: 'Plivo error: the call failed (Network Error)' },
    ],
  ] as const
  for (const [fields, expected] of cases) {
    plivo.requests.length = 0
    const id = await dial()
    const { body } = await plivo.asked(/POST .*\/Call\/$/)
    await post(body.hangup_url, { Event: 'Hangup', ...fields })
    t.match(await callWhen(user, id, isOver), expected, fields.HangupCauseName)
  }
  plivo.answer = () => ({ status: 401, body: { error: 'Could not verify your access level for that URL.' } })
  t.match(await callWhen(user, await dial(), isOver), {
    error: 'Plivo error: Could not verify your access level for that URL.',
  })
})

t.test('an incoming call is answered with our stream, an unknown number is refused', async (t) => {
  const { api, user, phone, post, stream } = await start(t)
  const url = `${api.url}/telephony/plivo/voice`
  const { text } = await post(url, { From: '14155550123', To: phone.number.slice(1), Direction: 'inbound' })
  const media = await stream(text)
  const { body: logs } = await user.client.get('/calls/logs')
  const id = logs.items[0].call_log_id
  t.match(await callWhen(user, id, ({ status }) => status === 'in_progress'), { from_number: '+14155550123' })
  media.say({ event: 'stop' })
  t.match(await callWhen(user, id, isOver), { direction: 'inbound', end_reason: 'caller_hangup' })
  const refused = await post(url, { CallUUID: 'other', From: '14155550123', To: '14155550999' })
  t.equal(refused.text, '<Response><Hangup reason="rejected"/></Response>')
})

t.test('a request that Plivo did not sign is refused', async (t) => {
  const { api, post } = await start(t)
  const url = `${api.url}/telephony/plivo/voice`
  t.equal((await post(url, {}, {})).status, 403)
  t.equal((await post(url, { To: '1' }, plivoHeaders(TOKEN, url, { To: '2' }))).status, 403)
  t.equal((await post(url, {}, plivoHeaders('another', url, { CallUUID: UUID }))).status, 403)
})
