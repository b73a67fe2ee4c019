import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { rangeOf } from '../../../../api/calls/recording.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { WAV_HEAD_BYTES } from '../../../../runtime/recording/wav.ts'
import { freePort } from '../../../../scripts/demo/free-port.ts'
import { openLinkSigner } from '../../../../store/objects/object-links.ts'
import { ApiClient, startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'
import { RealtimeClient, until } from '../../../support/instance/realtime-node.ts'
import { linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { startS3Double } from '../../../support/providers/doubles/stores/s3.ts'

const RATE_HZ = 24_000
const FRAME_SAMPLES = RATE_HZ / 50
const LOUD = 12_000

/** A call over the browser in which the caller makes a noise and the agent repeats it. */
async function talk(api: TestApi, user: TestUser, { frames = 25, query = {}, agent = {} } = {}): Promise<string> {
  const { agentId } = await startPhone(api, user, agent)
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId, ...query } })
  const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
  await client.got('session.started')
  for (let i = 0; i < frames; i++) {
    client.socket.send(Buffer.from(new Int16Array(FRAME_SAMPLES).fill(LOUD).buffer))
    await sleep(20)
  }
  await until(() => client.audioBytes === frames * FRAME_SAMPLES * 2)
  client.send({ type: 'end' })
  await client.closed()
  return body.call_log_id
}

async function recorded(user: TestUser, callId: string): Promise<string> {
  let url: string | null = null
  await until(
    async () => {
      url = (await user.client.get(`/calls/${callId}`)).body.recording_url
      return url !== null
    },
    () => 'the recording',
  )
  return url ?? ''
}

const loudSamples = (wav: Buffer, side: 0 | 1): number => {
  let loud = 0
  for (let at = WAV_HEAD_BYTES + side * 2; at < wav.length; at += 4) if (wav.readInt16LE(at) === LOUD) loud++
  return loud
}

t.test('a recorded call', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_RECORD_CALLS: 'true' } })
  await linkWorker(t, api)
  const user = await api.signUp()
  const callId = await talk(api, user)
  t.equal(
    await recorded(user, callId),
    `${api.config.publicUrl.replace(':0', `:${new URL(api.url).port}`)}/calls/${callId}/recording`,
  )
  const answer = await user.client.get(`/calls/${callId}/recording`)
  t.equal(answer.status, 302)
  const location = (answer.headers.get('location') ?? '').replace('localhost', '127.0.0.1')

  await t.test('holds what was heard on the left and what was sent on the right', async (t) => {
    const response = await fetch(location)
    t.equal(response.status, 200)
    t.equal(response.headers.get('content-type'), 'audio/wav')
    t.match(response.headers.get('content-disposition'), `call-${callId}.wav`)
    const wav = Buffer.from(await response.arrayBuffer())
    t.equal(wav.readUInt32LE(24), RATE_HZ)
    t.equal(wav.readUInt32LE(40), wav.length - WAV_HEAD_BYTES)
    for (const side of [0, 1] as const) {
      const ms = loudSamples(wav, side) / 24
      t.ok(ms > 400 && ms <= 500, `side ${side} has ${ms} ms of the 500 that were said`)
    }
    const waiting = async () => (await readdir(join(api.config.dataDir, 'recordings'))).filter((name) => name !== 'id')
    // A file goes a moment after its address is known.
    await until(
      async () => (await waiting()).length === 0,
      () => 'the last file to go',
    )
  })

  await t.test('is served in parts to players that seek', async (t) => {
    const whole = Buffer.from(await (await fetch(location)).arrayBuffer())
    const part = await fetch(location, { headers: { range: 'bytes=10-19' } })
    t.equal(part.status, 206)
    t.equal(part.headers.get('content-range'), `bytes 10-19/${whole.length}`)
    t.ok(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(10, 20)))
    const tail = await fetch(location, { headers: { range: 'bytes=-5' } })
    t.ok(Buffer.from(await tail.arrayBuffer()).equals(whole.subarray(-5)))
    t.equal((await fetch(location, { headers: { range: `bytes=${whole.length}-` } })).status, 200)
  })

  await t.test('is nobody else’s, and its address ends', async (t) => {
    const other = await api.signUp()
    t.match(await other.client.get(`/calls/${callId}/recording`), {
      status: 404,
      body: { detail: 'Call log not found' },
    })
    t.match(await api.client().get(`/calls/${callId}/recording`), { status: 401 })
    t.equal((await (await api.keyClient(user)).get(`/calls/${callId}/recording`)).status, 302)
    const signer = openLinkSigner(api.config.jwtApiSecret)
    const key = `recordings/${user.workspaceId}/${callId}.wav`
    const at = (link: string) => api.client().get(`/files/${link}`)
    t.equal((await at(signer.sign(key, { expiresInS: 60, filename: 'x.wav' }))).status, 200)
    const expired = signer.sign(key, { expiresInS: -1, filename: 'x.wav' })
    t.match(await at(expired), { status: 401, body: { detail: 'Token expired' } })
    const forged = openLinkSigner('another secret of another instance').sign(key, { expiresInS: 60, filename: 'x' })
    const outside = signer.sign('../jwt_api_secret', { expiresInS: 60, filename: 'x' })
    for (const link of [
      forged,
      outside,
      `${expired}x`,
      'x',
      'a.b',
      '..%2f..%2fjwt_api_secret',
      `${'a'.repeat(3000)}.b`,
    ]) {
      t.match(await at(link), { status: 401, body: { detail: 'Invalid or missing token' } }, link.slice(0, 40))
    }
    const absent = signer.sign('recordings/none.wav', { expiresInS: 60, filename: 'x' })
    t.match(await at(absent), { status: 404, body: { detail: 'Not Found' } })
  })
})

