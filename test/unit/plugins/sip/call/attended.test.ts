import t from 'tap'
import { headerOf, type SipResponse } from '../../../../../plugins/sip/message/message.ts'
import {
  accepted,
  startCaller,
  startCarrier,
  startPeer,
  takeCalls,
  trunkOf,
} from '../../../../system/plugins/sip/support/carrier.ts'

/** Attended transfers that somebody on the other side makes (RFC 3891, RFC 5589): on real sockets. */

const SDP = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 9 RTP/AVP 0', ''].join(
  '\r\n',
)
const NUMBER = '+14155550100'

/** Sends requests within the caller's call; resolves with the final status. */
function askerIn(caller: Awaited<ReturnType<typeof startCaller>>, answer: SipResponse, port: number) {
  let sequence = 1
  return async (method: string, lines: readonly string[]): Promise<number> => {
    const cseq = ++sequence
    caller.send(method, NUMBER, [
      `Via: SIP/2.0/UDP 127.0.0.1:${caller.port};branch=z9hG4bK${method}${cseq};rport`,
      `Call-ID: ${answer.callId}`,
      `To: <sip:${NUMBER}@127.0.0.1:${port}>;tag=${answer.to.params.get('tag')}`,
      `CSeq: ${cseq} ${method}`,
      ...lines,
    ])
    for (;;) {
      const found = caller.answers.find((one) => one.cseq.number === cseq && one.status >= 200)
      if (found !== undefined) return found.status
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

t.test('somebody else takes the caller’s place, and the agent goes on with them', async (t) => {
  const { carrier, port } = await startCarrier(t, [trunkOf({ name: 'main', host: '127.0.0.1:9' })])
  const legs = await takeCalls(carrier)
  const first = await startCaller(t, port)
  const answer = await first.call(NUMBER, [], SDP)
  const replaces = `${answer.callId};to-tag=${answer.to.params.get('tag')};from-tag=caller`
  const second = await startCaller(t, port)
  const unknown = await second.call(NUMBER, [`Replaces: ${replaces}x`, 'Require: replaces'], SDP)
  t.equal(unknown.status, 481)
  const early = await second.call(NUMBER, [`Replaces: ${replaces};early-only`], SDP)
  t.equal(early.status, 486)
  const taken = await second.call(NUMBER, [`Replaces: ${replaces}`, 'Require: replaces'], SDP)
  t.equal(taken.status, 200)
  t.match(await first.saw('BYE'), { callId: answer.callId })
  t.equal(legs.length, 1, 'it is the same call')
  legs[0]?.close('done')
  t.match(await second.saw('BYE'), { callId: taken.callId })
})

t.test('a caller leads us to whom they spoke with before; nobody new is called for them', async (t) => {
  const desk = await startPeer(t, (request) => accepted(request))
  const { carrier, port } = await startCarrier(t, [trunkOf({ name: 'pbx', host: `127.0.0.1:${desk.port}` })])
  const legs = await takeCalls(carrier)
  const caller = await startCaller(t, port)
  const answer = await caller.call(NUMBER, [], SDP)
  const ask = askerIn(caller, answer, port)
  const dialog = encodeURIComponent('other-call;to-tag=1;from-tag=2')
  t.equal(await ask('REFER', [`Refer-To: <sip:+19005550100@127.0.0.1:${desk.port}>`]), 603)
  t.equal(await ask('REFER', [`Refer-To: <sip:desk@elsewhere.example.com?Replaces=${dialog}>`]), 603)
  const premium = `Refer-To: <sip:+19005550100@127.0.0.1:${desk.port}?Replaces=${dialog}>`
  t.equal(await ask('REFER', [premium]), 603, 'who is called in its place is judged as one that is dialled')
  const led = `Refer-To: <sip:desk@127.0.0.1:${desk.port};method=MESSAGE;maddr=192.0.2.66?Replaces=${dialog}>`
  t.equal(await ask('REFER', [led]), 202)
  const invite = await desk.saw('INVITE')
  t.equal(headerOf(invite, 'replaces'), 'other-call;to-tag=1;from-tag=2')
  t.equal(invite.uri.text, `sip:desk@127.0.0.1:${desk.port}`)
  const notified = async (): Promise<string> => {
    for (;;) {
      const last = caller.requests.filter(({ method }) => method === 'NOTIFY').at(-1)
      const text = Buffer.from(last?.body ?? []).toString()
      if (/^SIP\/2\.0 200/.test(text)) return headerOf(last!, 'subscription-state') ?? ''
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  t.match(await notified(), /^terminated/)
  t.equal(await ask('BYE', []), 200)
  t.notOk(
    desk.requests.some(({ method }) => method === 'BYE'),
    'the call goes on',
  )
  t.equal(legs.length, 1)
  legs[0]?.close('done')
  await desk.saw('BYE')
})

t.test('a caller leads us nowhere that the operator or the workspace refuses, whatever the trunk allows', async (t) => {
  const OPEN = { countries: null, numberTypes: null }
  const narrow = { ...OPEN, countries: ['US'] }
  const dialog = encodeURIComponent('other-call;to-tag=1;from-tag=2')
  for (const [whose, rules, expected] of [
    ['nobody', { operator: OPEN, workspace: OPEN }, 202],
    ['the operator', { operator: narrow, workspace: OPEN }, 603],
    ['the workspace', { operator: OPEN, workspace: narrow }, 603],
  ] as const) {
    const desk = await startPeer(t, (request) => accepted(request))
    const trunk = trunkOf({ name: 'pbx', host: `127.0.0.1:${desk.port}`, countries: ['US', 'DE'] })
    const { carrier, port } = await startCarrier(t, [trunk])
    await takeCalls(carrier, rules)
    const caller = await startCaller(t, port)
    const ask = askerIn(caller, await caller.call(NUMBER, [], SDP), port)
    const abroad = `Refer-To: <sip:+4930123456@127.0.0.1:${desk.port}?Replaces=${dialog}>`
    t.equal(await ask('REFER', [abroad]), expected, `where ${whose} refuses the country`)
    const home = `Refer-To: <sip:+14155550123@127.0.0.1:${desk.port}?Replaces=${dialog}>`
    if (expected === 603) t.equal(await ask('REFER', [home]), 202, 'who may be called takes its place')
  }
})
