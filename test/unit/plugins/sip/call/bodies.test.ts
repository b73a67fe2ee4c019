import t from 'tap'
import { parseSdp } from '../../../../../plugins/sip/media/sdp.ts'
import { headerOf } from '../../../../../plugins/sip/message/message.ts'
import { startCaller, startCarrier, takeCalls, trunkOf } from '../../../../system/plugins/sip/support/carrier.ts'

/** What INVITEs carry besides a plain description: on real sockets. */

const SDP = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 9 RTP/AVP 0', ''].join(
  '\r\n',
)
const ISUP = Buffer.from([0x01, 0x00, 0x0d, 0x0a, 0x48, 0xff])

function mixed(handling: string): { lines: string[]; body: Buffer } {
  const body = Buffer.concat([
    Buffer.from('--x 1\r\nContent-Type: application/ISUP;version=itu-t92+\r\n'),
    Buffer.from(`Content-Disposition: signal;handling=${handling}\r\n\r\n`),
    ISUP,
    Buffer.from(`\r\n--x 1\r\nContent-Type: application/sdp\r\n\r\n${SDP}\r\n--x 1--\r\n`),
  ])
  return { lines: ['Content-Type: multipart/mixed;boundary="x 1"'], body }
}

t.test('an offer among other parts is found; a part that must be understood is refused', async (t) => {
  const { carrier, port } = await startCarrier(t, [trunkOf({ name: 'main', host: '127.0.0.1:9' })])
  await takeCalls(carrier)
  const caller = await startCaller(t, port)
  const optional = mixed('optional')
  const taken = await caller.call('+14155550100', optional.lines, optional.body)
  t.equal(taken.status, 200)
  t.equal(parseSdp(taken.body).media[0]?.formats[0], '0')
  const required = mixed('required')
  const refused = await caller.call('+14155550100', required.lines, required.body)
  t.equal(refused.status, 415)
  t.match(headerOf(refused, 'accept'), /application\/sdp, multipart\/mixed/)
  const broken = await caller.call('+14155550100', ['Content-Type: multipart/mixed'], 'no parts')
  t.equal(broken.status, 415)
})

t.test('media at a host that is named, not numbered, are sought where the signalling comes from', async (t) => {
  const { carrier, port } = await startCarrier(t, [trunkOf({ name: 'main', host: '127.0.0.1:9' })])
  await takeCalls(carrier)
  const caller = await startCaller(t, port)
  const { status } = await caller.call(
    '+14155550100',
    [],
    SDP.replace('c=IN IP4 127.0.0.1', 'c=IN IP4 media.example.com'),
  )
  t.equal(status, 200)
  const bad = await caller.call('+14155550100', [], SDP.replace('c=IN IP4 127.0.0.1', 'c=IN IP4 1.2.3.4.5'))
  t.equal(bad.status, 488)
  t.match(headerOf(bad, 'warning'), /^305 patchbay ".*1\.2\.3\.4\.5/)
})

t.test('an offer of which we have nothing is refused with the codecs we have', async (t) => {
  const { carrier, port } = await startCarrier(t, [trunkOf({ name: 'main', host: '127.0.0.1:9' })])
  await takeCalls(carrier)
  const caller = await startCaller(t, port)
  const { status, headers } = await caller.call('+14155550100', [], SDP.replace('RTP/AVP 0', 'RTP/AVP 18'))
  t.equal(status, 488)
  t.match(headerOf({ headers }, 'warning'), /No audio in common; we have PCMU, PCMA/)
})
