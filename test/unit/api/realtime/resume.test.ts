import t from 'tap'
import {
  endedCall,
  makeCall,
  RealtimeClient,
  SAMPLE_RATE_HZ,
  startNode,
  startWorker,
  until,
  upgradeStatus,
} from '../../../support/instance/realtime-node.ts'

const FRAME_BYTES = (SAMPLE_RATE_HZ / 50) * 2

t.test('a session whose client asked for it outlives its connection', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])
  const open = async () => {
    const waiting = await makeCall(node)
    const client = new RealtimeClient(node, waiting.token, '&media=websocket')
    t.teardown(() => client.socket.terminate())
    const { media, resume_token: token } = await client.got('session.started')
    t.equal(media, 'websocket')
    return { waiting, client, token: token as string }
  }
  const resume = (token: string) => {
    const client = new RealtimeClient(node, '', `&resume=${token}`)
    t.teardown(() => client.socket.terminate())
    return client
  }

  t.test('and goes on over the next one, with what was said meanwhile', async (t) => {
    const { waiting, client, token } = await open()
    await client.got('agent.state', { state: 'listening' })
    client.send({ type: 'text', text: 'recite' })
    client.socket.terminate()
    await client.closed()
    const second = resume(token)
    const { resume_token: next } = await second.got('session.resumed')
    t.equal(second.messages[0]?.type, 'session.resumed', 'nothing comes before it')
    t.not(next, token)
    second.send({ type: 'text', text: 'how are you' })
    await second.got('transcript', { role: 'assistant', text: '2: how are you' })
    for (let i = 0; i < 5; i++) second.socket.send(Buffer.alloc(FRAME_BYTES, i))
    await until(() => second.audioBytes >= 5 * FRAME_BYTES)
    t.equal(await upgradeStatus(node, `/realtime?resume=${token}`), 401, 'the used token opens nothing')
    t.equal(await upgradeStatus(node, '/realtime?resume=rubbish'), 401)

    const third = resume(next as string)
    await third.got('session.resumed')
    t.equal(await second.closed(), 4001, 'an earlier connection is closed for a later one')
    third.send({ type: 'ping' })
    await third.got('pong')
    third.send({ type: 'end' })
    t.match(await third.got('session.ended'), { reason: 'caller_hangup' })
    const { call } = await endedCall(node, waiting)
    t.match(call, { status: 'completed', end_reason: 'caller_hangup' })
    t.equal((await node.redis.keys('patchbay:resume:*')).length, 0, 'no token is left')
  })

  t.test('but ends at once when the client leaves', async (t) => {
    const { waiting, client, token } = await open()
    client.socket.close(1001)
    const { call } = await endedCall(node, waiting)
    t.match(call, { end_reason: 'caller_hangup' })
    t.equal(await upgradeStatus(node, `/realtime?resume=${token}`), 401)
  })

  t.test('and on another node the client is told where to go', async (t) => {
    const { databaseUrl, redisUrl } = node
    const other = await startNode(t, { databaseUrl, redisUrl })
    const { client, token } = await open()
    client.socket.terminate()
    await client.closed()
    const lost = new RealtimeClient(other, '', `&resume=${token}`)
    const { url } = await lost.got('session.moved')
    t.equal(url, `${node.url}/realtime?resume=${token}`)
    t.equal(await lost.closed(), 1000)
    await resume(token).got('session.resumed')
  })

  t.test('without asking it ends with its connection, and media of another kind are refused', async (t) => {
    const waiting = await makeCall(node)
    const client = new RealtimeClient(node, waiting.token)
    t.notOk('resume_token' in (await client.got('session.started')))
    client.socket.terminate()
    t.match((await endedCall(node, waiting)).call, { end_reason: 'connection_lost' })
    const { token } = await makeCall(node)
    t.equal(await upgradeStatus(node, `/realtime?token=${token}&media=pigeon`), 400)
    const still = new RealtimeClient(node, token)
    await still.got('session.started')
    still.send({ type: 'end' })
  })
})
