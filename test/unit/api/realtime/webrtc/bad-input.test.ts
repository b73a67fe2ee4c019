import dgram from 'node:dgram'
import t from 'tap'
import { WebRtcClient } from '../../../../support/browser/webrtc-client.ts'
import { mediaWorker } from '../../../../support/instance/media-worker.ts'
import {
  endedCall,
  makeCall,
  moreCalls,
  RealtimeClient,
  startNode,
  startWorker,
  until,
  upgradeStatus,
} from '../../../../support/instance/realtime-node.ts'

/** Web sessions of a workspace at once. */
const MOST_SESSIONS = 20
const AT_ONCE = 20

const { path: webrtcWorker, skip } = await mediaWorker()

t.test('who misuses WebRTC gets a clear error, and others do not notice', { skip }, async (t) => {
  const node = await startNode(t, { webrtcWorker, webSessionsPerWorkspace: MOST_SESSIONS })
  await startWorker(t, [node])
  await until(() => node.sessions.webrtc.terms !== null)
  const quiet = await WebRtcClient.open(t, node, (await makeCall(node)).token)
  await quiet.line.got('session.started')

  await t.test('answers that are none, and answers to nothing', async (t) => {
    const waiting = await makeCall(node)
    const line = new RealtimeClient(node, waiting.token, '&media=webrtc')
    t.teardown(() => line.socket.terminate())
    await line.got('webrtc.offer')
    line.send({ type: 'webrtc.answer', sdp: 'rubbish' })
    await line.got('error', { code: 'invalid_answer' })
    line.send({ type: 'webrtc.answer', sdp: 'x'.repeat(100_000) })
    await line.got('error', { code: 'invalid_message' })
    line.socket.send(Buffer.alloc(100))
    await line.got('error', { code: 'unexpected_audio' })
    line.socket.send(JSON.stringify({ type: 'webrtc.answer', sdp: 'x'.repeat(2 << 20) }))
    await line.closed()
    const { call } = await endedCall(node, waiting)
    t.match(call, { status: 'failed', end_reason: 'connection_failed' })
  })

  await t.test('an offer that is never answered is given up, and takes no seat meanwhile', async (t) => {
    const waiting = await makeCall(node)
    const line = new RealtimeClient(node, waiting.token, '&media=webrtc')
    t.teardown(() => line.socket.terminate())
    t.match(await line.got('session.ended'), { reason: 'connection_failed' })
    const { call } = await endedCall(node, waiting)
    t.match(call, { status: 'failed', end_reason: 'connection_failed' })
  })

  await t.test('restarts in a storm', async (t) => {
    const client = await WebRtcClient.open(t, node, (await makeCall(node)).token)
    await client.line.got('session.started')
    for (let i = 0; i < 50; i++) client.line.send({ type: 'webrtc.restart' })
    await client.line.got('error', { code: 'too_many_restarts' })
    await until(() => client.offers.length === 2)
    await client.hears()
    t.equal(client.offers.length, 2)
    client.line.send({ type: 'end' })
    await client.line.closed()
  })

  await t.test('packets of other types, too long ones and ten thousand a second', async (t) => {
    const waiting = await makeCall(node)
    const client = await WebRtcClient.open(t, node, waiting.token)
    await client.line.got('session.started')
    client.peer.sendRaw({ payload: Buffer.alloc(100), payloadType: 96 })
    client.peer.sendRaw({ payload: Buffer.alloc(1_300) })
    client.peer.sendRaw({ payload: Buffer.alloc(2_048) })
    client.peer.sendRaw({ payload: new Uint8Array(0) })
    const stranger = dgram.createSocket('udp4')
    t.teardown(() => stranger.close())
    const [, port] = / udp \d+ 127\.0\.0\.1 (\d+) /.exec(client.offers[0] ?? '') ?? []
    for (const bytes of [0, 2_048, 60_000]) {
      await new Promise((resolve) => stranger.send(Buffer.alloc(bytes, 0x80), Number(port), '127.0.0.1', resolve))
    }
    await client.hears()
    const flood = setInterval(() => {
      for (let i = 0; i < 100; i++) client.peer.send(Uint8Array.of(0xf8, 0xff, 0xfe))
    }, 10)
    t.teardown(() => clearInterval(flood))
    t.match(await client.line.got('session.ended'), { reason: 'policy_violation' })
    clearInterval(flood)
    t.match((await endedCall(node, waiting)).call, { end_reason: 'policy_violation' })
  })

  await t.test('a token used twice, of no call, or of none at all', async (t) => {
    const waiting = await makeCall(node)
    const client = await WebRtcClient.open(t, node, waiting.token)
    const { resume_token: token } = await client.line.got('session.started')
    t.equal(await upgradeStatus(node, `/realtime?token=${waiting.token}&media=webrtc`), 401)
    t.equal(await upgradeStatus(node, '/realtime?token=x&media=webrtc'), 401)
    t.equal(await upgradeStatus(node, '/realtime?resume=x'), 401)
    const { token: other } = await makeCall(node)
    t.equal(await upgradeStatus(node, `/realtime?resume=${other}`), 401, 'nor does what opens another call resume one')
    t.equal(
      await upgradeStatus(node, `/realtime?token=${token}&media=webrtc`),
      401,
      'or what resumes this one open one',
    )
    t.equal(await upgradeStatus(node, '/realtime?token=x&media=smoke'), 400)
    const second = new RealtimeClient(node, '', `&resume=${token}`)
    t.teardown(() => second.socket.terminate())
    await second.got('session.resumed')
    t.equal(await upgradeStatus(node, `/realtime?resume=${token}`), 401, 'a resume token is good once')
    client.over(second)
    await second.got('webrtc.offer')
    await client.hears()
    second.send({ type: 'end' })
    await second.got('session.ended', { reason: 'caller_hangup' })
  })

  await t.test('a page that opens a thousand sessions gets as many as its workspace may have', async (t) => {
    const like = await makeCall(node)
    const lines: RealtimeClient[] = []
    t.teardown(() => {
      for (const { socket } of lines) socket.terminate()
    })
    while (lines.length < 1_000) {
      const tokens = await moreCalls(node, like, AT_ONCE)
      lines.push(...tokens.map((token) => new RealtimeClient(node, token, '&media=webrtc')))
      await until(() => lines.every(({ messages }) => messages.length > 0))
    }
    const refused = lines.filter(({ messages: [first] }) => first?.type === 'session.ended')
    t.ok(refused.every(({ messages: [first] }) => first?.reason === 'no_capacity'))
    const served = lines.filter(({ messages: [first] }) => first?.type === 'webrtc.offer')
    t.equal(served.length + refused.length, lines.length, 'each is told what becomes of it')
    // An offer that nobody answers gives its place back, to a later one of them.
    t.ok(served.length >= MOST_SESSIONS && served.length < lines.length / 2, `${served.length} offers`)
    t.ok(node.sessions.webrtc.sessions <= MOST_SESSIONS + 1, 'and the other caller’s')
    await quiet.hears()
    for (const { socket } of lines) socket.close(1000)
    await until(
      () => node.sessions.webrtc.sessions === 1,
      () => `${node.sessions.webrtc.sessions} legs are left`,
    )
  })

  await quiet.hears()
  quiet.line.send({ type: 'end' })
  await quiet.line.closed()
  await until(
    () => node.sessions.webrtc.sessions === 0,
    () => `${node.sessions.webrtc.sessions} legs are left`,
  )
})

t.test('without WebRTC nobody gets it', async (t) => {
  const node = await startNode(t)
  const { token } = await makeCall(node)
  t.equal(node.sessions.webrtc.terms, null)
  t.equal(await upgradeStatus(node, `/realtime?token=${token}&media=webrtc`), 503)
  t.equal(await upgradeStatus(node, `/realtime?token=${token}&media=websocket`), 101, 'and its token is still good')
})
