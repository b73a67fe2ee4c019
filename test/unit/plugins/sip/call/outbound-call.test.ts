import t from 'tap'
import { OutboundCall } from '../../../../../plugins/sip/call/outbound-call.ts'
import { CallMedia } from '../../../../../plugins/sip/media/call-media.ts'
import { RtpLeg } from '../../../../../plugins/sip/media/rtp-leg.ts'
import { headerOf, headersOf, type SipMessage } from '../../../../../plugins/sip/message/message.ts'
import { parseMessage } from '../../../../../plugins/sip/message/parser.ts'
import { Authenticator } from '../../../../../plugins/sip/transaction/authenticator.ts'
import { ServerTransaction } from '../../../../../plugins/sip/transaction/server-transaction.ts'
import { answerTo, makeWire, requestOf, SDP } from '../../../../system/plugins/sip/support/wire.ts'

const RING_TIMEOUT_MS = 30_000
const SILENCE_MS = 20_000

/** A call of ours, as whoever it reaches sees it. */
function placedCall({ password = '' } = {}) {
  const told: string[] = []
  const wire = makeWire({})
  const { context, flow } = wire
  const media: { port: number; address: string }[] = []
  const send = (_: Uint8Array, port: number, address: string): void => void media.push({ port, address })
  const socket = { address: '', port: 16_384, send, receive: () => undefined, close: () => undefined }
  const call = new OutboundCall({
    presence: { target: 'sip:+14155550177@192.0.2.9', from: '<sip:+14155550100@192.0.2.9>', headers: [] },
    media: new CallMedia({ address: '192.0.2.1', port: 16_384, sessionId: 1 }, ['PCMU', 'PCMA']),
    authenticator: password === '' ? undefined : new Authenticator({ username: 'aurora', password }, context.token),
    allows: () => true,
    ringTimeoutMs: RING_TIMEOUT_MS,
    silenceMs: SILENCE_MS,
    ...{ flow, context },
    events: {
      ringing: () => told.push('ringing'),
      leg: (agreement) =>
        new RtpLeg({
          pair: { rtp: socket, rtcp: socket },
          control: { answer: () => undefined, hangUp: () => call.hangUp(), transfer: async () => 'failed' },
          ...{ agreement, allows: () => true, released: () => undefined },
          ...{ pacer: context.pacer, clock: context.clock, random: context.random, log: context.log },
        }),
      answered: () => told.push('answered'),
      failed: ({ status }) => told.push(`failed ${status}`),
    },
  })
  const invite = (): SipMessage => wire.last('INVITE')
  const answer = (status: number, tag = 'b', headers: readonly string[] = [], body = '') =>
    wire.arrive(answerTo(invite(), status, { tag, headers: ['Contact: <sip:callee@192.0.2.9>', ...headers], body }))
  return { ...wire, call, told, invite, answer, media }
}

const count = (labels: readonly string[], label: string): number => labels.filter((one) => one === label).length

t.test('a 200 that comes again gets its ACK again, and nobody is called twice for it', async (t) => {
  const { answer, labels, told, sent } = placedCall()
  for (let i = 0; i < 3; i++) answer(200, 'b', [], SDP)
  t.same(told, ['answered'])
  t.equal(count(labels(), 'ACK'), 3)
  t.equal(
    new Set(sent.filter(({ cseq }) => cseq.method === 'ACK').map(({ vias }) => vias[0]?.params.get('branch'))).size,
    1,
  )
})

t.test('a 200 that crosses our CANCEL is acknowledged, and its call ended once', async (t) => {
  const { call, answer, labels, told } = placedCall()
  answer(180)
  call.hangUp()
  t.equal(labels().at(-1), 'CANCEL')
  answer(200, 'b', [], SDP)
  answer(200, 'b', [], SDP)
  t.equal(count(labels(), 'ACK'), 2)
  t.equal(count(labels(), 'BYE'), 1)
  t.notOk(told.includes('answered'))
})

