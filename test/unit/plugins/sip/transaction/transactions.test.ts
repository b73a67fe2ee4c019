import t from 'tap'
import type {
  OutgoingRequest,
  SipMessage,
  SipRequest,
  SipResponse,
} from '../../../../../plugins/sip/message/message.ts'
import { parseMessage } from '../../../../../plugins/sip/message/parser.ts'
import { serializeRequest } from '../../../../../plugins/sip/message/serializer.ts'
import type { ClientEvents } from '../../../../../plugins/sip/transaction/client-transaction.ts'
import { cancelOf } from '../../../../../plugins/sip/transaction/client-transaction.ts'
import type { ServerTransaction } from '../../../../../plugins/sip/transaction/server-transaction.ts'
import { Transactions } from '../../../../../plugins/sip/transaction/transactions.ts'
import type { Flow, Protocol } from '../../../../../plugins/sip/transport/flow.ts'
import { FakeTimers } from '../../../../system/plugins/sip/support/fake-timers.ts'

/** One side of the wire: its transactions, what it sent, and what it was told. */
function makeSide(protocol: Protocol = 'udp') {
  const timers = new FakeTimers()
  const sent: SipMessage[] = []
  const told: string[] = []
  const flow: Flow = {
    protocol,
    address: '192.0.2.2',
    port: 5060,
    local: { host: '192.0.2.1', port: 5060 },
    isOpen: true,
    send: (bytes) => sent.push(parseMessage(bytes)),
  }
  const requests: ServerTransaction[] = []
  let tokens = 0
  const transactions = new Transactions(timers, () => `token${++tokens}`, {
    request: (transaction) => requests.push(transaction),
    ack: (request) => told.push(`ack ${request.cseq.number}`),
    cancel: (invite) => {
      told.push('cancel')
      invite.respond(487)
    },
    admits: () => true,
    overloaded: () => told.push('overloaded'),
  })
  const events: ClientEvents = {
    provisional: (response) => told.push(String(response.status)),
    final: (response) => told.push(`final ${response.status}`),
    failed: (why) => told.push(`failed: ${why}`),
  }
  const arrive = (message: SipMessage): void => transactions.receive(message, flow)
  return { timers, sent, told, flow, requests, transactions, events, arrive }
}

function request(method: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return {
    method,
    uri: 'sip:b@192.0.2.2',
    headers: [
      { name: 'from', value: '<sip:a@192.0.2.1>;tag=a' },
      { name: 'to', value: '<sip:b@192.0.2.2>' },
      { name: 'call-id', value: 'call' },
      { name: 'cseq', value: `1 ${method}` },
      { name: 'max-forwards', value: '70' },
    ],
    ...more,
  }
}

/** A response to what was sent, as the other side would give it. */
function answer(sent: SipMessage | undefined, status: number): SipResponse {
  const lines = (sent?.headers ?? []).map(({ name, value }) => {
    return name === 'to' && status > 100 ? `To: ${value};tag=b` : `${name}: ${value}`
  })
  const kept = lines.filter((line) => /^(via|from|to|call-id|cseq):/i.test(line))
  return parseMessage(Buffer.from([`SIP/2.0 ${status} x`, ...kept, '', ''].join('\r\n'))) as SipResponse
}

const methods = (messages: readonly SipMessage[]): string[] =>
  messages.map((message) => (message.kind === 'request' ? message.method : String(message.status)))

t.test('an INVITE over UDP is repeated with doubling gaps, and given up after 32 s', async (t) => {
  const side = makeSide()
  side.transactions.send(request('INVITE'), side.flow, side.events)
  const times: number[] = []
  for (let ms = 0; ms < 33_000; ms += 100) {
    const before = side.sent.length
    side.timers.advance(100)
    if (side.sent.length > before) times.push(ms + 100)
  }
  t.same(times, [500, 1_500, 3_500, 7_500, 15_500, 31_500])
  t.same(side.told, ['failed: timeout'])
  t.equal(side.transactions.size, 0)
})

