import { once } from 'node:events'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'
import { RealtimeClient } from '../../../support/instance/realtime-node.ts'
import { linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { Supervisor } from '../../../support/world/supervisor.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

/** With which code and reason connections are closed (api/realtime/closing.ts), as their clients see it. */

const MIB = 1 << 20

async function talkingApi(t: Test): Promise<TestApi> {
  const api = await startTestApi(t)
  await linkWorker(t, api)
  return api
}

interface Talk {
  callId: string
  client: RealtimeClient
  closed: Promise<[code: number, reason: string]>
}

const closeOf = async (socket: WebSocket): Promise<[number, string]> => {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
  return [code, reason.toString()]
}

async function talk(api: TestApi, user: TestUser, query = ''): Promise<Talk> {
  const { agentId } = await startPhone(api, user)
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token, query)
  const closed = closeOf(client.socket)
  await client.got('session.started')
  return { callId: body.call_log_id, client, closed }
}

t.test('a session closes with the reason of session.ended and the code of that reason', async (t) => {
  const api = await talkingApi(t)
  const user = await api.signUp()
  const said = await talk(api, user)
  said.client.send({ type: 'end' })
  t.match(await said.client.got('session.ended'), { reason: 'caller_hangup' })
  t.same(await said.closed, [1000, 'caller_hangup'])

  const ended = await talk(api, user)
  await user.client.post(`/calls/${ended.callId}/hangup`)
  t.match(await ended.client.got('session.ended'), { reason: 'api_hangup' })
  t.same(await ended.closed, [1000, 'api_hangup'])
})

t.test('a session is hung up, too, while its beginning is not written down yet', async (t) => {
  const api = await talkingApi(t)
  const user = await api.signUp()
  const { callId, client, closed } = await talk(api, user)
  const isWritten = async () => (await user.client.get(`/calls/${callId}`)).body.status === 'in_progress'
  await waitUntil(isWritten, () => 'the call to be in progress')
  await api.store.pool.query("update calls set status = 'queued', answered_at = null where id = $1", [callId])
  t.equal((await user.client.post(`/calls/${callId}/hangup`)).status, 200)
  t.match(await client.got('session.ended'), { reason: 'api_hangup' })
  t.same(await closed, [1000, 'api_hangup'])
})

t.test('who goes on beyond the limits is closed with 1008, and with 1009 for one message over 1 MiB', async (t) => {
  const api = await talkingApi(t)
  const user = await api.signUp()
  const large = await talk(api, user)
  large.client.socket.send(Buffer.alloc(MIB + 1))
  t.same(await large.closed, [1009, 'message_too_large'])
  const larger = await talk(api, user)
  larger.client.socket.send(Buffer.alloc(2 * MIB + 1))
  t.same(await larger.closed, [1006, ''], 'of more than twice that no more is read')

  const flood = await talk(api, user)
  const flooding = setInterval(() => {
    for (let i = 0; i < 40; i++) flood.client.send({ type: 'ping' })
  }, 50)
  const closed = await flood.closed
  clearInterval(flooding)
  t.same(closed, [1008, 'policy_violation'])
})

t.test('a connection that a later one replaces is closed with 4001, so that its page does not resume', async (t) => {
  const api = await talkingApi(t)
  const { client, closed } = await talk(api, await api.signUp(), '&media=websocket')
  const { resume_token: token, resume_within_s, protocol } = await client.got('session.started')
  t.same([resume_within_s, protocol], [20, 1])
  const later = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, '', `&resume=${token}`)
  await later.got('session.resumed')
  t.same(await closed, [4001, 'replaced'])
  later.send({ type: 'end' })
  await later.closed()
})

t.test('without a free agent a session is closed with 1013', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const { agentId } = await startPhone(api, user)
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const client = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
  const closed = closeOf(client.socket)
  t.match(await client.got('session.ended'), { reason: 'no_capacity' })
  t.same(await closed, [1013, 'no_capacity'])
})

t.test('the version is chosen as a subprotocol where it is offered, and nothing else is', async (t) => {
  const api = await talkingApi(t)
  const user = await api.signUp()
  const { agentId } = await startPhone(api, user)
  const chosen = async (offered: string[]): Promise<string> => {
    const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
    const socket = new WebSocket(body.realtime_url, offered)
    const answer = new Promise<string>((resolve) => {
      socket.on('upgrade', ({ headers }) => resolve(headers['sec-websocket-protocol'] ?? ''))
      socket.on('error', () => undefined)
    })
    return answer.finally(() => socket.terminate())
  }
  t.equal(await chosen(['patchbay.v9', 'patchbay.v1']), 'patchbay.v1')
  t.equal(await chosen(['patchbay.v9']), '')
  t.equal(await chosen([]), '')
})

t.test('a supervisor’s socket closes with the code of the error, or of the end, before it', async (t) => {
  const api = await talkingApi(t)
  const user = await api.signUp()
  const { callId, client } = await talk(api, user)

  const large = await Supervisor.listen(user.client, callId)
  const tooLarge = closeOf(large.socket)
  large.socket.send(Buffer.alloc(64 * 1024 + 1))
  t.same(await tooLarge, [1009, 'message_too_large'])

  const developer = await api.member(user, 'developer')
  const removed = await Supervisor.listen(developer.client, callId)
  const withdrawn = closeOf(removed.socket)
  await user.client.delete(`/workspaces/${user.workspaceId}/members/${developer.id}`)
  const [code, reason] = await withdrawn
  t.equal(code, 1008)
  const error = removed.messages.find(({ type }) => type === 'error')
  t.equal(reason, error.code, 'the reason is the code of the error')

  const listening = await Supervisor.listen(user.client, callId)
  const over = closeOf(listening.socket)
  client.send({ type: 'end' })
  t.same(await over, [1000, 'ended'])
  await listening.got('ended')
})