t.test('calls are not recorded unless the operator says so', async (t) => {
  const api = await startTestApi(t)
  await linkWorker(t, api)
  const user = await api.signUp()
  const callId = await talk(api, user, { frames: 2 })
  t.same(await readdir(join(api.config.dataDir, 'recordings')), ['id'])
  t.match(await user.client.get(`/calls/${callId}/recording`), {
    status: 404,
    body: { detail: 'Recording not found' },
  })
})

t.test('an agent’s own setting goes before the installation’s and the session’s', async (t) => {
  const state = async (user: TestUser, callId: string) =>
    (await user.client.get(`/calls/${callId}`)).body.recording_state
  for (const PATCHBAY_RECORD_CALLS of ['false', 'true']) {
    const api = await startTestApi(t, { env: { PATCHBAY_RECORD_CALLS } })
    await linkWorker(t, api)
    const user = await api.signUp()
    const off = await talk(api, user, { frames: 2, query: { record: true }, agent: { recording: 'off' } })
    await until(
      async () => (await state(user, off)) === 'off',
      () => 'the call that says that it is not recorded',
    )
    const on = await talk(api, user, { frames: 2, agent: { recording: 'on' } })
    await recorded(user, on)
    t.equal(await state(user, on), 'stored')
    t.match(await user.client.get(`/calls/${off}`), { body: { recording_url: null, recording_state: 'off' } })
    const { agent_id } = (await user.client.get(`/calls/${off}`)).body
    const token = await user.client.get('/calls/generate-token', { query: { agent_id, record: 'true' } })
    t.equal(token.body.recorded, false, 'the session is told')
  }
})

t.test('with a bucket, recordings go there, wait out its faults, and its faults are told', async (t) => {
  const double = await startS3Double()
  t.teardown(double.stop)
  const api = await startTestApi(t, { env: { PATCHBAY_RECORD_CALLS: 'true', ...double.env } })
  await linkWorker(t, api)
  const user = await api.signUp()
  double.faults.set({ kind: 'refuse', status: 503, code: 'SlowDown' }, 1)
  const callId = await talk(api, user)
  await recorded(user, callId)
  const [[key, object] = []] = [...double.objects]
  t.equal(key, `recordings/${user.workspaceId}/${callId}.wav`)
  t.ok(object && loudSamples(object.bytes, 0) > 0)
  const { headers } = await user.client.get(`/calls/${callId}/recording`)
  const location = headers.get('location') ?? ''
  t.ok(location.startsWith(double.url))
  t.equal((await fetch(location)).status, 200)

  double.faults.set({ kind: 'refuse', status: 500, code: 'InternalError' })
  const failed = await user.client.get(`/calls/${callId}/recording`)
  t.equal(failed.status, 500)
  t.match(failed.body.detail, /^S3 error: /)
  double.faults.clear()
  ;(double.objects as Map<string, unknown>).clear()
  t.match(await user.client.get(`/calls/${callId}/recording`), { body: { detail: 'Recording not found' } })
})

