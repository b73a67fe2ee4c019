import t from 'tap'
import { InboundCall } from '../../../../../plugins/sip/call/inbound-call.ts'
import { CallMedia } from '../../../../../plugins/sip/media/call-media.ts'
import { RtpLeg } from '../../../../../plugins/sip/media/rtp-leg.ts'
import { parseSdp } from '../../../../../plugins/sip/media/sdp.ts'
import { headerOf, headersOf, type SipRequest } from '../../../../../plugins/sip/message/message.ts'
import type { ServerTransaction } from '../../../../../plugins/sip/transaction/server-transaction.ts'
import type { CarrierFigures, LegEndReason } from '../../../../../runtime/call/types/leg.ts'
import { answerTo, labelOf, makeWire, requestOf, SDP } from '../../../../system/plugins/sip/support/wire.ts'

/** A call that came in and rings, seen from the caller's end of the wire. */
function ringingCall(inviteHeaders: readonly string[] = [], offer = SDP) {
  const ends: LegEndReason[] = []
  let incoming: ServerTransaction | undefined
  let call: InboundCall | undefined
  const wire = makeWire({
    request: (transaction) => {
      if (!transaction.request.to.params.has('tag')) incoming = transaction
      else (wire.sessions[0] ?? call)?.receive(transaction)
    },
    ack: (request) => wire.sessions[0]?.acknowledged(request),
    cancel: () => call?.cancel(),
  })
  const { context, timers, sent } = wire
  let sequence = 0
  /** A request of the caller. */
  const request = (method: string, headers: readonly string[] = [], body = '', number?: number): SipRequest => {
    const cseq = number ?? (method === 'ACK' ? sequence : ++sequence)
    return requestOf(method, { cseq, headers, body, tag: incoming === undefined ? '' : incoming.toTag })
  }
  wire.arrive(request('INVITE', inviteHeaders, offer))
  const ringing = new InboundCall(incoming!, context)
  call = ringing
  const media = new CallMedia({ address: '192.0.2.1', port: 16_384, sessionId: 1 }, ['PCMU', 'PCMA'])
  const parsed = offer === '' ? undefined : parseSdp(Buffer.from(offer))
  const accepted = parsed && media.accept(parsed)
  const socket = { address: '', port: 16_384, send: () => undefined, receive: () => undefined, close: () => undefined }
  const unknown = { address: '192.0.2.9', port: 9, rtcpPort: 9, codec: 'PCMU', payloadType: 0 } as const
  const leg = new RtpLeg({
    pair: { rtp: socket, rtcp: socket },
    agreement: accepted?.agreement ?? { ...unknown, eventPayloadType: 101, ptimeMs: 20, direction: 'inactive' },
    control: {
      answer: () => ringing.answer(() => true),
      hangUp: (reason) => ringing.hangUp(reason),
      transfer: (number) => ringing.transfer(`sip:${number}@192.0.2.9`),
    },
    allows: () => true,
    released: () => undefined,
    ...{ pacer: context.pacer, clock: timers, random: context.random, log: context.log },
  })
  const none = (): void => undefined
  const line: string[] = []
  const figures: CarrierFigures[] = []
  leg.start({
    ...{ audio: none, text: none, dtmf: none, played: none, ended: (reason) => ends.push(reason) },
    held: (direction) => line.push(direction),
    resumed: () => line.push('resumed'),
    carrier: (known) => figures.push(known),
  })
  ringing.ring(leg, media, parsed, accepted?.answer)
  return {
    timers,
    sent,
    ends,
    leg,
    line,
    figures,
    call: ringing,
    request,
    arrive: wire.arrive,
    statuses: wire.labels,
    last: wire.last,
  }
}

/** The same, answered. */
function answeredCall(inviteHeaders: readonly string[] = [], offer = SDP) {
  const ringing = ringingCall(inviteHeaders, offer)
  // Signalling alone: media would time out.
  ringing.call.answer(() => true)
  return ringing
}

/** Whose call is led on. */
const BY = { workspaceId: 'w', from: '+14155550100' }

t.test('the 200 is repeated with growing gaps until the ACK comes', async (t) => {
  const { timers, arrive, request, statuses } = answeredCall()
  timers.advance(3_600)
  t.equal(statuses().filter((label) => label === '200 INVITE').length, 4)
  arrive(request('ACK'))
  timers.advance(60_000)
  t.equal(statuses().filter((label) => label === '200 INVITE').length, 4)
})

t.test('a call whose ACK is lost for good is ended after 32 s', async (t) => {
  const { timers, ends, statuses } = answeredCall()
  timers.advance(33_000)
  t.same(ends, ['connection_lost'])
  t.ok(statuses().includes('BYE'))
})