t.test('nothing is canceled before the other side has shown that it has the call', async (t) => {
  const { call, answer, labels } = placedCall()
  call.hangUp()
  t.same(labels(), ['INVITE'])
  answer(100, '')
  t.same(labels(), ['INVITE', 'CANCEL'])
  answer(487)
  t.equal(labels().at(-1), 'ACK')
})

t.test('a canceled call of which nothing more is heard is forgotten', async (t) => {
  const { answer, transactions, timers, told } = placedCall()
  answer(180)
  timers.advance(RING_TIMEOUT_MS)
  t.same(told, ['ringing', 'failed 480'])
  timers.advance(33_000)
  t.equal(transactions.size, 0)
})

t.test('the other branch of a forked call is answered and left', async (t) => {
  const { answer, labels, told, last } = placedCall()
  answer(200, 'b', [], SDP)
  answer(200, 'c', ['Contact: <sip:other@192.0.2.9>'], SDP)
  answer(200, 'c', ['Contact: <sip:other@192.0.2.9>'], SDP)
  t.same(told, ['answered'])
  t.equal(count(labels(), 'ACK'), 3)
  t.equal(count(labels(), 'BYE'), 1)
  t.equal(last('BYE').to.params.get('tag'), 'c')
})

t.test('the way is that of the final answer, not of the ringing (section 13.2.2.4)', async (t) => {
  const { call, answer, last } = placedCall()
  answer(180, 'b', ['Require: 100rel', 'RSeq: 5', 'Record-Route: <sip:early.example;lr>'])
  t.same(headersOf(last('PRACK'), 'route'), ['<sip:early.example;lr>'])
  answer(200, 'b', ['Record-Route: <sip:p2.example;lr>, <sip:p1.example;lr>'], SDP)
  t.same(headersOf(last('ACK'), 'route'), ['<sip:p1.example;lr>', '<sip:p2.example;lr>'])
  call.hangUp()
  t.same(headersOf(last('BYE'), 'route'), ['<sip:p1.example;lr>', '<sip:p2.example;lr>'])
  t.ok(last('BYE').cseq.number > last('PRACK').cseq.number)
})

t.test('reliable provisional answers are acknowledged once each, in order', async (t) => {
  const { answer, invite, labels, last } = placedCall()
  const ring = (number: number) => answer(183, 'b', ['Require: 100rel', `RSeq: ${number}`])
  ring(10)
  ring(10)
  ring(12)
  t.equal(count(labels(), 'PRACK'), 1)
  t.equal(headerOf(last('PRACK'), 'rack'), `10 ${invite().cseq.number} INVITE`)
  ring(11)
  ring(12)
  t.equal(count(labels(), 'PRACK'), 3)
})

t.test('what answered a challenge goes with the ACK as well', async (t) => {
  const { answer, invite, last, told } = placedCall({ password: 'secret' })
  const challenge = 'Proxy-Authenticate: Digest realm="x", nonce="n", algorithm=SHA-256, qop="auth"'
  answer(407, 'b', [challenge])
  t.match(headerOf(invite(), 'proxy-authorization'), /^Digest .*username="aurora"/)
  answer(200, 'b', [], SDP)
  t.equal(headerOf(last('ACK'), 'proxy-authorization'), headerOf(invite(), 'proxy-authorization'))
  t.equal(last('ACK').cseq.number, invite().cseq.number)
  t.same(told, ['answered'])
})

t.test('a nonce that went stale is answered anew, a second refusal is one', async (t) => {
  const challenge = (nonce: string, stale: boolean) =>
    `WWW-Authenticate: Digest realm="x", nonce="${nonce}", stale=${stale}, qop="auth"`
  const stale = placedCall({ password: 'secret' })
  stale.answer(401, 'b', [challenge('one', false)])
  stale.answer(401, 'c', [challenge('two', true)])
  t.match(headerOf(stale.invite(), 'authorization'), /nonce="two".*nc=00000001/)
  t.equal(count(stale.labels(), 'INVITE'), 3)
  const wrong = placedCall({ password: 'secret' })
  wrong.answer(401, 'b', [challenge('one', false)])
  wrong.answer(401, 'c', [challenge('two', false)])
  t.same(wrong.told, ['failed 401'])
})