t.test('a range means what RFC 9110 says, and nothing else', async (t) => {
  for (const [header, expected] of [
    ['bytes=0-0', { start: 0, end: 1 }],
    ['bytes=5-', { start: 5, end: 10 }],
    ['bytes=5-100', { start: 5, end: 10 }],
    ['bytes=-3', { start: 7, end: 10 }],
    ['bytes=-30', { start: 0, end: 10 }],
    ['bytes=10-', undefined],
    ['bytes=5-4', undefined],
    ['bytes=-0', undefined],
    ['bytes=-', undefined],
    ['bytes=0-1,3-4', undefined],
    ['items=0-1', undefined],
    ['', undefined],
  ] as const) {
    t.same(rangeOf(header, 10), expected, header)
  }
})

t.test('where calls are not recorded, a session is whose caller asks for it', async (t) => {
  const api = await startTestApi(t)
  await linkWorker(t, api)
  const user = await api.signUp()
  const { agentId } = await startPhone(api, user)
  const silent = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  t.notOk('recorded' in silent.body, 'nobody asked')
  const not = await user.client.get('/calls/generate-token', { query: { agent_id: agentId, record: 'false' } })
  t.equal(not.body.recorded, false)
  const asked = await user.client.get('/calls/generate-token', { query: { agent_id: agentId, record: 'true' } })
  t.equal(asked.body.recorded, true)

  const unrecorded = await talk(api, await api.signUp())
  const other = await api.signUp()
  const callId = await talk(api, other, { query: { record: 'true' } })
  await recorded(other, callId)
  t.same(
    (await readdir(join(api.config.dataDir, 'recordings'))).filter((name) => name.includes(unrecorded)),
    [],
    'nobody else is',
  )
})

t.test('the recording of a call is found from another node, and both say that their folders are apart', async (t) => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line).msg) }
  const log = createLogger({ level: 'warn', name: 'api', destination })
  const [port, adminPort] = [await freePort(), await freePort()]
  const here = await startTestApi(t, {
    nodes: 1,
    log,
    env: {
      PATCHBAY_RECORD_CALLS: 'true',
      PATCHBAY_NODE_URL: `http://127.0.0.1:${port}`,
      PORT: String(port),
      PATCHBAY_ADMIN_PORT: String(adminPort),
    },
  })
  const readyOf = async (admin: number) => (await fetch(`http://127.0.0.1:${admin}/ready`)).json()
  t.notOk('recordings' in ((await readyOf(adminPort)) as object), 'a single node has nothing to say')
  await linkWorker(t, here)
  const user = await here.signUp()
  const callId = await talk(here, user)
  await recorded(user, callId)

  const otherAdminPort = await freePort()
  const other = await startTestApi(t, { log, beside: here, env: { PATCHBAY_ADMIN_PORT: String(otherAdminPort) } })
  const elsewhere = new ApiClient(other.url)
  await elsewhere.post('/auth/login', { body: { email: user.email, password: user.password } })
  const answer = await elsewhere.get(`/calls/${callId}/recording`)
  t.equal(answer.status, 302)
  const url = String(answer.headers.get('location'))
  t.match(url, `http://127.0.0.1:${port}/files/`, 'the link leads to the node that has it')
  t.equal((await fetch(url)).status, 200)
  for (const admin of [adminPort, otherAdminPort])
    t.match(await readyOf(admin), { recordings: /^2 api nodes keep recordings in folders of their own.*S3_BUCKET/ })
  await until(() => lines.filter((line) => /^2 api nodes keep recordings/.test(line)).length >= 2)

  await rm(join(here.config.dataDir, 'objects'), { recursive: true })
  t.equal((await elsewhere.get(`/calls/${callId}/recording`)).status, 404, 'and nobody has one that is gone')
})