t.test('a BYE that crosses ours is answered, and the call ends once', async (t) => {
  const { leg, arrive, request, ends, statuses } = answeredCall()
  arrive(request('ACK'))
  leg.close('agent_hangup')
  t.match(arrive(request('BYE')), { status: 481 })
  t.same(ends, [])
  t.equal(statuses().filter((label) => label === 'BYE').length, 1)
})

t.test('a BYE of the caller ends the call', async (t) => {
  const { arrive, request, ends } = answeredCall()
  arrive(request('ACK'))
  t.match(arrive(request('BYE')), { status: 200 })
  t.same(ends, ['caller_hangup'])
})

t.test('an unchanged re-INVITE gets our unchanged description; a request out of order is refused', async (t) => {
  const { arrive, request, sent } = answeredCall()
  arrive(request('ACK'))
  const first = sent.find((message) => labelOf(message) === '200 INVITE')
  const again = arrive(request('INVITE', [], SDP))
  t.match(again, { status: 200 })
  t.equal(String(again?.body), String(first?.body))
  t.match(arrive(request('INFO', [], '', 1)), { status: 500 })
})

t.test('a second INVITE before the ACK of the first is told to wait', async (t) => {
  const { arrive, request } = answeredCall()
  arrive(request('ACK'))
  arrive(request('INVITE', [], SDP))
  const refused = arrive(request('INVITE', [], SDP))
  t.match(refused, { status: 500 })
  t.ok(headerOf(refused!, 'retry-after'))
})

t.test('a session that nobody refreshes is ended before its time is over', async (t) => {
  const call = answeredCall(['Supported: timer', 'Session-Expires: 90;refresher=uac'])
  call.arrive(call.request('ACK'))
  call.timers.advance(59_000)
  t.same(call.ends, [])
  call.timers.advance(2_000)
  t.same(call.ends, ['connection_lost'])
})

t.test('a refresh of the caller begins the time anew', async (t) => {
  const headers = ['Supported: timer', 'Session-Expires: 90;refresher=uac']
  const call = answeredCall(headers)
  call.arrive(call.request('ACK'))
  call.timers.advance(50_000)
  t.match(call.arrive(call.request('UPDATE', headers)), { status: 200 })
  call.timers.advance(50_000)
  t.same(call.ends, [])
})

t.test('where we refresh, we do at half time; glare is tried again, a lost call ended', async (t) => {
  const call = answeredCall(['Supported: timer', 'Session-Expires: 100;refresher=uas'])
  call.arrive(call.request('ACK'))
  call.timers.advance(50_000)
  const invite = call.sent.at(-1)
  t.equal(labelOf(invite!), 'INVITE', 'the caller allows no UPDATE')
  t.match(call.arrive(call.request('INVITE', [], SDP)), { status: 491 }, 'both at once')
  call.arrive(answerTo(invite, 491))
  call.timers.advance(10)
  const second = call.sent.filter((message) => labelOf(message) === 'INVITE').at(-1)
  t.ok((second as SipRequest).cseq.number > (invite as SipRequest).cseq.number)
  const terms = ['Session-Expires: 100;refresher=uac', 'Contact: <sip:caller@192.0.2.9>']
  call.arrive(answerTo(second, 200, { headers: terms }))
  t.equal(labelOf(call.sent.at(-1)!), 'ACK')
  call.timers.advance(50_000)
  call.arrive(answerTo(call.sent.at(-1), 481))
  t.same(call.ends, ['connection_lost'])
})

t.test('a transfer that the other side takes ends our part of the call; one it refuses does not', async (t) => {
  const call = answeredCall()
  call.arrive(call.request('ACK'))
  const refused = call.leg.transfer('+14155550177', BY)
  t.equal(headerOf(call.sent.at(-1)!, 'refer-to'), '<sip:+14155550177@192.0.2.9>')
  call.arrive(answerTo(call.sent.at(-1), 603))
  t.equal(await refused, 'refused')
  t.same(call.ends, [])
  const taken = call.leg.transfer('+14155550177', BY)
  call.arrive(answerTo(call.sent.at(-1), 202))
  const notify = call.request('NOTIFY', ['Event: refer', 'Subscription-State: terminated'])
  call.arrive({ ...notify, body: Buffer.from('SIP/2.0 200 OK\r\n') })
  t.equal(await taken, 'taken')
  t.same(call.ends, ['transferred'])
  t.equal(labelOf(call.sent.at(-1)!), 'BYE')
})

const RELIABLE = ['Require: 100rel']

