import t from 'tap'
import { Compile } from 'typebox/compile'
import { EVENT_TYPES } from '../../../../api/events/types.ts'
import { workspaceEventOf } from '../../../../runtime/call/log/workspace-event.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { undeclaredEvent } from '../../../support/source/declared-event.ts'

const AGENT = { agent_name: 'Ada', system_prompt: 'You answer.' }
const api = await startTestApi(t)
await startTestJobs(t, api)

type Event = { type: string; data: Record<string, unknown> }

/**
 * Those that there are once there are so many: an event is read after every transaction that began before it has
 * ended. The client checks each against its schema.
 */
async function eventsOf(client: Awaited<ReturnType<typeof api.signUp>>['client'], types: string, count: number) {
  const query = { after: '0-0', types, limit: 500 }
  let events: Event[] = []
  await until(
    async () => {
      const { body } = await client.get('/events', { query, headers: { accept: 'application/json' } })
      events = body.items
      return events.length >= count
    },
    () => events.map(({ type }) => type).join(),
  )
  return events
}

t.test('the example of every event fits its schema', async (t) => {
  for (const [type, { data, example }] of Object.entries(EVENT_TYPES)) {
    const check = Compile(data)
    t.ok(check.Check(example), type, { errors: check.Errors(example).slice(0, 3) })
  }
  t.match(undeclaredEvent({ type: 'call.turn', data: {} }), /breaks its schema/)
  t.match(undeclaredEvent({ type: 'call.nothing' }), /There is no event/)
})

t.test('a change of an agent is shown as it was then, and its deletion is told', async (t) => {
  const ada = await api.signUp()
  const { body: agent } = await ada.client.post('/agents', { body: AGENT })
  await ada.client.put(`/agents/${agent.agent_id}`, { body: { agent_name: 'Bob' } })
  await ada.client.delete(`/agents/${agent.agent_id}`)
  const events = await eventsOf(ada.client, 'agent.*', 3)
  t.same(
    events.map(({ type, data }) => [type, data.agent_name]),
    [
      ['agent.changed', 'Ada'],
      ['agent.changed', 'Bob'],
      ['agent.deleted', 'Bob'],
    ],
  )
})

t.test('numbers, chats and the do-not-call list tell what comes and goes', async (t) => {
  const ada = await api.signUp()
  const { body: agent } = await ada.client.post('/agents', { body: AGENT })
  const phone_number = '+14155550111'
  await ada.client.post('/phone-numbers', { body: { phone_number, provider: 'sim' } })
  await ada.client.patch(`/phone-numbers/${phone_number}`, { body: { agent_id: agent.agent_id } })
  await ada.client.delete(`/phone-numbers/${phone_number}`)
  await ada.client.post('/do-not-call', { body: { phone_number: '+14155550199', reason: 'Asked' } })
  await ada.client.delete('/do-not-call/+14155550199')
  const chat = { agent_id: agent.agent_id, message: 'Hello', session_id: 'visitor-1' }
  await ada.client.post('/chats/interaction', { body: chat })
  await ada.client.post('/chats/interaction', { body: chat })
  const events = await eventsOf(ada.client, 'number.*,do_not_call.*,chat.*', 6)
  t.same(
    events.map(({ type }) => type),
    ['number.added', 'number.changed', 'number.removed', 'do_not_call.added', 'do_not_call.removed', 'chat.started'],
  )
  t.match(events[1]?.data, { phone_number, agent_id: agent.agent_id })
  t.match(events[5]?.data, { session_id: 'visitor-1', agent_id: agent.agent_id })
})

t.test('campaigns, prospects and uploads tell what comes and goes, and which they are of', async (t) => {
  const ada = await api.signUp()
  const { body: campaign } = await ada.client.post('/api/v/campaign/', { body: { name: 'Renewals', paused: true } })
  const { body: lists } = await ada.client.get('/api/v/list/', { query: { campaign: campaign.slug } })
  const one = new FormData()
  one.append('primary_phone', '+14155550121')
  one.append('external_id', 'crm-1')
  await ada.client.post(`/api/v/prospect/${lists[0].list_uuid}/`, { form: one })
  const file = new FormData()
  file.append('original_data', new Blob(['primary_phone\n+14155550122\n+14155550123\n']), 'leads.csv')
  await ada.client.post(`/api/v/upload/${campaign.slug}/`, { form: file })
  await eventsOf(ada.client, 'upload.*', 1)
  await ada.client.delete(`/api/v/campaign/${campaign.slug}/`)
  const events = await eventsOf(ada.client, 'campaign.*,prospect.*,upload.*', 3)
  t.same(
    events.map(({ type }) => type),
    ['prospect.added', 'upload.completed', 'campaign.deleted'],
  )
  for (const { type, data } of events) {
    t.match(data, { campaign_id: campaign.campaign_id, campaign_slug: campaign.slug }, type)
  }
  t.match(events[0]?.data, { external_id: 'crm-1', status: 'waiting' })
  t.match(events[1]?.data, { rows: { total: 2, loaded: 2 }, list_uuid: lists[0].list_uuid })
})

t.test('a batch tells that it is paused and goes on', async (t) => {
  const ada = await api.signUp()
  const { body: agent } = await ada.client.post('/agents', { body: AGENT })
  const number = { phone_number: '+14155550131', provider: 'sim', agent_id: agent.agent_id }
  await ada.client.post('/phone-numbers', { body: number })
  const form = new FormData()
  for (const [name, value] of Object.entries({ name: 'March', agent_id: agent.agent_id })) form.append(name, value)
  form.append('agent_phone_number', number.phone_number)
  form.append('file', new Blob(['phone_number\n+14155550199\n']), 'a.csv')
  const { body: batch } = await ada.client.post('/batch/upload', { form })
  for (const action of ['send', 'pause', 'resume', 'cancel'])
    await ada.client.post(`/batch/${batch.batch_id}/${action}`)
  const types = (await eventsOf(ada.client, 'batch.*', 4)).map(({ type }) => type)
  t.same(types.slice(0, 4), ['batch.started', 'batch.paused', 'batch.resumed', 'batch.canceled'])
})

t.test('what a tool answered and why a transfer failed are told', (t) => {
  const at = Date.UTC(2026, 0, 31)
  t.match(workspaceEventOf({ type: 'tool_returned', id: 'call_1', result: '{}', ms: 12, seq: 4, at }), {
    type: 'call.tool_returned',
    data: { id: 'call_1', result: '{}', ms: 12, error: null, seq: 4 },
  })
  t.match(workspaceEventOf({ type: 'transfer_failed', to: '+14155550142', reason: 'busy', seq: 5, at }), {
    type: 'call.transfer_failed',
    data: { to: '+14155550142', reason: 'busy' },
  })
  t.end()
})

t.test('what goes with its workspace is told to nobody', async (t) => {
  const ada = await api.signUp()
  await ada.client.post('/agents', { body: AGENT })
  await ada.client.post('/phone-numbers', { body: { phone_number: '+14155550141', provider: 'sim' } })
  t.equal((await ada.client.delete(`/workspaces/${ada.workspaceId}`)).status, 200)
  const left = async () => {
    const query = 'select type from workspace_events where workspace_id = $1'
    return (await api.store.pool.query(query, [ada.workspaceId])).rows.map(({ type }) => type)
  }
  const gone = 'select id from workspaces where id = $1'
  await until(async () => (await api.store.pool.query(gone, [ada.workspaceId])).rowCount === 0)
  t.same(await left(), [])
})
