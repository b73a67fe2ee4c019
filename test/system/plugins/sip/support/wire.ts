import { pino } from 'pino'
import type { CallContext, DialogSession } from '../../../../../plugins/sip/dialog/context.ts'
import type { SipMessage, SipRequest, SipResponse } from '../../../../../plugins/sip/message/message.ts'
import { parseMessage } from '../../../../../plugins/sip/message/parser.ts'
import { Transactions, type TransactionUser } from '../../../../../plugins/sip/transaction/transactions.ts'
import type { Flow, Protocol } from '../../../../../plugins/sip/transport/flow.ts'
import { Pacer } from '../../../../../runtime/media/line/pacer.ts'
import { FakeTimers } from './fake-timers.ts'

/** The other side's description of its audio. */
export const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 192.0.2.9',
  's=-',
  'c=IN IP4 192.0.2.9',
  't=0 0',
  'm=audio 4000 RTP/AVP 0',
  '',
].join('\r\n')

/** Our end of a wire in time moved by hand: what it sends is kept, and `arrive` is the other end. */
export function makeWire(user: Partial<TransactionUser>, protocol: Protocol = 'udp') {
  const timers = new FakeTimers()
  const sent: SipMessage[] = []
  /** When empty lines were sent to keep the way open. */
  const pings: number[] = []
  const sessions: DialogSession[] = []
  const flow: Flow = {
    protocol,
    address: '192.0.2.9',
    port: 5060,
    local: { host: '192.0.2.1', port: 5060 },
    isOpen: true,
    send: (bytes) => (bytes.length === 4 ? pings.push(timers.monotonicMs()) : sent.push(parseMessage(bytes))),
  }
  let tokens = 0
  const token = (): string => `token${++tokens}`
  const none = (): void => undefined
  const transactions = new Transactions(timers, token, {
    request: none,
    ack: none,
    cancel: none,
    admits: () => true,
    overloaded: none,
    ...user,
  })
  const context: CallContext = {
    ...{ transactions, timers, clock: timers, token },
    pacer: new Pacer(
      timers,
      (error) => {
        throw error
      },
      { setTimeout: (callback, ms) => timers.after(ms, callback), clearTimeout: (cancel) => (cancel as () => void)() },
    ),
    random: { bits: () => 0 },
    log: pino({ level: 'silent' }),
    flowFor: (_hop, known) => known,
    keepMessages: none,
    refused: none,
    opened: (session) => sessions.push(session),
    closed: none,
  }
  return {
    ...{ timers, sent, pings, sessions, flow, transactions, context },
    /** The first message that follows from this one. */
    arrive(message: SipMessage): SipMessage | undefined {
      const before = sent.length
      transactions.receive(message, flow)
      return sent[before]
    },
    /** Those sent so far, in short: `200 INVITE`, `BYE`. */
    labels: (): string[] => sent.map(labelOf),
    /** The last request of this method that we sent. */
    last: (method: string): SipRequest =>
      sent.filter((message) => message.kind === 'request' && message.method === method).at(-1) as SipRequest,
  }
}

export function labelOf(message: SipMessage): string {
  return message.kind === 'response' ? `${message.status} ${message.cseq.method}` : message.method
}

/** What a request of the other side has. */
export interface Asked {
  cseq?: number
  /** Ours, in To. */
  tag?: string
  /** Whole lines; they take the place of the usual ones. */
  headers?: readonly string[]
  body?: string
  branch?: string
}

/** A request of the other side. */
export function requestOf(method: string, asked: Asked = {}): SipRequest {
  const { cseq = 1, tag = '', headers = [], body = '' } = asked
  const { branch = `z9hG4bK${method}${cseq}` } = asked
  const given = (name: string): boolean => headers.some((line) => line.toLowerCase().startsWith(`${name}:`))
  const usual = [
    `Via: SIP/2.0/UDP 192.0.2.9:5060;branch=${branch}`,
    'From: <sip:caller@192.0.2.9>;tag=caller',
    `To: <sip:+14155550100@192.0.2.1>${tag === '' ? '' : `;tag=${tag}`}`,
    'Call-ID: call',
    `CSeq: ${cseq} ${method}`,
    'Contact: <sip:caller@192.0.2.9>',
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
  ].filter((line) => !given(line.slice(0, line.indexOf(':')).toLowerCase()))
  const lines = [`${method} sip:patchbay@192.0.2.1 SIP/2.0`, ...headers, ...usual, '', body]
  return parseMessage(Buffer.from(lines.join('\r\n'))) as SipRequest
}

/** The other side's answer to a request of ours. @param tag its own, where the request has none */
export function answerTo(
  request: SipMessage | undefined,
  status: number,
  { headers = [] as readonly string[], tag = '', body = '' } = {},
): SipResponse {
  const kept = (request?.headers ?? []).filter(({ name }) => ['via', 'from', 'to', 'call-id', 'cseq'].includes(name))
  const lines = [
    `SIP/2.0 ${status} x`,
    ...kept.map(({ name, value }) => `${name}: ${name === 'to' && tag !== '' ? `${value};tag=${tag}` : value}`),
    ...headers,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    '',
    body,
  ]
  return parseMessage(Buffer.from(lines.join('\r\n'))) as SipResponse
}
