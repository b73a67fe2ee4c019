import { pino } from 'pino'
import t from 'tap'
import { CallMedia } from '../../../plugins/sip/call-media.ts'
import type { CallContext, DialogSession } from '../../../plugins/sip/context.ts'
import type { Flow } from '../../../plugins/sip/flow.ts'
import { InboundCall } from '../../../plugins/sip/inbound-call.ts'
import { headerOf, type SipMessage, type SipRequest } from '../../../plugins/sip/message.ts'
import { parseMessage } from '../../../plugins/sip/parser.ts'
import { RtpLeg } from '../../../plugins/sip/rtp-leg.ts'
import { parseSdp } from '../../../plugins/sip/sdp.ts'
import type { ServerTransaction } from '../../../plugins/sip/server-transaction.ts'
import { Transactions } from '../../../plugins/sip/transactions.ts'
import { Pacer } from '../../../runtime/media/pacer.ts'
import type { LegEndReason } from '../../../runtime/session/leg.ts'
import { FakeTimers } from './support/fake-timers.ts'

const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 192.0.2.9',
  's=-',
  'c=IN IP4 192.0.2.9',
  't=0 0',
  'm=audio 4000 RTP/AVP 0',
  '',
].join('\r\n')

/** A call that came in and was answered, seen from the caller's end of the wire, in time moved by hand. */
function answeredCall(inviteHeaders: readonly string[] = []) {
  const timers = new FakeTimers()
  const sent: SipMessage[] = []
  const ends: LegEndReason[] = []
  const sessions: DialogSession[] = []
  const flow: Flow = {
    protocol: 'udp',
    address: '192.0.2.9',
    port: 5060,
    local: { host: '192.0.2.1', port: 5060 },
    send: (bytes) => sent.push(parseMessage(bytes)),
  }
  let tokens = 0
  const token = () => `token${++tokens}`
  let incoming: ServerTransaction | undefined
  const transactions = new Transactions(timers, token, {
    request: (transaction) => {
      if (transaction.request.to.params.has('tag')) sessions[0]?.receive(transaction)
      else incoming = transaction
    },
    ack: (request) => sessions[0]?.acknowledged(request),
    cancel: () => undefined,
    overloaded: () => undefined,
  })
  const context: CallContext = {
    transactions,
    timers,
    clock: timers,
    pacer: new Pacer(
      timers,
      (error) => {
        throw error
      },
      { setTimeout: (callback, ms) => timers.after(ms, callback), clearTimeout: (cancel) => (cancel as () => void)() },
    ),
    random: { bits: () => 0 },
    log: pino({ level: 'silent' }),
    token,
    flowFor: (_hop, known) => known,
    opened: (session) => sessions.push(session),
    closed: () => undefined,
  }
  let sequence = 0
  /** A request of the caller. */
  const request = (method: string, headers: readonly string[] = [], body = '', number?: number): SipRequest => {
    const cseq = number ?? (method === 'ACK' ? sequence : ++sequence)
    const tag = sent.find(({ kind }) => kind === 'response')?.to.params.get('tag')
    const lines = [
      `${method} sip:patchbay@192.0.2.1 SIP/2.0`,
      `Via: SIP/2.0/UDP 192.0.2.9:5060;branch=z9hG4bK${method}${cseq}`,
      'From: <sip:caller@192.0.2.9>;tag=caller',
      `To: <sip:+14155550100@192.0.2.1>${tag === undefined ? '' : `;tag=${tag}`}`,
      'Call-ID: call',
      `CSeq: ${cseq} ${method}`,
      'Contact: <sip:caller@192.0.2.9>',
      ...headers,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      '',
      body,
    ]
    return parseMessage(Buffer.from(lines.join('\r\n'))) as SipRequest
  }
  const arrive = (message: SipMessage): SipMessage | undefined => {
    const before = sent.length
    transactions.receive(message, flow)
    return sent[before]
  }
  arrive(request('INVITE', inviteHeaders, SDP))
  const call = new InboundCall(incoming!, context)
  const media = new CallMedia({ address: '192.0.2.1', port: 16_384, sessionId: 1 }, ['PCMU'])
  const { agreement, answer } = media.accept(parseSdp(Buffer.from(SDP)))
  const socket = { address: '', port: 16_384, send: () => undefined, receive: () => undefined, close: () => undefined }
  const leg = new RtpLeg({
    pair: { rtp: socket, rtcp: socket },
    agreement,
    control: {
      answer: () => call.answer(() => true),
      hangUp: (reason) => call.hangUp(reason),
      transfer: async (number) => {
        const referral = await call.transfer(`sip:${number}@192.0.2.9`)
        return referral === 'refused' ? 'failed' : referral
      },
    },
    allows: () => true,
    released: () => undefined,
    ...{ pacer: context.pacer, clock: timers, random: context.random, log: context.log },
  })
  const none = (): void => undefined
  leg.start({ audio: none, text: none, dtmf: none, played: none, ended: (reason) => ends.push(reason) })
  call.ring(leg, media, parseSdp(Buffer.from(SDP)), answer)
  // Signalling alone: media would time out.
  call.answer(() => true)
  return { timers, sent, ends, leg, call, request, arrive, statuses: () => sent.map(labelOf) }
}

const labelOf = (message: SipMessage): string =>
  message.kind === 'response' ? `${message.status} ${message.cseq.method}` : message.method

/** The other side's answer to a request of ours. */
function answerTo(request: SipMessage | undefined, status: number, headers: readonly string[] = []): SipMessage {
  const kept = (request?.headers ?? []).filter(({ name }) => ['via', 'from', 'to', 'call-id', 'cseq'].includes(name))
  const lines = [`SIP/2.0 ${status} x`, ...kept.map(({ name, value }) => `${name}: ${value}`), ...headers, '', '']
  return parseMessage(Buffer.from(lines.join('\r\n')))
}

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
  call.arrive(answerTo(second, 200, ['Session-Expires: 100;refresher=uac', 'Contact: <sip:caller@192.0.2.9>']))
  t.equal(labelOf(call.sent.at(-1)!), 'ACK')
  call.timers.advance(50_000)
  call.arrive(answerTo(call.sent.at(-1), 481))
  t.same(call.ends, ['connection_lost'])
})

t.test('a transfer that the other side takes ends our part of the call; one it refuses does not', async (t) => {
  const call = answeredCall()
  call.arrive(call.request('ACK'))
  const refused = call.leg.transfer('+14155550177')
  t.equal(headerOf(call.sent.at(-1)!, 'refer-to'), '<sip:+14155550177@192.0.2.9>')
  call.arrive(answerTo(call.sent.at(-1), 603))
  t.equal(await refused, false)
  t.same(call.ends, [])
  const taken = call.leg.transfer('+14155550177')
  call.arrive(answerTo(call.sent.at(-1), 202))
  const notify = call.request('NOTIFY', ['Event: refer', 'Subscription-State: terminated'])
  call.arrive({ ...notify, body: Buffer.from('SIP/2.0 200 OK\r\n') })
  t.equal(await taken, true)
  t.same(call.ends, ['transferred'])
  t.equal(labelOf(call.sent.at(-1)!), 'BYE')
})
