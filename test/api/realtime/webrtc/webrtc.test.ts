import t from 'tap'
import { mediaWorker } from '../../../support/media-worker.ts'
import { endedCall, makeCall, startNode, startWorker, until } from '../../../support/realtime-node.ts'
import { WebRtcClient } from '../../../support/webrtc-client.ts'

/** Until sound is back after the media worker died. */
const BACK_MS = 2_000

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

  t.test('outlives its media worker', async (t) => {
    const waiting = await makeCall(node)
    const client = await WebRtcClient.open(t, node, waiting.token)
    await client.line.got('session.started')
    await client.hears()
    const killedAtMs = performance.now()
    process.kill(node.sessions.webrtc.server?.workerPid ?? 0, 'SIGKILL')
    await until(() => client.offers.length === 2)
    await client.hears()
    const backMs = Math.round(performance.now() - killedAtMs)
    t.ok(backMs < BACK_MS, `sound was back after ${backMs} ms`)
    client.takeLoudest()
    client.speak(500)
    await until(() => client.takeLoudest() > 1_000)
    client.line.send({ type: 'end' })
    t.match((await endedCall(node, waiting)).call, { status: 'completed', end_reason: 'caller_hangup' })
  })
})
