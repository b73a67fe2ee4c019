import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { startTestApi } from '../../../support/instance/api.ts'

const api = await startTestApi(t)
const ada = await api.signUp()
const { db } = api.store.tenant(ada.workspaceId)

const sortedBy = async (path: string, name: string, query: Record<string, unknown>) => {
  const texts = Object.fromEntries(Object.entries(query).map(([key, value]) => [key, String(value)]))
  const { status, body, text } = await ada.client.get(path, { query: texts })
  t.equal(status, 200, text)
  return body.items.map((item: Record<string, unknown>) => item[name])
}

t.test('chats are sorted by their last message and by how many they have', async (t) => {
  const { body: agent } = await ada.client.post('/agents', {
    body: { agent_name: 'Desk', system_prompt: 'You answer.' },
  })
  for (const [session_id, message_count, minute] of [
    ['short', 2, 30],
    ['long', 8, 10],
    ['middle', 4, 20],
  ] as const) {
    const updated_at = new Date(Date.UTC(2026, 0, 1, 12, minute))
    const row = { id: uuidv7(), agent_id: agent.agent_id, session_id, message_count, updated_at }
    await db
      .insertInto('chats')
      .values(row as never)
      .execute()
  }
  const list = (query: Record<string, unknown>) => sortedBy('/chats/logs', 'session_id', query)
  t.same(await list({}), ['middle', 'long', 'short'], 'newest first')
  t.same(await list({ sort: 'message_count' }), ['long', 'middle', 'short'])
  t.same(await list({ sort: 'updated_at' }), ['short', 'middle', 'long'])
  t.same(await list({ sort: 'updated_at', order: 'asc', page: 2, page_size: 2 }), ['short'])
  for (const [name, value] of [
    ['after', 'first'],
    ['updated_since', '2026-01-01T00:00:00Z'],
  ] as const) {
    t.equal((await ada.client.get('/chats/logs', { query: { sort: 'updated_at', [name]: value } })).status, 422)
  }
})

t.test('the people of a campaign are sorted by name, tries and next try', async (t) => {
  const { body: campaign } = await ada.client.post('/api/v/campaign/', { body: { name: 'Renewals', paused: true } })
  const { body: lists } = await ada.client.get('/api/v/list/', { query: { campaign: campaign.slug } })
  for (const [i, name] of ['Mia', 'anna', 'Zoe'].entries()) {
    const form = new FormData()
    form.append('primary_phone', `+1415555${2000 + i}`)
    form.append('first_name', name)
    t.equal((await ada.client.post(`/api/v/prospect/${lists[0].list_uuid}/`, { form })).status, 201)
  }
  await api.store.pool.query(`update prospects set attempts = length(first_name) where first_name <> 'Zoe'`)
  await api.store.pool.query(`update prospects set next_attempt_at = now() where first_name = 'Zoe'`)
  const list = (query: Record<string, unknown>) =>
    sortedBy(`/api/v/campaign/${campaign.slug}/prospects/`, 'first_name', query)
  t.same(await list({}), ['Mia', 'anna', 'Zoe'], 'in the order they came')
  t.same(await list({ sort: 'name', order: 'asc' }), ['anna', 'Mia', 'Zoe'])
  t.same(await list({ sort: 'name' }), ['Zoe', 'Mia', 'anna'])
  t.same(await list({ sort: 'attempts' }), ['anna', 'Mia', 'Zoe'])
  t.equal((await list({ sort: 'next_attempt_at' }))[0], 'Zoe', 'what is not known comes last')
})
