import t from 'tap'
import type { CallEvent } from '../../../../runtime/call/log/events.ts'
import { makeEventPartitions } from '../../../../store/calls/call-events.ts'
import { appendCallEvents } from '../../../../store/calls/write-calls.ts'
import { startTestApi } from '../../../support/instance/api.ts'

const api = await startTestApi(t)

t.test('what happened in a call is listed in order, with its time from the answer', async (t) => {
  const { client, workspaceId } = await api.signUp()
  const agent = await client.post('/agents', { body: { agent_name: 'Ava', system_prompt: 'You are Ava.' } })
  const { body } = await client.get('/calls/generate-token', { query: { agent_id: agent.body.agent_id } })
  const callId = body.call_log_id as string
  t.match(await client.get(`/calls/${callId}/events`), { status: 200, body: { items: [], total: 0 } })

  const answeredAt = Date.now()
  await api.store
    .tenant(workspaceId)
    .db.updateTable('calls')
    .set({ status: 'in_progress', answered_at: new Date(answeredAt) })
    .where('id', '=', callId)
    .execute()
  const events: CallEvent[] = [
    { type: 'queued', seq: 0, at: answeredAt - 300 },
    { type: 'answered', seq: 1, at: answeredAt },
    { type: 'turn', text: 'Hello?', start_ms: 100, end_ms: 900, seq: 2, at: answeredAt + 1_200 },
  ]
  await makeEventPartitions(api.store, answeredAt)
  const row = { workspaceId, callId, firstSeq: 0, lastSeq: 2, at: answeredAt - 300, events: JSON.stringify(events) }
  await appendCallEvents(api.store, [row])

  const all = await client.get(`/calls/${callId}/events`)
  t.match(all.body, {
    total: 3,
    items: [
      { seq: 0, type: 'queued', at_ms: -300 },
      { seq: 1, type: 'answered', at_ms: 0, at: new Date(answeredAt).toISOString() },
      { seq: 2, type: 'turn', at_ms: 1_200, text: 'Hello?', start_ms: 100, end_ms: 900 },
    ],
  })
  const second = await client.get(`/calls/${callId}/events`, { query: { page: 2, page_size: 2 } })
  t.match(second.body, { total: 3, total_pages: 2, items: [{ seq: 2 }] })

  const other = await api.signUp()
  t.equal((await other.client.get(`/calls/${callId}/events`)).status, 404)
})
