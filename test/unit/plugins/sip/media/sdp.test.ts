import fc from 'fast-check'
import t from 'tap'
import { agree, writeAnswer, writeOffer } from '../../../../../plugins/sip/media/offer-answer.ts'
import { PayloadTypes } from '../../../../../plugins/sip/media/payload-types.ts'
import { parseSdp, SdpError } from '../../../../../plugins/sip/media/sdp.ts'

const local = { address: '192.0.2.9', port: 16384, sessionId: 7, version: 1 }
const sdp = (...lines: string[]) =>
  parseSdp(Buffer.from(['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', ...lines].join('\r\n')))
const BOTH = ['PCMU', 'PCMA'] as const

t.test("the offerer's first codec that we have is agreed on, with its telephone events", async (t) => {
  const offer = sdp(
    'c=IN IP4 192.0.2.1',
    't=0 0',
    'm=audio 4000 RTP/AVP 9 8 0 96',
    'a=rtpmap:96 telephone-event/8000',
    'm=video 4002 RTP/AVP 31',
  )
  const agreement = agree(offer, BOTH)!
  t.match(agreement, {
    address: '192.0.2.1',
    port: 4000,
    rtcpPort: 4001,
    codec: 'PCMA',
    payloadType: 8,
    eventPayloadType: 96,
    direction: 'sendrecv',
  })
  const answer = writeAnswer(offer, agreement, local)
  t.match(answer, /\r\nm=audio 16384 RTP\/AVP 8 96\r\n/)
  t.match(answer, /\r\nm=video 0 RTP\/AVP 31\r\n/)
  t.match(answer, /a=sendrecv/)
  t.match(agree(parseSdp(Buffer.from(answer)), BOTH), { codec: 'PCMA', port: 16384, eventPayloadType: 96 })
})

t.test('dynamic payload types are known by their rtpmap', async (t) => {
  const offer = sdp('c=IN IP4 192.0.2.1', 'm=audio 4000 RTP/AVP 100', 'a=rtpmap:100 pcmu/8000/1')
  t.match(agree(offer, BOTH), { codec: 'PCMU', payloadType: 100, eventPayloadType: undefined })
})

t.test('hold is answered with its mirror, the old one of zeros as well', async (t) => {
  const held = (...lines: string[]) => agree(sdp('c=IN IP4 192.0.2.1', 'm=audio 4000 RTP/AVP 0', ...lines), BOTH)
  t.equal(held('a=sendonly')?.direction, 'recvonly')
  t.equal(held('a=inactive')?.direction, 'inactive')
  t.equal(held('a=recvonly')?.direction, 'sendonly')
  t.equal(held('c=IN IP4 0.0.0.0')?.direction, 'inactive')
})

t.test('where RTCP goes is read', async (t) => {
  const at = (line: string) => agree(sdp('c=IN IP4 192.0.2.1', 'm=audio 4000 RTP/AVP 0', line), BOTH)?.rtcpPort
  t.equal(at('a=rtcp:5001 IN IP4 192.0.2.1'), 5001)
  t.equal(at('a=rtcp-mux'), 4001, 'one port for both needs our word as well')
})

t.test('nothing is agreed without audio both speak', async (t) => {
  t.equal(agree(sdp('c=IN IP4 192.0.2.1', 'm=audio 4000 RTP/AVP 3'), BOTH), undefined)
  t.equal(agree(sdp('c=IN IP4 192.0.2.1', 'm=audio 0 RTP/AVP 0'), BOTH), undefined)
  t.equal(agree(sdp('c=IN IP4 192.0.2.1', 'm=audio 4000 RTP/SAVP 0'), BOTH), undefined)
  t.equal(agree(sdp('c=IN IP4 192.0.2.1', 'm=audio 4000 RTP/AVP 8'), ['PCMU']), undefined)
  t.equal(agree(sdp('c=IN IP4 192.0.2.1'), BOTH), undefined)
})

t.test('our offer can be answered', async (t) => {
  t.match(agree(parseSdp(Buffer.from(writeOffer(local, ['PCMA', 'PCMU'], new PayloadTypes()))), BOTH), {
    address: '192.0.2.9',
    port: 16384,
    codec: 'PCMA',
    eventPayloadType: 101,
  })
})

