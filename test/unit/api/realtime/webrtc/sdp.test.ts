import fc from 'fast-check'
import t from 'tap'
import { MAX_SDP_CHARACTERS, offerOf, readAnswer } from '../../../../../api/realtime/webrtc/sdp.ts'

const FINGERPRINT = Array.from({ length: 32 }, (_, i) => i.toString(16).padStart(2, '0').toUpperCase()).join(':')
const ANSWER = [
  'v=0',
  'o=- 1 1 IN IP4 0.0.0.0',
  's=-',
  't=0 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'a=mid:0',
  'a=sendrecv',
  'a=rtpmap:111 opus/48000/2',
  `a=fingerprint:sha-256 ${FINGERPRINT}`,
  'a=setup:active',
  'a=ssrc:1234 cname:ada',
  '',
]
const answer = (lines: readonly string[] = ANSWER) => lines.join('\r\n')
const without = (start: string) => answer(ANSWER.filter((line) => !line.startsWith(start)))
const replaced = (start: string, by: string) => answer(ANSWER.map((line) => (line.startsWith(start) ? by : line)))

t.test('of an answer just what matters is read', async (t) => {
  t.same(readAnswer(answer()), {
    fingerprint: { algorithm: 'sha-256', value: FINGERPRINT },
    role: 'client',
    ssrc: 1234,
    cname: 'ada',
  })
  t.match(readAnswer(replaced('a=setup', 'a=setup:passive')), { role: 'server' })
  t.match(readAnswer(replaced('a=sendrecv', 'a=recvonly')), { ssrc: undefined }, 'who only listens has no voice')
})

t.test('what is no answer to the offer is told from one', async (t) => {
  for (const [what, sdp] of [
    ['no fingerprint', without('a=fingerprint')],
    ['no audio', without('m=audio')],
    ['audio refused', replaced('m=audio', 'm=audio 0 UDP/TLS/RTP/SAVPF 111')],
    ['another codec', replaced('m=audio', 'm=audio 9 UDP/TLS/RTP/SAVPF 0 8')],
    ['no role', without('a=setup')],
    ['an offer', replaced('a=setup', 'a=setup:actpass')],
    ['a voice without a number', without('a=ssrc')],
    ['a number too great', replaced('a=ssrc', 'a=ssrc:9999999999 cname:ada')],
    ['too long', answer([...ANSWER, `a=x:${'x'.repeat(MAX_SDP_CHARACTERS)}`])],
    ['nothing', ''],
  ] as const) {
    t.equal(readAnswer(sdp), undefined, what)
  }
  fc.assert(
    fc.property(fc.string({ maxLength: 2_000 }), (rubbish) => {
      readAnswer(rubbish)
      return readAnswer(`${rubbish}\r\n${answer()}`) !== null
    }),
  )
})

t.test('an offer names one line of Opus, both ways, and the ways to it', async (t) => {
  const sdp = offerOf({
    sessionId: '77',
    version: 2,
    ice: { usernameFragment: 'frag', password: 'pass' },
    candidates: [
      { foundation: 'udp', priority: 5, address: '192.0.2.1', protocol: 'udp', port: 10080 },
      { foundation: 'tcp', priority: 4, address: '192.0.2.1', protocol: 'tcp', port: 10080, tcpType: 'passive' },
    ],
    fingerprint: FINGERPRINT,
    ssrc: 9,
    cname: 'agent',
  })
  for (const line of [
    'o=- 77 2 IN IP4 0.0.0.0',
    'a=rtpmap:111 opus/48000/2',
    'a=sendrecv',
    'a=ice-ufrag:frag',
    'a=candidate:udp 1 udp 5 192.0.2.1 10080 typ host',
    'a=candidate:tcp 1 tcp 4 192.0.2.1 10080 typ host tcptype passive',
  ]) {
    t.ok(sdp.split('\r\n').includes(line), line)
  }
})
