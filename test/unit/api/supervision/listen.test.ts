import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Decoder } from '@evan/opus'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { OpusEncoder } from '../../../../runtime/media/codecs/opus.ts'
import { samplesOf } from '../../../../runtime/media/frame.ts'
import { freePort } from '../../../../scripts/demo/free-port.ts'
import { WebRtcPeer } from '../../../../scripts/webrtc-peer.ts'
import { startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'
import { mediaWorker } from '../../../support/instance/media-worker.ts'
import { RealtimeClient, until } from '../../../support/instance/realtime-node.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { ILL_FORMED } from '../../../support/world/ill-formed.ts'
import { ownTime } from '../../../support/world/own-time.ts'
import { Supervisor } from '../../../support/world/supervisor.ts'

const RATE_HZ = 24_000
const FRAME = RATE_HZ / 50
const [LOUD, VOICE] = [12_000, 7_000]

const api = await startTestApi(t)
await linkWorker(t, api)

async function talk(user: TestUser, at: TestApi = api) {
  const { agentId } = await startPhone(at, user)
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const client = new RealtimeClient({ url: at.url.replace(/^http/, 'ws') }, body.token)
  await client.got('session.started')
  return { callId: body.call_log_id as string, client }
}

const SPOKEN_FRAMES = 25
/** Longer than a supervisor may be silent. */
const STILL_MS = 4_500

/** Half a second of a steady sample, as it is spoken. */
async function speak(socket: WebSocket, sample: number, frames = SPOKEN_FRAMES): Promise<void> {
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
  await until(
    () => client.audioBytes === SPOKEN_FRAMES * FRAME * 2,
    () => `the whole answer; ${client.audioBytes} bytes came`,
  )

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
  second.socket.send(`{"type":"whisper","text":"deep","more":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)
  await until(() => second.messages.filter(({ code }) => code === 'bad_message').length === 2)
  for (const { text } of Object.values(ILL_FORMED)) {
    second.messages.length = 0
    second.send({ type: 'say', text })
    await second.got('error', ({ message }) => message === 'Text must be valid Unicode text without NUL')
  }

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
  const tookMs = ownTime(t)
  happens(supervisor.socket)
  await watching.happened('gave_back')
  t.ok(tookMs() < 5_000, `${tookMs()} ms`)
  const end = async () => {
    client.send({ type: 'end' })
    await client.closed()
  }
  return { watching, end }
}

t.test('a supervisor leads a call to nobody whom its workspace may not call', async () => {
  const user = await api.signUp()
  const { callId, client } = await talk(user)
  await user.client.patch(`/workspaces/${user.workspaceId}`, { body: { dial_countries: ['US'] } })
  const supervisor = await Supervisor.listen(user.client, callId)
  const failed = (to: string, words: RegExp) => {
    supervisor.messages.length = 0
    supervisor.send({ type: 'transfer', to })
    return supervisor.got('error', ({ code, message }) => code === 'transfer_failed' && words.test(message))
  }
  // Who is called at all is busy.
  await failed('+442079469901', /dial_countries/)
  await failed('+19005559901', /premium/)
  await failed('+14155559901', /busy/i)
  client.send({ type: 'end' })
  await callWhen(user, callId, isOver)
})

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

t.test('a node that stood still takes its own silence for nobody else’s', async (t) => {
  const user = await api.signUp()
  const { callId, client } = await talk(user)
  const supervisor = await Supervisor.listen(user.client, callId)
  const stand = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STILL_MS)
  stand()
  supervisor.send({ type: 'whisper', text: 'Offer a refund' })
  await supervisor.happened('whispered')
  t.equal(supervisor.socket.readyState, WebSocket.OPEN)
  const { body } = await user.client.post(`/calls/${callId}/listen`)
  const second = new Supervisor(body.url)
  await once(second.socket, 'open')
  stand()
  await t.resolves(second.got('listening'), 'nor a call’s that it was about to ask')
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

const { path: webrtcWorker, skip } = await mediaWorker()
const TONE_RATE_HZ = 48_000

/** An api node with WebRTC, and a voice worker. */
async function startMedia(t: Test): Promise<TestApi> {
  const withMedia = await startTestApi(t, {
    env: {
      PATCHBAY_WEBRTC: 'auto',
      PATCHBAY_WEBRTC_WORKER: webrtcWorker,
      PATCHBAY_WEBRTC_PORT: String(await freePort()),
    },
  })
  await linkWorker(t, withMedia)
  return withMedia
}

/** Where to listen to the call, once the node's media worker is there. */
async function webrtcUrl(user: TestUser, callId: string): Promise<string> {
  const listen = async () => (await user.client.post(`/calls/${callId}/listen`)).body
  await until(async () => (await listen()).webrtc !== null)
  return (await listen()).url
}

/** A second: a voice that comes back is never silent for so long. */
const SILENT_PACKETS = 50

t.test(
  'over WebRTC a supervisor hears each side in its channel, and speaks by their microphone',
  { skip },
  async (t) => {
    const withMedia = await startMedia(t)
    const user = await withMedia.signUp()
    const { callId, client } = await talk(user, withMedia)
    const url = await webrtcUrl(user, callId)
    const { webrtc } = (await user.client.post(`/calls/${callId}/listen`)).body
    t.same(webrtc, { transports: ['udp', 'tcp'], ice_servers: [] })
    const supervisor = new Supervisor(`${url}&media=webrtc`)
    const decoder = new Decoder({ channels: 2, sample_rate: TONE_RATE_HZ })
    const loudest = { caller: 0, agent: 0 }
    /** Packets in a row in which the agent's side was silent. */
    let silentPackets = 0
    const peer = new WebRtcPeer((payload) => {
      const samples = samplesOf(decoder.decode(payload))
      silentPackets = samples.some((sample, i) => i % 2 === 1 && Math.abs(sample) >= 1_000) ? 0 : silentPackets + 1
      for (const [i, sample] of samples.entries()) {
        const side = i % 2 === 0 ? 'caller' : 'agent'
        loudest[side] = Math.max(loudest[side], Math.abs(sample))
      }
    })
    t.teardown(() => peer.close())
    await supervisor.got('webrtc.offer')
    const { sdp: offer } = supervisor.messages.find(({ type }) => type === 'webrtc.offer')
    t.match(offer, /^a=fmtp:111 .*sprop-stereo=1/m)
    supervisor.send({ type: 'webrtc.answer', sdp: 'v=0' })
    await supervisor.got('error', ({ code }) => code === 'invalid_answer')
    supervisor.send({ type: 'webrtc.answer', sdp: await peer.answer(offer) })
    await supervisor.got('listening', ({ audio }) => audio.encoding === 'opus' && audio.channels === 2)
    await peer.heard()
    supervisor.socket.send(Buffer.alloc(320))
    await supervisor.got('error', ({ code }) => code === 'unexpected_audio')

    // The agent of this test repeats what it hears, and says nothing until then.
    let spoken = 0
    do client.socket.send(tone(RATE_HZ, spoken++))
    while (await quietFor(20, () => loudest.caller > 3_000 && loudest.agent > 3_000))
    t.equal(supervisor.caller.length, 0, 'no sound goes over the socket')

    supervisor.send({ type: 'take_over' })
    await supervisor.happened('took_over')
    const heardBytes = client.audioBytes
    const encoder = new OpusEncoder(TONE_RATE_HZ)
    let said = 0
    do peer.send(encoder.encode(samplesOf(tone(TONE_RATE_HZ, said++))))
    while (await quietFor(20, () => client.audioBytes > heardBytes + FRAME * 2 * 20))
    t.equal(supervisor.messages.filter(({ type }) => type === 'ended').length, 0)
    // They hear the caller, and, once the agent's last words have come, not themselves.
    loudest.caller = 0
    do {
      client.socket.send(tone(RATE_HZ, spoken++))
      peer.send(encoder.encode(samplesOf(tone(TONE_RATE_HZ, said++))))
    } while (await quietFor(20, () => loudest.caller > 3_000 && silentPackets >= SILENT_PACKETS))

    supervisor.send({ type: 'give_back' })
    await supervisor.happened('gave_back')
    supervisor.socket.close()
    client.send({ type: 'end' })
    await client.closed()
  },
)

t.test(
  'a listener whose own end is never connected is told so, one who says that it is hears on',
  { skip },
  async (t) => {
    const withMedia = await startMedia(t)
    const user = await withMedia.signUp()
    const { callId, client } = await talk(user, withMedia)
    const listen = async (saysConnected: boolean) => {
      let packets = 0
      const supervisor = new Supervisor(`${await webrtcUrl(user, callId)}&media=webrtc`)
      const closed = once(supervisor.socket, 'close')
      const peer = new WebRtcPeer(() => void packets++)
      t.teardown(() => peer.close())
      await supervisor.got('webrtc.offer')
      const { sdp: offer } = supervisor.messages.find(({ type }) => type === 'webrtc.offer')
      const sdp = await peer.answer(offer)
      supervisor.send({ type: 'webrtc.answer', sdp, says_connected: true })
      // The server's end is connected either way: it sends.
      await peer.heard()
      if (saysConnected) supervisor.send({ type: 'webrtc.connected' })
      return { supervisor, closed, packets: () => packets }
    }
    const connected = await listen(true)
    const failed = await listen(false)
    await failed.supervisor.got('error', ({ code }) => code === 'connection_failed')
    await failed.closed
    // Its ten seconds were over before.
    t.notOk(connected.supervisor.messages.some(({ type }) => type === 'error'))
    const before = connected.packets()
    await until(() => connected.packets() > before + 10)
    connected.supervisor.socket.close()
    client.send({ type: 'end' })
    await client.closed()
  },
)

t.test('where there is no WebRTC, nobody gets it, and the token still serves', async (t) => {
  const user = await api.signUp()
  const { callId, client } = await talk(user)
  const { body } = await user.client.post(`/calls/${callId}/listen`)
  t.equal(body.webrtc, null)
  for (const [media, status] of [
    ['webrtc', 503],
    ['pigeons', 400],
  ] as const) {
    const refused = new Supervisor(`${body.url}&media=${media}`)
    const [, response] = (await once(refused.socket, 'unexpected-response')) as [unknown, { statusCode: number }]
    t.equal(response.statusCode, status)
  }
  const supervisor = new Supervisor(body.url)
  await supervisor.got('listening', ({ audio }) => audio.encoding === 'pcm_s16le')
  client.send({ type: 'end' })
  await client.closed()
})

/** 20 ms of a tone, and which of them. */
function tone(rateHz: number, index: number): Buffer {
  const length = rateHz / 50
  const samples = Int16Array.from({ length }, (_, i) => {
    const atS = (index * length + i) / rateHz
    return Math.round(10_000 * Math.sin(2 * Math.PI * 440 * atS))
  })
  return Buffer.from(samples.buffer)
}

/** Waits so long; false once it is so. */
async function quietFor(ms: number, isSo: () => boolean): Promise<boolean> {
  await sleep(ms)
  return !isSo()
}
