import t from 'tap'
import type { SipRequest } from '../../../../../plugins/sip/message/message.ts'
import { waitUntil } from '../../../../support/world/wait-until.ts'
import {
  accepted,
  answerText,
  type Peer,
  startCaller,
  startCarrier,
  startPeer,
  takeCalls,
  trunkOf,
} from '../support/carrier.ts'

/** What peers say that is allowed, or that they should not say and do: each call is taken or ends in words of its own, and none hangs. */

const ANSWER = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 9 RTP/AVP 0', '']
const SDP = ANSWER.join('\r\n')
/** Of INVITEs of one call, however often the peer wants another. */
const MOST_ASKED = 8

interface Situation {
  /** What the peer sends after our INVITE number `count`. */
  says(invite: SipRequest, count: number, port: number): string | readonly string[]
  /** `taken`, or how the call fails. */
  is: string
  /** In the operator's sentence. */
  detail?: RegExp
}

const answer = (invite: SipRequest, status: number, headers: readonly string[], body: string, port: number): string =>
  answerText(invite, { status, headers, body }, port)
const ok = (invite: SipRequest, port: number, body = SDP): string => answer(invite, 200, [], body, port)

const OUTBOUND: Readonly<Record<string, Situation>> = {
  'a type of the body with a parameter and capitals': {
    says: (invite, _, port) => ok(invite, port).replace('application/sdp', 'Application/SDP; charset=utf-8'),
    is: 'taken',
  },
  'names of headers in their short forms': {
    says: (invite, _, port) =>
      ok(invite, port)
        .replace('Content-Type:', 'c:')
        .replace('Contact:', 'm:')
        .replace('call-id:', 'i:')
        .replace('Content-Length:', 'l:'),
    is: 'taken',
  },
  'lines of a description that end without carriage returns': {
    says: (invite, _, port) => ok(invite, port, ANSWER.join('\n')),
    is: 'taken',
  },
  'codec names in small letters': {
    says: (invite, _, port) => ok(invite, port, SDP.replace('RTP/AVP 0', 'RTP/AVP 0\r\na=rtpmap:0 pcmu/8000')),
    is: 'taken',
  },
  'a header that goes on in the next line': {
    says: (invite, _, port) => ok(invite, port).replace('Contact: <', 'Contact:\r\n <'),
    is: 'taken',
  },
  'an answer among parts of a body': {
    says: (invite, _, port) => {
      const parts = [
        '--b',
        'Content-Type: application/isup;version=itu-t92+',
        'Content-Disposition: signal;handling=optional',
        '',
        'x',
      ]
      const body = [...parts, '--b', 'Content-Type: application/sdp', '', SDP, '--b--', ''].join('\r\n')
      return ok(invite, port, body).replace('application/sdp', 'multipart/mixed;boundary=b')
    },
    is: 'taken',
  },
  'a dialog that is over before another one answers (199)': {
    says: (invite, _, port) => [answer(invite, 180, [], '', port), answer(invite, 199, [], '', port), ok(invite, port)],
    is: 'taken',
  },
  'an answer without a Contact': {
    says: (invite, _, port) => ok(invite, port).replace(/Contact: [^\r]*\r\n/, ''),
    is: 'taken',
  },
  'a session interval under the least': {
    says: (invite, _, port) => answer(invite, 200, ['Session-Expires: 30;refresher=uac', 'Require: timer'], SDP, port),
    is: 'taken',
  },
  'no reason phrase and no blank': {
    says: (invite, _, port) => answer(invite, 486, [], '', port).replace('486 x', '486'),
    is: 'busy',
  },
  'a reason phrase in UTF-8': {
    says: (invite, _, port) => answer(invite, 404, [], '', port).replace('404 x', '404 Número no existe ☎'),
    is: 'invalid_number',
  },
  'an audio line that is refused in a 200': {
    says: (invite, _, port) => ok(invite, port, SDP.replace('m=audio 9', 'm=audio 0')),
    is: 'carrier',
    detail: /488|No audio in common/,
  },
  'a redirection to nowhere': {
    says: (invite, _, port) => answer(invite, 302, ['Contact: *'], '', port),
    is: 'carrier',
  },
  'a redirection to a telephone number that may not be called': {
    says: (invite, _, port) => answer(invite, 302, ['Contact: <tel:+19005551234>'], '', port),
    is: 'carrier',
    detail: /302/,
  },
  'challenges without end': {
    says: (invite, count, port) =>
      answer(invite, 407, [`Proxy-Authenticate: Digest realm="r", nonce="${count}", stale=true`], '', port),
    is: 'carrier',
    detail: /407/,
  },
  'an interval that is too small, again and again': {
    says: (invite, count, port) => answer(invite, 422, [`Min-SE: ${100 + count}`], '', port),
    is: 'carrier',
    detail: /422/,
  },
  'a status that nobody knows': { says: (invite, _, port) => answer(invite, 699, [], '', port), is: 'carrier' },
}

