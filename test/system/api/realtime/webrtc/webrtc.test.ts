import t from 'tap'
import { offerBy } from '../../../../support/browser/offer-by.ts'
import { WebRtcClient } from '../../../../support/browser/webrtc-client.ts'
import { mediaWorker } from '../../../../support/instance/media-worker.ts'
import { endedCall, makeCall, startNode, startWorker, until } from '../../../../support/instance/realtime-node.ts'
import { startUdpRelay, type Way } from '../../../../support/phone/udp-relay.ts'
import { ownTime } from '../../../../support/world/own-time.ts'

/** Until sound is back after the media worker died. */
const BACK_MS = 2_000

const HANDSHAKE = 22
const RECORD_HEAD_BYTES = 13

/** Whether a datagram holds the end of a DTLS handshake, which is encrypted: RFC 6347 section 4.1. */
function endsHandshake(packet: Uint8Array): boolean {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength)
  for (let at = 0; at + RECORD_HEAD_BYTES <= packet.length; at += RECORD_HEAD_BYTES + view.getUint16(at + 11)) {
    if (view.getUint8(at) === HANDSHAKE && view.getUint16(at + 3) > 0) return true
  }
  return false
}

const { path: webrtcWorker, skip } = await mediaWorker()

t.test('a session over WebRTC', { skip }, async (t) => {
  const node = await startNode(t, { webrtcWorker })
  await startWorker(t, [node])
  await until(() => node.sessions.webrtc.terms !== null)
  t.same(node.sessions.webrtc.terms, { transports: ['udp', 'tcp'], ice_servers: [] })

  t.test('hears its caller and is heard', async (t) => {
    const waiting = await makeCall(node)
    const client = await WebRtcClient.open(t, node, waiting.token)
    t.match(await client.line.got('session.started'), {
      call_log_id: waiting.callId,
      media: 'webrtc',
      audio: { encoding: 'opus', sample_rate: 48_000 },
    })
    await client.hears()
    client.speak(500)
    await until(() => client.takeLoudest() > 1_000)
    client.line.send({ type: 'text', text: 'how are you' })
    client.line.send({ type: 'end' })
    const { call } = await endedCall(node, waiting)
    t.match(call, { status: 'completed', end_reason: 'caller_hangup', quality: { codec: 'opus' } })
    await until(() => node.sessions.webrtc.sessions === 0)
  })

  t.test('does not begin before its client can hear it, though the server is done with the handshake', async (t) => {
    let lost = 0
    const passes = (packet: Uint8Array, way: Way) => {
      if (way === 'there' || lost > 0 || !endsHandshake(packet)) return true
      lost++
      return false
    }
    const client = await WebRtcClient.open(t, node, (await makeCall(node)).token, async (offer) => {
      const [, port] = / udp \d+ 127\.0\.0\.1 (\d+) /.exec(offer) ?? []
      return offerBy(offer, (await startUdpRelay(t, Number(port), passes)).port)
    })
    await client.line.got('session.started')
    t.equal(lost, 1, 'the last of the handshake is lost once')
    t.equal(client.peer.state, 'connected')
    await client.hears()
    client.line.send({ type: 'end' })
    await client.line.closed()
  })

  t.test('begins for a client that only listens and says nothing of its connection', async (t) => {
    const { token } = await makeCall(node)
    const client = await WebRtcClient.open(t, node, token, undefined, true)
    await client.line.got('session.started')
    await client.hears()
    client.line.send({ type: 'end' })
    await client.line.closed()
  })

  t.test('outlives its media worker', async (t) => {
    const waiting = await makeCall(node)
    const client = await WebRtcClient.open(t, node, waiting.token)
    await client.line.got('session.started')
    await client.hears()
    const tookMs = ownTime(t)
    process.kill(node.sessions.webrtc.server?.workerPid ?? 0, 'SIGKILL')
    await until(() => client.offers.length === 2)
    await client.hears()
    t.ok(tookMs() < BACK_MS, `sound was back after ${tookMs()} ms`)
    client.takeLoudest()
    client.speak(500)
    await until(() => client.takeLoudest() > 1_000)
    client.line.send({ type: 'end' })
    t.match((await endedCall(node, waiting)).call, { status: 'completed', end_reason: 'caller_hangup' })
  })
})