t.test('other requests over UDP are repeated every 4 s at the latest', async (t) => {
  const side = makeSide()
  side.transactions.send(request('OPTIONS'), side.flow, side.events)
  side.timers.advance(32_000)
  t.equal(side.sent.length, 11)
  t.same(side.told, ['failed: timeout'])
})

t.test('over TCP nothing is repeated', async (t) => {
  const side = makeSide('tcp')
  side.transactions.send(request('INVITE'), side.flow, side.events)
  side.timers.advance(32_000)
  t.equal(side.sent.length, 1)
  t.same(side.told, ['failed: timeout'])
})

t.test('a provisional answer to an INVITE stops the repeating, and the giving up', async (t) => {
  const side = makeSide()
  side.transactions.send(request('INVITE'), side.flow, side.events)
  side.arrive(answer(side.sent[0], 180))
  side.timers.advance(120_000)
  t.equal(side.sent.length, 1)
  t.same(side.told, ['180'])
})

t.test('a refusal is acknowledged each time it comes, told once, and forgotten after 32 s', async (t) => {
  const side = makeSide()
  side.transactions.send(request('INVITE'), side.flow, side.events)
  const busy = answer(side.sent[0], 486)
  for (let i = 0; i < 3; i++) side.arrive(busy)
  t.same(methods(side.sent), ['INVITE', 'ACK', 'ACK', 'ACK'])
  const ack = side.sent[1] as SipRequest
  t.equal(ack.vias[0]?.params.get('branch'), side.sent[0]?.vias[0]?.params.get('branch'))
  t.equal(ack.to.params.get('tag'), 'b')
  t.same(side.told, ['final 486'])
  side.timers.advance(32_000)
  t.equal(side.transactions.size, 0)
})

t.test('every 2xx to an INVITE is passed on: acknowledging is the call business', async (t) => {
  const side = makeSide()
  side.transactions.send(request('INVITE'), side.flow, side.events)
  side.arrive(answer(side.sent[0], 200))
  side.arrive(answer(side.sent[0], 200))
  t.same(side.told, ['final 200', 'final 200'])
  t.same(methods(side.sent), ['INVITE'])
})

t.test('a response with a foreign Via, or to nothing we sent, is dropped', async (t) => {
  const side = makeSide()
  side.transactions.send(request('INVITE'), side.flow, side.events)
  const response = answer(side.sent[0], 200)
  side.arrive({ ...response, vias: [...response.vias, ...response.vias] })
  side.arrive({ ...response, cseq: { number: 1, method: 'BYE' } })
  t.same(side.told, [])
})

t.test('a CANCEL goes the way of its INVITE', async (t) => {
  const side = makeSide()
  const invite = side.transactions.send(request('INVITE'), side.flow, side.events)
  side.transactions.sendCancel(cancelOf(invite.request), side.flow, { final: () => undefined, failed: () => undefined })
  const [first, second] = side.sent as SipRequest[]
  t.equal(second?.method, 'CANCEL')
  t.same(second?.vias, first?.vias)
  t.same(second?.cseq, { number: 1, method: 'CANCEL' })
})

/** A request as it arrives. */
function arriving(method: string, branch = 'z9hG4bKx', cseqMethod = method): SipRequest {
  const base = request(method)
  const headers = [
    { name: 'via', value: `SIP/2.0/UDP 10.0.0.9:5060;rport;branch=${branch}` },
    ...base.headers.map((header) => (header.name === 'cseq' ? { name: 'cseq', value: `1 ${cseqMethod}` } : header)),
  ]
  return parseMessage(serializeRequest({ ...base, headers })) as SipRequest
}

t.test('a repeated request gets the last answer again and reaches nobody twice', async (t) => {
  const side = makeSide()
  for (let i = 0; i < 3; i++) side.arrive(arriving('INVITE'))
  t.equal(side.requests.length, 1)
  t.equal(side.sent.length, 0)
  side.requests[0]?.respond(180)
  side.arrive(arriving('INVITE'))
  t.same(methods(side.sent), ['180', '180'])
})

