import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { RealtimeClient, until } from '../../../support/instance/realtime-node.ts'
import { linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { openRaw } from '../../../support/world/raw-http.ts'

const api = await startTestApi(t, { nodes: 2 })
await linkWorker(t, api)

interface Stream {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  readonly events: { id?: string; event: string; data: any }[]
  readonly ended: Promise<void>
  close(): void
}

async function open(user: TestUser, path: string, lastEventId?: string): Promise<Stream> {
  const abort = new AbortController()
  const cookie = [...user.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { cookie, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) }
  const response = await fetch(new URL(path, api.url), { headers, signal: abort.signal })
  if (response.status !== 200) throw new Error(await response.text())
  const events: Stream['events'] = []
  const read = async () => {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks.filter((block) => !block.startsWith(':'))) {
        const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)))
        events.push({ ...fields, data: JSON.parse(fields.data) })
      }
    }
  }
  const ended = read().catch(() => undefined)
  return { events, ended, close: () => abort.abort() }
}

async function talk(user: TestUser) {
  const { agentId } = await startPhone(api, user)
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
  await client.got('session.started')
  return { callId: body.call_log_id as string, client }
}

t.test('a workspace sees its events as they happen, and goes on where it left off', async (t) => {
  const user = await api.signUp()
  const other = await api.signUp()
  const stream = await open(user, '/events?types=call.*')
  const foreign = await open(other, '/events')
  const { callId, client } = await talk(user)
  client.send({ type: 'text', text: 'hello' })
  await until(() => stream.events.some(({ event, data }) => event === 'call.turn' && data.data.text === 'hello'))
  t.same(
    stream.events.slice(0, 3).map(({ event }) => event),
    ['call.queued', 'call.ringing', 'call.answered'],
  )
  t.match(stream.events[0]?.data, {
    type: 'call.queued',
    workspace_id: user.workspaceId,
    data: { call_log_id: callId },
  })
  stream.close()
  await stream.ended
  client.send({ type: 'end' })
  await client.closed()
  const resumed = await open(user, '/events?types=call.*', stream.events.at(-1)?.id)
  await until(() => resumed.events.some(({ event }) => event === 'call.ended'))
  const seen = () => [...stream.events, ...resumed.events].map(({ data }) => data.id)
  // The journal's last turns may come after the call's end.
  let whole: string[] = []
  await until(async () => {
    const all = await open(user, '/events?types=call.*&wait_s=0', '0-0')
    await all.ended
    whole = all.events.map(({ data }) => data.id)
    return whole.length === seen().length
  })
  t.equal(new Set(seen()).size, seen().length, 'nothing comes twice')
  t.same(whole, seen(), 'and nothing is missing')
  t.same(foreign.events, [], 'nobody else sees it')
  foreign.close()
  resumed.close()
  await t.rejects(open(user, '/events?types=call.exploded'), /is no type of event/)
})

t.test('a call is followed from its beginning to its end, partial words included', async (t) => {
  const user = await api.signUp()
  const { callId, client } = await talk(user)
  // What is told before the answer is known has no time from it, which the log has.
  await until(async () => (await user.client.get(`/calls/${callId}`)).body.answered_at !== null)
  const stream = await open(user, `/calls/${callId}/events/live`)
  client.send({ type: 'text', text: 'recite' })
  await until(() => stream.events.some(({ event, data }) => event === 'heard' && data.final === false))
  const late = await open(user, `/calls/${callId}/events/live`)
  client.send({ type: 'text', text: 'well?' })
  await until(() => stream.events.some(({ event, data }) => event === 'turn' && data.text === 'well?'))
  client.send({ type: 'end' })
  await client.closed()
  await Promise.all([stream.ended, late.ended])
  const { body } = await user.client.get(`/calls/${callId}/events`, { query: { page_size: 200 } })
  for (const { events } of [stream, late]) {
    const kept = events.filter(({ id }) => id !== undefined).map(({ data }) => data)
    t.same(kept, body.items, 'each event once, in order, as the call log has it')
  }
  const resumed = await open(user, `/calls/${callId}/events/live`, '3')
  await resumed.ended
  t.equal(resumed.events[0]?.id, '4')
  const foreign = await api.signUp()
  await t.rejects(open(foreign, `/calls/${callId}/events/live`), /Call log not found/)
})

t.test('a workspace has so many streams of a node and no more', async (t) => {
  const user = await api.signUp()
  const streams = await Promise.all(Array.from({ length: 20 * api.nodes.length }, () => open(user, '/events')))
  await t.rejects(open(user, '/events'), /Quota reached: 20 live streams/)
  streams[0]?.close()
  await until(async () => {
    const stream = await open(user, '/events').catch(() => undefined)
    stream?.close()
    return stream !== undefined
  })
  for (const stream of streams) stream.close()
})

t.test('a stream that is asked for with HEAD, or left before it begins, holds no place', async (t) => {
  const user = await api.signUp()
  const { callId, client } = await talk(user)
  for (const path of ['/events', `/calls/${callId}/events/live`]) {
    for (let n = 0; n < 21; n++) {
      const { status } = await user.client.request('HEAD', path)
      t.equal(status, 200, `${path}, time ${n + 1}`)
    }
    const cookie = [...user.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    for (let n = 0; n < 21; n++) {
      const raw = await openRaw(api.url)
      raw.write(`GET ${path} HTTP/1.1\r\nhost: x\r\ncookie: ${cookie}\r\n\r\n`)
      await setImmediate()
      raw.socket.destroy()
    }
    let stream: Stream | undefined
    await until(async () => {
      stream = await open(user, path).catch(() => undefined)
      return stream !== undefined
    })
    client.send({ type: 'text', text: 'hello' })
    await until(() => stream!.events.some(({ event }) => event === 'turn' || event === 'call.turn'))
    stream!.close()
    await stream!.ended
  }
  client.send({ type: 'end' })
  await client.closed()
})