t.test('an interval the other side finds too short is asked for again, longer (RFC 4028)', async (t) => {
  const { answer, invite, labels } = placedCall()
  answer(422, 'b', ['Min-SE: 3600'])
  t.equal(headerOf(invite(), 'session-expires'), '3600')
  t.equal(headerOf(invite(), 'min-se'), '3600')
  answer(422, 'c', ['Min-SE: 7200'])
  answer(422, 'd', ['Min-SE: 14400'])
  t.equal(count(labels(), 'INVITE'), 3, 'and then no more')
})

t.test('an answer without a codec of ours is acknowledged and ended', async (t) => {
  const { answer, labels, told } = placedCall()
  answer(200, 'b', [], SDP.replace('RTP/AVP 0', 'RTP/AVP 3'))
  t.same(labels().slice(1), ['ACK', 'BYE'])
  t.same(told, ['failed 488'])
})

t.test('a trunk that never says a word is told as silent, and what comes late is hung up on', async (t) => {
  const { timers, told, answer, labels } = placedCall()
  timers.advance(SILENCE_MS - 1)
  t.same(told, [])
  timers.advance(1)
  t.same(told, ['failed 0'])
  answer(200, 'b', [], SDP)
  t.same(labels().slice(-2), ['ACK', 'BYE'])
})

t.test('how long it may ring counts from the first sign that the call was taken', async (t) => {
  const { timers, told, answer } = placedCall()
  timers.advance(15_000)
  answer(100)
  timers.advance(1_000)
  answer(180, 'a')
  timers.advance(RING_TIMEOUT_MS - 1_001)
  t.same(told, ['ringing'])
  timers.advance(1)
  t.same(told, ['ringing', 'failed 480'])
})

t.test('a trunk that tries and never says that anything rings has failed: nobody declined to answer', async (t) => {
  const { timers, told, answer } = placedCall()
  answer(100)
  timers.advance(RING_TIMEOUT_MS)
  t.same(told, ['failed 0'])
})

t.test('an answer that crosses our CANCEL gives the call back at once', async (t) => {
  const { call, told, answer } = placedCall()
  answer(180, 'a')
  call.hangUp()
  answer(200, 'a', [], SDP)
  t.same(told, ['ringing', 'failed 487'])
})

t.test('a proxy and the callee behind it may both ask for a password (section 22.3)', async (t) => {
  const { answer, invite, told } = placedCall({ password: 'secret' })
  answer(407, 'b', ['Proxy-Authenticate: Digest realm="proxy", nonce="one", qop="auth"'])
  answer(401, 'c', ['WWW-Authenticate: Digest realm="pbx", nonce="two", qop="auth"'])
  t.match(headerOf(invite(), 'authorization'), /realm="pbx".*nonce="two"/)
  t.match(headerOf(invite(), 'proxy-authorization'), /nonce="one".*nc=00000002/)
  answer(200, 'd', [], SDP)
  t.same(told, ['answered'])
})

t.test('what one branch of a fork agreed to early binds no other', async (t) => {
  const both = SDP.replace('RTP/AVP 0', 'RTP/AVP 8')
  const { answer, labels, told } = placedCall()
  answer(183, 'b', ['Require: 100rel', 'RSeq: 5'], SDP)
  answer(200, 'c', [], both)
  t.same(told, ['ringing', 'answered'])
  t.equal(count(labels(), 'BYE'), 0)
})