t.test('Opus is offered and taken as RFC 7587 has it, with telephone events that count as it does', async (t) => {
  const all = ['OPUS', 'G722', 'PCMU'] as const
  const names = new PayloadTypes()
  const offer = writeOffer(local, all, names)
  t.match(offer, /m=audio 16384 RTP\/AVP 111 9 0 110 101\r\n/)
  t.match(offer, /a=rtpmap:111 opus\/48000\/2\r\na=fmtp:111 .*useinbandfec=1/)
  t.match(offer, /a=rtpmap:110 telephone-event\/48000\r\n/)
  t.match(offer, /a=rtpmap:101 telephone-event\/8000\r\n/)
  const theirs = sdp(
    ...['c=IN IP4 192.0.2.1', 'm=audio 4000 RTP/AVP 101 0 111', 'a=rtpmap:101 OPUS/48000/2'],
    ...['a=rtpmap:111 telephone-event/48000', 'a=ptime:30'],
  )
  const agreement = agree(theirs, all)!
  t.match(agreement, { codec: 'OPUS', payloadType: 101, eventPayloadType: 111, eventClockHz: 48_000 })
  t.equal(agreement.ptimeMs, 20, 'Opus has no packets of 30 ms')
  t.match(writeAnswer(theirs, agreement, local), /m=audio 16384 RTP\/AVP 101 111\r\na=rtpmap:101 opus\/48000\/2/)
  names.learn('OPUS', 101, { type: 111, clockHz: 48_000 })
  t.match(writeOffer(local, all, new PayloadTypes()), / 111 9 0 110 101/)
  const later = new PayloadTypes()
  later.learn('OPUS', 101, { type: 111, clockHz: 48_000 })
  t.match(
    writeOffer(local, all, later),
    / 101 9 0 111 96\r\n/,
    'what they named keeps its number, and no number means two things',
  )
})

t.test('phones that have Opus with telephone events of 8 kHz can press keys', async (t) => {
  const offer = sdp(
    ...['c=IN IP4 192.0.2.1', 'm=audio 4000 RTP/AVP 96 97'],
    ...['a=rtpmap:96 opus/48000/2', 'a=rtpmap:97 telephone-event/8000'],
  )
  const agreement = agree(offer, ['OPUS'])!
  t.match(agreement, { codec: 'OPUS', eventPayloadType: 97, eventClockHz: 8_000 })
  t.match(writeAnswer(offer, agreement, local), /a=rtpmap:97 telephone-event\/8000/)
})

t.test('whatever stands in a description, it is read or refused', async () => {
  const line = fc.constantFrom('c=IN IP4 ', 'm=audio ', 'a=rtpmap:', 'a=rtcp:', 'a=', 'x', 'm=', 'c=', 'v=0')
  fc.assert(
    fc.property(fc.array(fc.tuple(line, fc.string())), (lines) => {
      const text = ['v=0', ...lines.map(([start, rest]) => start + rest)].join('\r\n')
      try {
        agree(parseSdp(Buffer.from(text)), BOTH)
      } catch (error) {
        if (!(error instanceof SdpError)) throw error
      }
    }),
    { numRuns: 5_000, seed: 8866 },
  )
})

t.test('what another stack reads over is read over', async (t) => {
  const lines = ['v=0 ', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'nonsense', 'c=IN  IP4 192.0.2.1', 't=0 0']
  const offer = ['', ...lines, 'm=audio 4000 RTP/AVP 0', 'a=rtcp:x', ''].join('\r\n')
  t.match(agree(parseSdp(Buffer.from(offer)), BOTH), {
    address: '192.0.2.1',
    port: 4000,
    codec: 'PCMU',
    rtcpPort: 4001,
  })
})

t.test(
  'keys of SRTP are taken with an identifier and harmless parameters, and left out by name with others',
  async (t) => {
    const key = Buffer.alloc(30, 7).toString('base64')
    const media = (rest: string) =>
      sdp('c=IN IP4 192.0.2.1', 'm=audio 4000 RTP/SAVP 0', `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}${rest}`)
        .media[0]
    const taken = {
      '': 0,
      '|2^31|1:1': 1,
      '|2^20|1:4': 4,
      '|1:4': 4,
      ' FEC_ORDER=FEC_SRTP': 0,
      ' -FOO=1': 0,
      ' KDR=0': 0,
    }
    for (const [rest, mkiBytes] of Object.entries(taken)) t.match(media(rest)?.crypto, [{ mkiBytes }], rest)
    for (const name of ['KDR=1', 'UNENCRYPTED_SRTCP', 'FOO=1']) {
      t.match(media(` ${name}`), { crypto: [], lackingCrypto: [name.split('=')[0]] })
    }
  },
)