t.test('that it rings is repeated until the caller acknowledges it, by all three numbers (RFC 3262)', async (t) => {
  const { timers, arrive, request, sent, statuses } = ringingCall(RELIABLE)
  const ringing = sent[0]!
  t.equal(labelOf(ringing), '180 INVITE')
  timers.advance(3_600)
  t.equal(statuses().filter((label) => label === '180 INVITE').length, 4)
  const number = headerOf(ringing, 'rseq')
  t.match(arrive(request('PRACK', [`RAck: ${number} 2 INVITE`])), { status: 481 })
  t.match(arrive(request('PRACK', [`RAck: ${Number(number) + 1} 1 INVITE`])), { status: 481 })
  t.match(arrive(request('PRACK', [`RAck: ${number} 1 INVITE`])), { status: 200 })
  timers.advance(60_000)
  t.equal(statuses().filter((label) => label === '180 INVITE').length, 4)
})

t.test('a caller who never acknowledges that it rings is refused, and one who does so late is not', async (t) => {
  const silent = ringingCall(RELIABLE)
  silent.timers.advance(33_000)
  t.ok(silent.statuses().includes('504 INVITE'))
  t.same(silent.ends, ['connection_lost'])
  const late = answeredCall(RELIABLE)
  const rack = `RAck: ${headerOf(late.sent[0]!, 'rseq')} 1 INVITE`
  t.match(late.arrive(late.request('PRACK', [rack])), { status: 200 })
  t.match(late.arrive(late.request('PRACK', ['RAck: 77 1 INVITE'])), { status: 481 })
})

t.test('where our offer would have to come with the ringing, it does not ring', async (t) => {
  const { statuses, call } = ringingCall(RELIABLE, '')
  t.same(statuses(), [])
  call.answer(() => true)
  t.same(statuses(), ['200 INVITE'])
})

t.test('what a call that rings is asked for is done, put off or refused, and never unknown to it', async (t) => {
  const { arrive, request, ends } = ringingCall()
  const retry = (method: string, body = '') => {
    const answer = arrive(request(method, [], body))
    t.match(answer, { status: 500 }, method)
    t.ok(headerOf(answer!, 'retry-after'), method)
  }
  t.match(arrive(request('OPTIONS')), { status: 200 })
  t.match(arrive(request('UPDATE')), { status: 200 })
  retry('UPDATE', SDP)
  retry('INVITE', SDP)
  retry('INFO')
  t.match(arrive(request('REFER')), { status: 405 })
  t.same(ends, [])
})

t.test('a CANCEL ends a call that rings, with one tag in all answers, and an answered one not', async (t) => {
  const { arrive, request, sent, statuses, ends } = ringingCall()
  const cancel = () => requestOf('CANCEL', { cseq: 1, branch: 'z9hG4bKINVITE1' })
  arrive(cancel())
  t.same(statuses(), ['180 INVITE', '200 CANCEL', '487 INVITE'])
  t.equal(new Set(sent.map(({ to }) => to.params.get('tag'))).size, 1)
  t.same(ends, ['caller_hangup'])
  t.ok(request)
  const answered = answeredCall()
  t.match(answered.arrive(cancel()), { status: 200 })
  t.same(answered.ends, [])
})

t.test('a request of a dialog takes the way of its proxies, which a strict one sends itself', async (t) => {
  const through = (...routes: string[]) => {
    const call = answeredCall(routes.map((route) => `Record-Route: ${route}`))
    call.arrive(call.request('ACK'))
    call.leg.close('agent_hangup')
    const bye = call.last('BYE')
    return {
      uri: bye.uri.text,
      routes: headersOf(bye, 'route'),
      answer: call.sent.find(({ kind }) => kind === 'response'),
    }
  }
  const loose = through('"P 1" <sip:p1.example;lr>', '<sip:p2.example;lr;x=y>')
  t.same(loose.routes, ['<sip:p1.example;lr>', '<sip:p2.example;lr;x=y>'])
  t.equal(loose.uri, 'sip:caller@192.0.2.9')
  t.equal(headersOf(loose.answer!, 'record-route').length, 2, 'and the answer names them, too')
  const strict = through('<sip:p1.example>', '<sip:p2.example;lr>')
  t.equal(strict.uri, 'sip:p1.example')
  t.same(strict.routes, ['<sip:p2.example;lr>', '<sip:caller@192.0.2.9>'])
})

const WE_REFRESH = ['Supported: timer', 'Session-Expires: 120;refresher=uas']

