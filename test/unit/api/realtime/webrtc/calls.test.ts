import t from 'tap'
import { WAV_HEAD_BYTES } from '../../../../../runtime/recording/wav.ts'
import { WebRtcClient } from '../../../../support/browser/webrtc-client.ts'
import { startTestApi, type TestApi, type TestUser } from '../../../../support/instance/api.ts'
import { mediaWorker } from '../../../../support/instance/media-worker.ts'
import { until } from '../../../../support/instance/realtime-node.ts'
import { callWhen, linkWorker, startPhone } from '../../../../support/phone/phone.ts'
import { Supervisor } from '../../../../support/world/supervisor.ts'

const RATE_HZ = 24_000
const WINDOW = RATE_HZ / 100
const LOUD = 1_000
const TONE_MS = 500
const PAUSE_MS = 4_000
/** Between the moment a tone leaves and its place in the recording: packets wait, and encoders smear. */
const SMEAR_MS = 200
/** The agent's frames are one run in a recording unless they are later than this: its sound may stand by so much before its time. */
const RUN_MS = 60

const { path, skip } = await mediaWorker()
let api: TestApi
let user: TestUser

if (!skip) {
  t.before(async () => {
    const env = { PATCHBAY_WEBRTC: 'auto', PATCHBAY_WEBRTC_WORKER: path, PATCHBAY_RECORD_CALLS: 'true' }
    // Every callee whose number says nothing else talks.
    const sim = { options: { callee: { mix: {}, timeScale: 0.1 } } }
    api = await startTestApi(t, { env, plugins: { sim } })
    await linkWorker(t, api)
    user = await api.signUp()
    await until(async () => (await api.client().get('/ready')).body.webrtc === 'open')
  })
}

async function open(agent: Record<string, unknown> = {}) {
  const { agentId } = await startPhone(api, user, agent)
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const client = await WebRtcClient.open(t, { url: api.url.replace(/^http/, 'ws') }, body.token)
  await client.line.got('session.started')
  await client.hears()
  return { client, callLogId: String(body.call_log_id) }
}

interface Stretch {
  fromMs: number
  toMs: number
  /** Of it. */
  loudMs: number
}

/** Where a side of a recording is loud; what a busy machine tears apart is one stretch. */
function loudStretches(wav: Buffer, side: 0 | 1): Stretch[] {
  const stretches: Stretch[] = []
  const frames = Math.floor((wav.length - WAV_HEAD_BYTES) / 4)
  const windowMs = (1_000 * WINDOW) / RATE_HZ
  for (let at = 0; at + WINDOW <= frames; at += WINDOW) {
    let loudest = 0
    for (let i = at; i < at + WINDOW; i++) {
      loudest = Math.max(loudest, Math.abs(wav.readInt16LE(WAV_HEAD_BYTES + 4 * i + 2 * side)))
    }
    if (loudest < LOUD) continue
    const fromMs = (1_000 * at) / RATE_HZ
    const toMs = fromMs + windowMs
    const last = stretches.at(-1)
    if (last === undefined || fromMs - last.toMs >= PAUSE_MS / 2) stretches.push({ fromMs, toMs, loudMs: windowMs })
    else {
      last.toMs = toMs
      last.loudMs += windowMs
    }
  }
  return stretches
}

t.test('a recording has the caller on the left and the agent on the right, each in its time', { skip }, async (t) => {
  const { client, callLogId } = await open()
  client.takeLoudest()
  client.speak(TONE_MS)
  // The encoder's last of the tone is still of it.
  client.pause(100)
  // The agent of this test repeats what it hears, until it is told not to.
  await until(() => client.takeLoudest() > LOUD)
  await new Promise((resolve) => setTimeout(resolve, TONE_MS / 2))
  client.line.send({ type: 'text', text: 'deaf' })
  // It has the pause to take that in.
  client.pause(PAUSE_MS)
  client.speak(TONE_MS)
  await until(() => client.hasSpoken)
  await new Promise((resolve) => setTimeout(resolve, 300))
  client.line.send({ type: 'end' })
  const call = await callWhen(
    user,
    callLogId,
    ({ status, recording_url: url }) => status === 'completed' && url !== null,
  )
  t.match(call, { status: 'completed', end_reason: 'caller_hangup', quality: { codec: 'opus' } })
  const recording = await fetch(`${api.url}/calls/${callLogId}/recording`, {
    headers: { cookie: [...user.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
  })
  const wav = Buffer.from(await recording.arrayBuffer())
  t.match([wav.readUInt16LE(22), wav.readUInt32LE(24)], [2, RATE_HZ], 'two sides')
  const [left, right] = [loudStretches(wav, 0), loudStretches(wav, 1)]
  t.equal(left.length, 2, JSON.stringify({ left, right }))
  const [first, second] = left
  if (first === undefined || second === undefined) return
  for (const { loudMs } of left) t.ok(Math.abs(loudMs - TONE_MS) <= SMEAR_MS, `a tone of ${loudMs} ms`)
  const apartMs = second.fromMs - first.fromMs
  const [firstMs = 0, secondMs = 0] = client.spokeAtMs
  // Where the sound's own timestamps have it; a client that a busy machine holds up sends later than they say.
  const [leastMs, mostMs] = [TONE_MS + PAUSE_MS, Math.max(TONE_MS + PAUSE_MS, secondMs - firstMs)]
  t.ok(apartMs >= leastMs - SMEAR_MS && apartMs <= mostMs + SMEAR_MS, `tones ${apartMs} ms apart`)
  const answeredMs = (right[0]?.fromMs ?? Number.NaN) - first.fromMs
  t.ok(answeredMs >= -RUN_MS && answeredMs < PAUSE_MS, `the agent's sound comes ${answeredMs} ms after the caller's`)
  t.ok((right.at(-1)?.toMs ?? Number.NaN) < second.fromMs, 'and none where it was silent')
})

t.test('a caller in the browser is led to a telephone, and both hear each other', { skip }, async (t) => {
  const tools = [{ type: 'transfer', name: 'book', description: 'To support.', to: '+14155550123' }]
  const { client, callLogId } = await open({ tools })
  client.line.send({ type: 'text', text: 'tool' })
  const happened = async (type: string) => {
    const { body } = await user.client.get(`/calls/${callLogId}/events`, { query: { page_size: 200 } })
    return body.items.some((event: { type: string }) => event.type === type)
  }
  await until(() => happened('transfer_done'))
  client.takeLoudest()
  client.speak(1_000)
  await until(
    () => client.takeLoudest() > LOUD,
    () => 'the callee',
  )
  client.line.send({ type: 'end' })
  const call = await callWhen(user, callLogId, ({ status }) => status === 'completed')
  t.match(call, { status: 'completed', call_type: 'web' })
})

t.test('a supervisor leads a caller in the browser to a telephone', { skip }, async (t) => {
  const { client, callLogId } = await open()
  const supervisor = await Supervisor.listen(user.client, callLogId)
  supervisor.send({ type: 'transfer', to: '+14155550123' })
  await supervisor.got('done', ({ of }) => of === 'transfer')
  await supervisor.happened('transfer_done')
  t.match(supervisor.events('transfer_started'), [{ event: { to: '+14155550123', mode: 'blind' } }])
  client.takeLoudest()
  client.speak(1_000)
  await until(
    () => client.takeLoudest() > LOUD,
    () => 'the callee',
  )
  supervisor.send({ type: 'end' })
  await supervisor.got('ended')
  t.match(await callWhen(user, callLogId, ({ status }) => status === 'completed'), { end_reason: 'api_hangup' })
})
