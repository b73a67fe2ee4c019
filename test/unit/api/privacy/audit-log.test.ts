import { parse } from 'csv-parse/sync'
import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'

t.test('the audit log is narrowed to a thing, a person and a time, and saved as a file', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const eve = await api.member(ada, 'developer')
  const made = (name: string) =>
    eve.client.post('/agents', { body: { agent_name: name, system_prompt: 'You are kind.' } })
  const [desk, other] = [(await made('=Desk')).body.agent_id, (await made('Other')).body.agent_id]
  await ada.client.delete(`/agents/${desk}`)
  const read = async (query: Record<string, string>) => {
    const page = (await ada.client.get('/audit-log', { query })).body
    const { status, text } = await ada.client.get('/audit-log/export-csv', { query })
    const rows: Record<string, string>[] = parse(text, { columns: true })
    t.same([status, rows.map(({ id }) => id)], [200, page.items.map(({ id }: { id: string }) => id)], 'file as page')
    return { page, rows }
  }
  const { page, rows } = await read({ resource: `/agents/${desk}/` })
  t.match(page.items, [{ action: 'DELETE /agents/{agent_id}' }, { detail: { agent_name: '=Desk' } }])
  t.match(rows, [{ actor_name: ada.email }, { actor_name: eve.email, resource: `/agents/${desk}` }])
  t.equal((await read({ resource: '/agents', actor_id: eve.id })).page.total, 2)
  t.equal((await read({ resource: `/agents/${other.slice(0, 8)}` })).page.total, 0, 'no part of an id')
  const [{ at }] = page.items
  const since = (await read({ resource: '/agents', start_date: at })).page
  const before = (await read({ resource: '/agents', end_date: at })).page
  t.same([since.total, before.total], [1, 2])
  t.equal((await eve.client.get('/audit-log/export-csv')).status, 403)
  const all = await ada.client.get('/operator/audit-log/export-csv', { query: { resource: '/agents' } })
  t.equal(parse(all.text, { columns: true }).length, 3, 'the operator has every workspace')
  t.equal((await eve.client.get('/operator/audit-log/export-csv')).status, 403)
})

t.test('a file of the audit log goes on behind its first five hundred rows', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  await api.store.pool.query(
    `insert into audit_log (id, workspace, actor_kind, actor_name, action, resource, address, request_id)
     select gen_random_uuid(), $1, 'user', 'Ada', 'DELETE /agents/{agent_id}', '=1+1', '', '' from generate_series(1, 1201)`,
    [ada.workspaceId],
  )
  const { text } = await ada.client.get('/audit-log/export-csv', { query: { action: 'DELETE /agents/{agent_id}' } })
  const rows: { id: string; resource: string }[] = parse(text, { columns: true })
  t.same([new Set(rows.map(({ id }) => id)).size, rows.length], [1201, 1201])
  t.equal(rows[0]?.resource, `'=1+1`, 'no formula')
})