t.test('a refresh that is too short for the other side is made longer', async (t) => {
  const call = answeredCall(WE_REFRESH)
  call.arrive(call.request('ACK'))
  call.timers.advance(60_000)
  call.arrive(answerTo(call.last('INVITE'), 422, { headers: ['Min-SE: 300'] }))
  const again = call.last('INVITE')
  t.equal(headerOf(again, 'session-expires'), '300;refresher=uac')
  t.equal(headerOf(again, 'min-se'), '300')
  const headers = ['Session-Expires: 300;refresher=uac', 'Contact: <sip:caller@192.0.2.9>']
  call.arrive(answerTo(again, 200, { headers }))
  call.timers.advance(149_000)
  t.equal(call.last('INVITE'), again)
  call.timers.advance(2_000)
  t.not(call.last('INVITE'), again)
})

t.test('a refresh that is refused is tried again, and the call ended before its time is over', async (t) => {
  const call = answeredCall(WE_REFRESH)
  call.arrive(call.request('ACK'))
  call.timers.advance(60_000)
  const tries = new Set<SipRequest>()
  for (let ms = 0; ms < 29_000; ms += 1_000) {
    const invite = call.last('INVITE')
    if (!tries.has(invite)) call.arrive(answerTo(invite, 503))
    tries.add(invite)
    call.timers.advance(1_000)
  }
  t.ok(tries.size > 2, `${tries.size} tries`)
  t.same(call.ends, ['connection_lost'])
  t.ok(call.statuses().includes('BYE'))
})

t.test('a caller that keeps the time and then lets it be has no time any more', async (t) => {
  const call = answeredCall(['Supported: timer', 'Session-Expires: 90;refresher=uac'])
  call.arrive(call.request('ACK'))
  t.match(call.arrive(call.request('UPDATE')), { status: 200 })
  call.timers.advance(200_000)
  t.same(call.ends, [])
})

t.test('an offer that meets one of ours without an answer is told to wait', async (t) => {
  const call = answeredCall([], '')
  t.match(call.arrive(call.request('UPDATE', [], SDP)), { status: 491 })
  t.match(call.arrive(call.request('UPDATE')), { status: 200 })
})

t.test('a notice of what nobody subscribed to is refused', async (t) => {
  const call = answeredCall()
  call.arrive(call.request('ACK'))
  t.match(call.arrive(call.request('NOTIFY', ['Event: message-summary'])), { status: 489 })
  t.match(call.arrive(call.request('NOTIFY', ['Event: refer'])), { status: 481 })
  t.same(call.ends, [])
})

t.test('a body nobody can read is refused with what could be', async (t) => {
  const call = answeredCall()
  call.arrive(call.request('ACK'))
  const packed = call.arrive(call.request('UPDATE', ['Content-Encoding: gzip'], SDP))
  t.match(packed, { status: 415 })
  t.equal(headerOf(packed!, 'accept-encoding'), 'identity')
  const other = call.arrive(call.request('UPDATE', ['Content-Type: text/plain'], 'hello'))
  t.match(other, { status: 415 })
  t.equal(headerOf(other!, 'accept'), 'application/sdp, multipart/mixed')
})

/** The same description, held as `direction` says. */
const heldSdp = (direction: string): string => `${SDP}a=${direction}\r\n`

/** An answered call with its media. */
function talkingCall() {
  const call = answeredCall()
  call.arrive(call.request('ACK'))
  call.leg.connect()
  return call
}

t.test('the session is told of hold and resume, in each of the ways they are asked for', async (t) => {
  const zero = SDP.replace('c=IN IP4 192.0.2.9', 'c=IN IP4 0.0.0.0')
  for (const [hold, told, answered] of [
    [heldSdp('sendonly'), 'sendonly', 'recvonly'],
    [heldSdp('inactive'), 'inactive', 'inactive'],
    [zero, 'inactive', 'inactive'],
  ] as const) {
    const call = talkingCall()
    const answer = call.arrive(call.request('INVITE', [], hold))
    t.match(String(answer?.body), `a=${answered}`)
    call.arrive(call.request('ACK'))
    call.arrive(call.request('INVITE', [], hold))
    call.arrive(call.request('ACK'))
    call.arrive(call.request('UPDATE', [], SDP))
    t.same(call.line, [told, 'resumed'], hold)
  }
})

t.test(
  'who resumes without an offer gets our own wish, with all our codecs, and the next version (RFC 6337)',
  async (t) => {
    const call = talkingCall()
    const versionOf = (body: unknown) => Number(/^o=patchbay \d+ (\d+)/m.exec(String(body))?.[1])
    const held = call.arrive(call.request('INVITE', [], heldSdp('inactive')))
    call.arrive(call.request('ACK'))
    const offer = call.arrive(call.request('INVITE'))
    t.match(String(offer?.body), 'a=sendrecv')
    t.match(String(offer?.body), /m=audio \d+ RTP\/AVP 0 8 101/)
    t.equal(versionOf(offer?.body), versionOf(held?.body) + 1)
    call.arrive(call.request('ACK', ['Content-Type: application/sdp'], SDP))
    t.same(call.line, ['inactive', 'resumed'])
  },
)