t.test('an answer says where the request really came from', async (t) => {
  const side = makeSide()
  side.arrive(arriving('OPTIONS'))
  side.requests[0]?.respond(200)
  const via = side.sent[0]?.vias[0]
  t.equal(via?.params.get('received'), '192.0.2.2')
  t.equal(via?.params.get('rport'), '5060')
  t.equal(via?.params.get('branch'), 'z9hG4bKx')
  t.equal(side.sent[0]?.to.params.get('tag'), side.requests[0]?.toTag)
})

t.test('a refusal of an INVITE is repeated until its ACK, which goes no further', async (t) => {
  const side = makeSide()
  side.arrive(arriving('INVITE'))
  side.requests[0]?.respond(486)
  side.timers.advance(4_000)
  t.equal(side.sent.length, 4)
  side.arrive(arriving('ACK'))
  side.timers.advance(10_000)
  t.equal(side.sent.length, 4)
  t.same(side.told, [])
  t.equal(side.transactions.size, 0)
})

t.test('the ACK of a 2xx reaches the call', async (t) => {
  const side = makeSide()
  side.arrive(arriving('INVITE'))
  side.requests[0]?.respond(200)
  side.arrive(arriving('ACK', 'z9hG4bKother'))
  t.same(side.told, ['ack 1'])
})

t.test('a CANCEL is answered, and ends its INVITE; without one it is told so', async (t) => {
  const side = makeSide()
  side.arrive(arriving('INVITE'))
  side.arrive(arriving('CANCEL'))
  t.same(methods(side.sent), ['200', '487'])
  t.same(side.told, ['cancel'])
  side.arrive(arriving('CANCEL', 'z9hG4bKnobody'))
  t.equal(methods(side.sent)[2], '481')
})

t.test('a CANCEL that crosses our 200 changes nothing', async (t) => {
  const side = makeSide()
  side.arrive(arriving('INVITE'))
  side.requests[0]?.respond(200)
  side.arrive(arriving('CANCEL'))
  t.same(methods(side.sent), ['200', '200'])
  t.same(side.told, [])
})

t.test('who asks for no rport is answered at the port its Via names, unless a NAT stands between', async (t) => {
  const answeredAt = (via: string): number => {
    const side = makeSide()
    const ports: number[] = []
    const at = (port: number): Flow => ({ ...side.flow, port, send: () => ports.push(port) })
    const base = request('OPTIONS')
    const headers = [{ name: 'via', value: `SIP/2.0/UDP ${via};branch=z9hG4bKx` }, ...base.headers]
    const message = parseMessage(serializeRequest({ ...base, headers }))
    side.transactions.receive(message, { ...at(51_000), at })
    side.requests[0]?.respond(200)
    return ports[0] ?? 0
  }
  t.equal(answeredAt('192.0.2.2'), 5060)
  t.equal(answeredAt('192.0.2.2:5070'), 5070)
  t.equal(answeredAt('192.0.2.2:5070;rport'), 51_000)
  t.equal(answeredAt('10.1.1.1:5070'), 51_000)
})

t.test('a CANCEL is answered with the tag of what it cancels', async (t) => {
  const side = makeSide()
  side.arrive(arriving('INVITE'))
  side.requests[0]?.respond(180)
  side.arrive(arriving('CANCEL'))
  t.equal(new Set(side.sent.map(({ to }) => to.params.get('tag'))).size, 1)
  t.equal(side.sent.length, 3)
})

t.test('one network never has more transactions open than are left for the others', async (t) => {
  const side = makeSide()
  for (let i = 0; i < 10_010; i++) side.arrive(arriving('OPTIONS', `z9hG4bK${i}`))
  t.equal(side.requests.length, 10_000)
  t.equal(side.told.filter((one) => one === 'overloaded').length, 10)
  side.transactions.receive(arriving('OPTIONS', 'z9hG4bKother'), { ...side.flow, address: '203.0.113.9' })
  t.equal(side.requests.length, 10_001, 'another network has its part')
  side.requests[0]?.respond(200)
  side.timers.advance(32_000)
  side.arrive(arriving('OPTIONS', 'z9hG4bKnext'))
  t.equal(side.requests.length, 10_002, 'what is over leaves its place')
})