for (const [name, { says, is, detail }] of Object.entries(OUTBOUND)) {
  t.test(`a callee's side with ${name}: ${is}`, async (t) => {
    let count = 0
    const peer: Peer = await startPeer(t, (request) => {
      if (request.method !== 'INVITE') return accepted({ ...request, method: request.method })
      for (const text of [says(request, ++count, peer.port)].flat()) peer.send(text)
      return undefined
    })
    const account = { username: 'user', password: 'secret' }
    const { dial } = await startCarrier(t, [trunkOf({ name: 'peer', host: `127.0.0.1:${peer.port}`, ...account })])
    const placed = await dial('peer')
    t.equal(placed.leg === undefined ? placed.failure : 'taken', is, placed.detail ?? '')
    if (detail !== undefined) t.match(placed.detail, detail)
    t.ok(count <= MOST_ASKED, `asked ${count} times`)
    placed.leg?.close('done')
  })
}

t.test('callers with headers that are allowed, or odd, are taken', async (t) => {
  const { carrier, port } = await startCarrier(t, [trunkOf({ name: 'peer', host: '127.0.0.1:9' })])
  await takeCalls(carrier)
  const caller = await startCaller(t, port)
  const cases: [string, string[], number][] = [
    ['an extension of SIP that is only wished for', ['Supported: foo, bar', 'Proxy-Require:'], 200],
    ['a priority, an organisation and a subject', ['Priority: urgent', 'Organization: Acme', 'Subject: ☎'], 200],
    [
      'a caller whose name has quotes and commas',
      ['From: "Lovelace, \\"Ada\\"" <sip:+14155550142@127.0.0.1>;tag=q'],
      200,
    ],
    ['an Accept of descriptions alone', ['Accept: application/sdp'], 200],
    ['a date long past', ['Expires: 0'], 200],
    ['an extension of SIP that it demands', ['Require: foo'], 420],
  ]
  for (const [name, lines, status] of cases)
    t.equal((await caller.call('+14155550100', lines, SDP)).status, status, name)
})

t.test('an answer that crosses our CANCEL gives the room of its call back at once', async (t) => {
  const peer: Peer = await startPeer(t, (request) => {
    if (request.method === 'INVITE') return { status: 180 }
    const invite = peer.requests.find(({ method }) => method === 'INVITE')
    if (request.method === 'CANCEL' && invite !== undefined) peer.send(answer(invite, 200, [], SDP, peer.port))
    return { status: 200 }
  })
  const { carrier } = await startCarrier(t, [trunkOf({ name: 'peer', host: `127.0.0.1:${peer.port}` })])
  const { promise: rings, resolve } = Promise.withResolvers<void>()
  const ignore = (): void => undefined
  await carrier.dial(
    {
      callId: 'crossed',
      workspaceId: 'w',
      trunk: 'peer',
      from: '+14155550100',
      to: '+14155550177',
      ringTimeoutMs: 20_000,
    },
    { ringing: resolve, answered: ignore, failed: ignore },
    AbortSignal.timeout(30_000),
  )
  await rings
  t.equal(carrier.trunkState('peer')?.activeCalls, 1)
  await carrier.hangup('crossed')
  await peer.saw('BYE')
  await waitUntil(
    () => carrier.trunkState('peer')?.activeCalls === 0,
    () => 'the trunk’s room',
    { timeoutMs: 10_000 },
  )
})