t.test('a 200 without a description means what was said before it, reliably or not', async (t) => {
  const { answer, told, labels } = placedCall()
  answer(183, 'b', [], SDP)
  answer(200, 'b')
  t.same(told, ['ringing', 'answered'])
  t.equal(count(labels(), 'BYE'), 0)
})

t.test('media flow both ways before somebody picks up, to where the branch that spoke last wants them', (t) => {
  const { answer, media, timers, told } = placedCall()
  answer(180)
  timers.advance(100)
  t.same(media, [], 'ringing alone says nothing of media')
  answer(183, 'b', [], SDP)
  timers.advance(100)
  t.match(media.at(-1), { address: '192.0.2.9', port: 4000 })
  answer(183, 'c', [], SDP.replace('4000', '4002'))
  timers.advance(100)
  t.match(media.at(-1), { port: 4002 })
  t.notOk(told.includes('answered'))
  answer(200, 'b', [], SDP)
  timers.advance(100)
  t.match(media.at(-1), { port: 4000 })
  timers.advance(29_000)
  t.same(told.filter((word) => word === 'answered').length, 1)
  t.end()
})

t.test('early media end with the call that nobody took', (t) => {
  const { answer, media, timers, told } = placedCall()
  answer(183, 'b', [], SDP)
  answer(486)
  const sent = media.length
  timers.advance(1_000)
  t.equal(media.length, sent)
  t.same(told, ['ringing', 'failed 486'])
  t.end()
})

t.test('the other side may change its media while it rings (RFC 3311)', (t) => {
  const { answer, media, timers, sessions, last, transactions } = placedCall()
  answer(183, 'b')
  const asked = (cseq: number, body: string) => {
    const { callId, from, to } = last('INVITE')
    const headers = [
      `Call-ID: ${callId}`,
      `From: ${'<sip:+14155550177@192.0.2.9>'};tag=b`,
      `To: <${to.uri.text}>;tag=${from.params.get('tag')}`,
    ]
    return requestOf('UPDATE', { cseq, headers, body })
  }
  const updates: ServerTransaction[] = []
  const update = (cseq: number, body: string) => {
    const made = new ServerTransaction(asked(cseq, body), flowOf(), timers, 'x', () => undefined)
    updates.push(made)
    sessions.at(-1)?.receive(made)
    return sent.at(-1)
  }
  const sent: SipMessage[] = []
  const flowOf = () => ({
    ...{
      protocol: 'udp' as const,
      address: '192.0.2.9',
      port: 5060,
      local: { host: '192.0.2.1', port: 5060 },
      isOpen: true,
    },
    send: (bytes: Uint8Array) => void sent.push(parseMessage(Buffer.from(bytes))),
  })
  t.match(update(1, SDP), { status: 491 }, 'our own offer has no answer yet')
  answer(183, 'b', [], SDP)
  t.match(update(2, SDP.replace('4000', '4004')), { status: 200 })
  t.ok(sent.at(-1)?.body.length, 'with our answer')
  timers.advance(60)
  t.match(media.at(-1), { port: 4004 })
  answer(200, 'b', [], SDP)
  timers.advance(60)
  t.match(media.at(-1), { port: 4004 }, 'the 200 only repeats the first answer')
  t.equal(sessions.length, 2, 'the answered call has the dialog now')
  for (const one of updates) one.abandon()
  transactions.close()
  t.end()
})

t.test('a canceled call and one that is hung up say why (RFC 3326)', (t) => {
  const { answer, last, timers } = placedCall()
  answer(180)
  timers.advance(RING_TIMEOUT_MS)
  t.match(headerOf(last('CANCEL'), 'reason'), /^Q\.850;cause=19;/)
  const second = placedCall()
  second.answer(200, 'b', [], SDP)
  second.call.hangUp()
  t.match(headerOf(second.last('BYE'), 'reason'), /^Q\.850;cause=16;/)
  t.match(headerOf(second.last('BYE'), 'user-agent'), 'Patchbay')
  t.end()
})
