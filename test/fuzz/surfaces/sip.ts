import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { mutatedBytes, mutatedLines } from '../mutate.ts'
import type { Random } from '../random.ts'
import type { Attack, Surface } from '../surface.ts'
import type { World } from '../world.ts'

const AT_ONCE = 20
const PAUSE_MS = 20
const TCP_WAIT_MS = 100
const MAX_DATAGRAM_BYTES = 60_000

const SDP = (port: number): string[] => [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  `m=audio ${port} RTP/AVP 0 8 101`,
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:8 PCMA/8000',
  'a=rtpmap:101 telephone-event/8000',
  'a=fmtp:101 0-16',
  'a=ptime:20',
  'a=sendrecv',
]

/** The lines of a request as a carrier sends it. */
export function requestLines(random: Random, world: World, method: string, port: number): string[] {
  const id = random.below(2 ** 30).toString(36)
  return [
    `${method} sip:${world.sipNumber}@127.0.0.1:${world.sipPort} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${id};rport`,
    'Max-Forwards: 70',
    `From: "Ada" <sip:+14155550100@127.0.0.1>;tag=${id}`,
    `To: <sip:${world.sipNumber}@127.0.0.1>${method === 'INVITE' ? '' : `;tag=${random.below(1_000)}`}`,
    `Call-ID: ${id}@127.0.0.1`,
    `CSeq: ${1 + random.below(100)} ${method}`,
    `Contact: <sip:fuzz@127.0.0.1:${port}>`,
    'Allow: INVITE, ACK, BYE, CANCEL, OPTIONS, REFER, NOTIFY',
    'Supported: timer, 100rel, replaces',
    'Session-Expires: 1800;refresher=uac',
    'P-Asserted-Identity: <sip:+14155550100@127.0.0.1>',
    'X-Customer: 7',
    'Authorization: Digest username="a", realm="b", nonce="c", uri="sip:x", response="d", qop=auth, nc=00000001, cnonce="e"',
    ...(method === 'REFER' ? ['Refer-To: <sip:+14155550101@127.0.0.1>', 'Replaces: a;to-tag=b;from-tag=c'] : []),
  ]
}

export function withBody(lines: readonly string[], type: string, body: string): string {
  return `${[...lines, `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`
}

const METHODS = [
  'INVITE',
  'ACK',
  'BYE',
  'CANCEL',
  'OPTIONS',
  'REGISTER',
  'REFER',
  'INFO',
  'NOTIFY',
  'PRACK',
  'UPDATE',
  'MESSAGE',
]

function oneMessage(random: Random, world: World, port: number): Buffer {
  const lines = requestLines(random, world, random.pick(METHODS), port)
  if (random.chance(0.15)) lines[0] = `SIP/2.0 ${random.pick([100, 180, 183, 200, 302, 401, 407, 486, 503, 999])} X`
  const body = random.pick([
    SDP(port).join('\r\n'),
    'Signal=5\r\nDuration=160',
    'SIP/2.0 200 OK',
    '<?xml version="1.0"?><media_control/>',
  ])
  const type = random.pick([
    'application/sdp',
    'application/dtmf-relay',
    'message/sipfrag',
    'multipart/mixed;boundary=x',
  ])
  const text = `${mutatedLines(random, lines)}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const bytes = Buffer.from(text)
  return random.chance(0.4) ? mutatedBytes(random, bytes) : bytes
}

/** SIP over UDP and TCP from an address that a trunk of the attacker takes calls from. */
export const sip: Surface = {
  name: 'sip',
  open: (world, random) =>
    overUdp(world, async (send, port) => {
      for (let i = 0; i < AT_ONCE; i++) await send(oneMessage(random, world, port))
      if (random.chance(0.3)) {
        const socket = connect(world.sipPort, '127.0.0.1')
        socket.on('error', () => {})
        for (let i = 0; i < 5; i++) socket.write(oneMessage(random, world, port))
        await new Promise((resolve) => setTimeout(resolve, TCP_WAIT_MS))
        socket.destroy()
      }
    }),
}

/** Offers of media that are none, in calls to a number of the attacker's. */
export const sdp: Surface = {
  name: 'sdp',
  open: (world, random) =>
    overUdp(world, async (send, port) => {
      for (let i = 0; i < AT_ONCE; i++) {
        const lines = SDP(2_000 + random.below(60_000))
        if (random.chance(0.3)) lines.push(...cryptoLines(random))
        const body = mutatedLines(random, lines)
        await send(Buffer.from(withBody(requestLines(random, world, 'INVITE', port), 'application/sdp', body)))
      }
    }),
}

function cryptoLines(random: Random): string[] {
  return [
    'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj|2^20|1:4',
    random.pick([
      'a=crypto:'.repeat(6_000),
      'a=candidate:1 1 UDP 1 127.0.0.1 9 typ host '.repeat(500),
      'm=audio '.repeat(5_000),
    ]),
  ]
}

/** A UDP socket of a peer who answers nothing; each attempt sends through it, and it waits a little between them. */
export async function overUdp(
  _world: World,
  attempt: (send: (message: Buffer) => Promise<void>, port: number) => Promise<void>,
): Promise<Attack> {
  const socket = createSocket('udp4')
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const send = (message: Buffer) =>
    new Promise<void>((resolve) => {
      socket.send(message.subarray(0, MAX_DATAGRAM_BYTES), _world.sipPort, '127.0.0.1', () => resolve())
    })
  return {
    attempt: async () => {
      await attempt(send, socket.address().port)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    },
    close: () => void socket.close(),
  }
}
