import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { startTestApi, type TestUser } from '../../support/api.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../support/phone.ts'
import { RealtimeClient, until } from '../../support/realtime-node.ts'
import { Supervisor } from '../../support/supervisor.ts'

const RATE_HZ = 24_000
const FRAME = RATE_HZ / 50
const [LOUD, VOICE] = [12_000, 7_000]

const api = await startTestApi(t)
await linkWorker(t, api)

async function talk(user: TestUser) {
  const { agentId } = await startPhone(api, user)
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
  await client.got('session.started')
  return { callId: body.call_log_id as string, client }
}

/** A second of a steady sample, as it is spoken. */
async function speak(socket: WebSocket, sample: number, frames = 25): Promise<void> {
  for (let i = 0; i < frames; i++) {
    socket.send(Buffer.from(new Int16Array(FRAME).fill(sample).buffer))
    await sleep(20)
  }
}

const eventsOf = async (user: TestUser, callId: string) =>
  (await user.client.get(`/calls/${callId}/events`, { query: { page_size: 200 } })).body.items.map(
    ({ type }: { type: string }) => type,
  )

t.test('a supervisor hears both sides, takes the call over, speaks and gives it back', async (t) => {
  const user = await api.signUp()
  const { callId, client } = await talk(user)
  const supervisor = await Supervisor.listen(user.client, callId)
  t.match(supervisor.messages.find(({ type }) => type === 'listening') ?? {}, {
    call_log_id: callId,
    audio: { encoding: 'pcm_s16le', sample_rate: RATE_HZ, channels: 2 },
  })
  // The agent of this test repeats what it hears.
  await speak(client.socket, LOUD)
  await until(() => supervisor.caller.includes(LOUD) && supervisor.agent.includes(LOUD))

  supervisor.send({ type: 'whisper', text: 'Offer a refund' })
  await supervisor.happened('whispered')
  supervisor.send({ type: 'say', text: 'One moment, please' })
  await supervisor.got('done', ({ of }) => of === 'say')
  await supervisor.happened('supervisor_said')
  supervisor.send({ type: 'transfer', to: 'sip:desk@pbx.example.com' })
  await supervisor.got('error', ({ code }) => code === 'transfer_failed')
  const heardBytes = client.audioBytes
  supervisor.send({ type: 'take_over' })
  await supervisor.got('done', ({ of }) => of === 'take_over')
  await supervisor.happened('took_over')
  await speak(client.socket, LOUD, 10)
  t.equal(client.audioBytes, heardBytes, 'the agent is heard no more')
  do await speak(supervisor.socket, VOICE)
  while (client.audioBytes < heardBytes + FRAME * 2 * 20)
  await until(() => supervisor.agent.includes(VOICE))

  const second = await Supervisor.listen(user.client, callId)
  second.send({ type: 'take_over' })
  await second.got('error', ({ code }) => code === 'taken')
  second.send({ type: 'give_back' })
  await second.got('error', ({ code }) => code === 'not_taken')
  second.send({ type: 'dance' })
  await second.got('error', ({ code }) => code === 'bad_message')

  supervisor.send({ type: 'give_back', summary: 'A refund was agreed' })
  await supervisor.happened('gave_back')
  const after = client.audioBytes
  await speak(client.socket, LOUD, 10)
  await until(
    () => client.audioBytes > after,
    () => 'the agent again',
  )
  const secondClosed = once(second.socket, 'close')
  supervisor.send({ type: 'end' })
  await client.closed()
  await supervisor.got('ended')
  await secondClosed
  // Its row is written a moment after everybody was told that it ended.
  t.match(await callWhen(user, callId, isOver), {
    end_reason: 'api_hangup',
    supervisors: [{ id: user.id, name: 'Ada Lovelace' }, {}],
  })
  await until(async () => (await eventsOf(user, callId)).includes('ended'))
  const types = await eventsOf(user, callId)
  for (const type of ['supervisor_joined', 'whispered', 'supervisor_said', 'took_over', 'gave_back'])
    t.ok(types.includes(type), type)
})

/** A supervisor has the call and this happens to them: the caller has the agent back within five seconds. Resolves with who watches. */
async function givesBackAfter(
  t: Test,
  happens: (socket: WebSocket) => void,
): Promise<{ watching: Supervisor; end(): Promise<void> }> {
  const user = await api.signUp()
  const { callId, client } = await talk(user)
  const supervisor = await Supervisor.listen(user.client, callId)
  supervisor.send({ type: 'take_over' })
  await supervisor.happened('took_over')
  const watching = await Supervisor.listen(user.client, callId)
  const startedMs = performance.now()
  happens(supervisor.socket)
  await watching.happened('gave_back')
  const tookMs = performance.now() - startedMs
  t.ok(tookMs < 5_000, `${tookMs} ms`)
  const end = async () => {
    client.send({ type: 'end' })
    await client.closed()
  }
  return { watching, end }
}

t.test('a supervisor who vanishes gives the call back within five seconds', async (t) => {
  // No close frame: the process is gone, or its network.
  const { watching, end } = await givesBackAfter(t, (socket) => socket.terminate())
  await watching.happened('left')
  watching.socket.close()
  await end()
})

t.test('a supervisor whose network falls silent gives the call back within five seconds', async (t) => {
  // The connection stays open, and nothing is read from it or answered any more.
  const { watching, end } = await givesBackAfter(t, (socket) => void socket.pause())
  await sleep(5_000)
  t.equal(watching.socket.readyState, WebSocket.OPEN, 'one who only listens says nothing, and stays')
  await end()
})

t.test('only who may listens, with a token that is used once', async (t) => {
  const user = await api.signUp()
  const { callId, client } = await talk(user)
  const member = await api.member(user, 'member')
  t.equal((await member.client.post(`/calls/${callId}/listen`)).status, 403)
  const other = await api.signUp()
  t.equal((await other.client.post(`/calls/${callId}/listen`)).status, 404)
  const { body } = await user.client.post(`/calls/${callId}/listen`)
  t.equal(body.url, `${api.url.replace(/^http/, 'ws')}/listen?token=${body.token}`)
  const first = new Supervisor(body.url)
  await first.got('listening')
  const second = new Supervisor(body.url)
  const [, response] = (await once(second.socket, 'unexpected-response')) as [unknown, { statusCode: number }]
  t.equal(response.statusCode, 401)
  client.send({ type: 'end' })
  await client.closed()
  await until(async () => (await user.client.get(`/calls/${callId}`)).body.ended_at !== null)
  t.match(await user.client.post(`/calls/${callId}/listen`), { status: 409, body: { detail: 'Call is over' } })
})
