import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import WebSocket from 'ws'
import { startTestApi, type TestUser } from '../../support/api.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../support/phone.ts'
import { RealtimeClient, until } from '../../support/realtime-node.ts'

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

class Supervisor {
  readonly socket: WebSocket
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  readonly messages: any[] = []
  readonly left: number[] = []
  readonly right: number[] = []

  constructor(token: string) {
    this.socket = new WebSocket(`${api.url.replace(/^http/, 'ws')}/listen?token=${token}`)
    this.socket.on('error', () => undefined)
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return void this.messages.push(JSON.parse(data.toString()))
      const bytes = Buffer.from(data)
      for (let at = 0; at + 3 < bytes.length; at += 4) {
        this.left.push(bytes.readInt16LE(at))
        this.right.push(bytes.readInt16LE(at + 2))
      }
    })
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message))
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  got(type: string, wanted: (message: any) => boolean = () => true): Promise<void> {
    return until(
      () => this.messages.some((message) => message.type === type && wanted(message)),
      () => `${type}; came ${JSON.stringify(this.messages)}`,
    )
  }

  /** An event of the call. */
  happened(type: string): Promise<void> {
    return this.got('event', ({ event }) => event.type === type)
  }
}

async function listenTo(user: TestUser, callId: string): Promise<Supervisor> {
  const { status, body } = await user.client.post(`/calls/${callId}/listen`)
  if (status !== 201) throw new Error(JSON.stringify(body))
  const supervisor = new Supervisor(body.token)
  await supervisor.got('listening')
  return supervisor
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
  const supervisor = await listenTo(user, callId)
  t.match(supervisor.messages[0], {
    call_log_id: callId,
    audio: { encoding: 'pcm_s16le', sample_rate: RATE_HZ, channels: 2 },
  })
  // The agent of this test repeats what it hears.
  await speak(client.socket, LOUD)
  await until(() => supervisor.left.includes(LOUD) && supervisor.right.includes(LOUD))

  supervisor.send({ type: 'whisper', text: 'Offer a refund' })
  await supervisor.happened('whispered')
  const heardBytes = client.audioBytes
  supervisor.send({ type: 'take_over' })
  await supervisor.got('done', ({ of }) => of === 'take_over')
  await supervisor.happened('took_over')
  await speak(client.socket, LOUD, 10)
  t.equal(client.audioBytes, heardBytes, 'the agent is heard no more')
  do await speak(supervisor.socket, VOICE)
  while (client.audioBytes < heardBytes + FRAME * 2 * 20)
  await until(() => supervisor.right.includes(VOICE))

  const second = await listenTo(user, callId)
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
  supervisor.send({ type: 'end' })
  await client.closed()
  await supervisor.got('ended')
  await once(second.socket, 'close')
  // Its row is written a moment after everybody was told that it ended.
  t.match(await callWhen(user, callId, isOver), {
    end_reason: 'api_hangup',
    supervisors: [{ id: user.id, name: 'Ada Lovelace' }, {}],
  })
  await until(async () => (await eventsOf(user, callId)).includes('ended'))
  const types = await eventsOf(user, callId)
  for (const type of ['supervisor_joined', 'whispered', 'took_over', 'gave_back']) t.ok(types.includes(type), type)
})

t.test('a supervisor who vanishes gives the call back within five seconds', async (t) => {
  const user = await api.signUp()
  const { callId, client } = await talk(user)
  const supervisor = await listenTo(user, callId)
  supervisor.send({ type: 'take_over' })
  await supervisor.happened('took_over')
  const watching = await listenTo(user, callId)
  const startedMs = performance.now()
  // No close frame: the process is gone, or its network.
  supervisor.socket.terminate()
  await watching.happened('gave_back')
  t.ok(performance.now() - startedMs < 5_000)
  await watching.happened('left')
  watching.socket.close()
  client.send({ type: 'end' })
  await client.closed()
})

t.test('a supervisor whose network falls silent gives the call back within five seconds', async (t) => {
  const user = await api.signUp()
  const { callId, client } = await talk(user)
  const supervisor = await listenTo(user, callId)
  supervisor.send({ type: 'take_over' })
  await supervisor.happened('took_over')
  const watching = await listenTo(user, callId)
  const startedMs = performance.now()
  // The connection stays open, and nothing is read from it or answered any more.
  supervisor.socket.pause()
  await watching.happened('gave_back')
  t.ok(performance.now() - startedMs < 5_000, `${performance.now() - startedMs} ms`)
  await sleep(5_000)
  t.equal(watching.socket.readyState, WebSocket.OPEN, 'one who only listens says nothing, and stays')
  client.send({ type: 'end' })
  await client.closed()
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
  const first = new Supervisor(body.token)
  await first.got('listening')
  const second = new Supervisor(body.token)
  const [, response] = (await once(second.socket, 'unexpected-response')) as [unknown, { statusCode: number }]
  t.equal(response.statusCode, 401)
  client.send({ type: 'end' })
  await client.closed()
  await until(async () => (await user.client.get(`/calls/${callId}`)).body.ended_at !== null)
  t.match(await user.client.post(`/calls/${callId}/listen`), { status: 409, body: { detail: 'Call is over' } })
})