t.test('another codec may be agreed on in the middle of the call', async (t) => {
  const call = talkingCall()
  const answer = call.arrive(call.request('INVITE', [], SDP.replace('RTP/AVP 0', 'RTP/AVP 8')))
  t.match(answer, { status: 200 })
  t.match(String(answer?.body), /RTP\/AVP 8\r\n/)
  t.equal(call.leg.format.encoding, 'pcmu')
})

t.test('a caller who offers nothing and speaks our second codec alone is not lost', async (t) => {
  const call = answeredCall([], '')
  call.arrive(call.request('ACK', ['Content-Type: application/sdp'], SDP.replace('RTP/AVP 0', 'RTP/AVP 8')))
  t.same(call.ends, [])
})

t.test('the session learns who ended the call, and why', async (t) => {
  const theirs = talkingCall()
  theirs.arrive(theirs.request('BYE', ['Reason: Q.850;cause=16']))
  t.match(theirs.figures.at(-1), { releasedBy: 'caller', q850: 16 })
  const ours = talkingCall()
  ours.leg.close('agent_hangup')
  t.match(ours.figures.at(-1), { releasedBy: 'patchbay' })
})

t.test('who takes a transfer and hangs up without a word of it has gone there', async (t) => {
  const call = talkingCall()
  const transfer = call.leg.transfer('+14155550177', BY)
  t.match(headerOf(call.last('REFER'), 'referred-by'), /^<sip:\+14155550100@192\.0\.2\.1>$/)
  call.arrive(answerTo(call.sent.at(-1), 202))
  call.arrive(call.request('BYE'))
  t.equal(await transfer, 'taken')
  t.same(call.ends, ['transferred'])
})

t.test('what became of a transfer is read in each form that peers write it in', async (t) => {
  const forms = [
    ['sip/2.0 200 ok', 'active', 'taken'],
    ['\r\nSIP/2.0 200 OK\r\n', 'active', 'taken'],
    ['', 'terminated;reason=noresource', 'failed'],
  ] as const
  for (const [body, state, result] of forms) {
    const call = talkingCall()
    const transfer = call.leg.transfer('+14155550177', BY)
    call.arrive(answerTo(call.sent.at(-1), 202))
    const notify = call.request('NOTIFY', ['Event: refer', `Subscription-State: ${state}`])
    call.arrive({ ...notify, body: Buffer.from(body) })
    t.equal(await transfer, result, JSON.stringify(body))
  }
})

t.test('a peer that hangs up before it took the transfer has hung up', async (t) => {
  const call = talkingCall()
  void call.leg.transfer('+14155550177', BY)
  call.arrive(call.request('BYE'))
  t.same(call.ends, ['caller_hangup'])
})

t.test(
  'a transfer that fails for the other side alone may be tried from here; one the callee refused is over',
  async (t) => {
    for (const [status, result] of [
      [503, 'refused'],
      [486, 'failed'],
    ] as const) {
      const call = talkingCall()
      const transfer = call.leg.transfer('+14155550177', BY)
      call.arrive(answerTo(call.sent.at(-1), 202))
      const notify = call.request('NOTIFY', ['Event: refer', 'Subscription-State: terminated'])
      call.arrive({ ...notify, body: Buffer.from(`SIP/2.0 ${status} x\r\n`) })
      t.equal(await transfer, result)
      t.same(call.ends, [])
    }
  },
)

t.test('a held call whose other side keeps no session timer is asked for, and ended when it is gone', async (t) => {
  const ofHolding = () => {
    const call = talkingCall()
    t.match(call.arrive(call.request('INVITE', [], heldSdp('inactive'))), { status: 200 })
    call.arrive(call.request('ACK'))
    t.same(call.line, ['inactive'])
    call.timers.advance(301_000)
    t.equal(call.statuses().at(-1), 'INVITE', 'we ask')
    return call
  }
  const there = ofHolding()
  const asked = there.last('INVITE')
  there.arrive(answerTo(asked, 405))
  there.timers.advance(299_000)
  t.same(there.ends, [])
  const gone = ofHolding()
  gone.arrive(answerTo(gone.last('INVITE'), 481))
  t.same(gone.ends, ['connection_lost'])
  const silent = ofHolding()
  silent.timers.advance(33_000)
  t.same(silent.ends, ['connection_lost'])
})
