import t from 'tap'
import { makeEventPartitions } from '../../../../store/calls/call-events.ts'
import { insertCall } from '../../../../store/calls/calls.ts'
import { openObjects } from '../../../../store/objects/object-folder.ts'
import { sourceOf } from '../../../conformance/objectstore.ts'
import { startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'

const PERSON = '+14155550199'
const OTHER = '+14155550198'
const signal = AbortSignal.timeout(600_000)

async function objectsOf(t: Parameters<typeof registryWith>[0], api: TestApi) {
  return openObjects({ plugins: await registryWith(t, {}), config: api.config, publicUrl: () => api.url })
}

function call(api: TestApi, user: TestUser, fields: object = {}) {
  return insertCall(api.store.tenant(user.workspaceId), {
    agent_id: user.workspaceId,
    agent_name: 'Ada',
    call_type: 'phone',
    direction: 'outbound',
    status: 'completed',
    to_number: PERSON,
    ...fields,
  })
}

t.test('an Admin deletes a call that is over, with its recording; nobody else does', async (t) => {
  const api = await startTestApi(t)
  const objects = await objectsOf(t, api)
  const [ada, eve] = [await api.signUp(), await api.signUp('Eve')]
  const developer = await api.member(ada, 'developer')
  const key = `recordings/${ada.workspaceId}/x.wav`
  await objects.put(key, sourceOf(Buffer.from('a voice')), 'audio/wav', signal)
  const over = await call(api, ada, { recording_key: key })
  const running = await call(api, ada, { status: 'in_progress' })
  const remove = async (user: TestUser, id: string) => {
    const { status, body } = await user.client.delete(`/calls/${id}`)
    return [status, body.detail]
  }
  t.same(await remove(developer, over.id), [403, 'Admin access required'])
  t.same(await remove(eve, over.id), [404, 'Call log not found'])
  t.match(await remove(ada, running.id), [409, /is not over/])
  t.same(await remove(ada, over.id), [200, 'Call deleted'])
  t.same(await remove(ada, over.id), [404, 'Call log not found'])
  t.equal(await objects.get(key, signal), undefined)
  t.equal((await ada.client.get('/calls/logs')).body.total, 1)
  t.equal((await ada.client.get('/reports/call-summary?fields=total_calls')).body.total_calls, 1)
})

t.test('a person is erased everywhere by their number, and nobody else is', async (t) => {
  const api = await startTestApi(t)
  const objects = await objectsOf(t, api)
  const [ada, eve] = [await api.signUp(), await api.signUp('Eve')]
  const agent = await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
  const { agent_id } = agent.body
  await ada.client.post('/phone-numbers', { body: { phone_number: '+14155550100', provider: 'sim', agent_id } })
  const key = `recordings/${ada.workspaceId}/x.wav`
  await objects.put(key, sourceOf(Buffer.from('a voice')), 'audio/wav', signal)
  await call(api, ada, { recording_key: key })
  await call(api, ada, { direction: 'inbound', from_number: PERSON, to_number: '+14155550100' })
  const kept = await call(api, ada, { to_number: OTHER })
  const ofEve = await call(api, eve)
  for (const session_id of [PERSON, 'somebody else']) {
    await ada.client.post('/chats/interaction', { body: { agent_id, message: 'Hi', session_id } })
  }
  const form = new FormData()
  form.append('file', new Blob([`phone_number,name\n${PERSON},Grace Hopper\n${OTHER},Eve\n`]), 'a.csv')
  for (const [name, value] of [
    ['name', 'b'],
    ['agent_id', agent_id],
    ['agent_phone_number', '+14155550100'],
  ]) {
    form.append(name!, value!)
  }
  const batch = await ada.client.post('/batch/upload', { form })
  const { body: campaign } = await ada.client.post('/api/v/campaign/', { body: { name: 'C', agent_id, paused: true } })
  const prospect = new FormData()
  prospect.append('primary_phone', PERSON)
  prospect.append('first_name', 'Grace')
  const [list] = (await ada.client.get(`/api/v/list/?campaign=${campaign.slug}`)).body
  t.equal((await ada.client.post(`/api/v/prospect/${list.list_uuid}/`, { form: prospect })).status, 201)

  const member = await api.member(ada, 'developer')
  t.equal((await member.client.post('/privacy/erase', { body: { phone_number: PERSON } })).status, 403)
  const erased = await ada.client.post('/privacy/erase', { body: { phone_number: '+1 (415) 555-0199' } })
  t.same(
    [erased.status, erased.body],
    [200, { calls: 2, recordings: 1, chats: 1, batch_rows: 1, prospects: 1, calls_running: 0 }],
  )
  t.equal(await objects.get(key, signal), undefined)
  const { items } = (await ada.client.get('/calls/logs')).body
  t.same(
    items.map((item: { call_log_id: string }) => item.call_log_id),
    [kept.id],
  )
  t.equal((await eve.client.get(`/calls/${ofEve.id}`)).status, 200, 'another workspace keeps its own')
  const rows = await ada.client.get(`/batch/${batch.body.batch_id}/items`)
  t.notMatch(rows.text, /Hopper|5550199/)
  t.match(rows.text, OTHER)
  t.equal((await ada.client.get('/chats/logs')).body.total, 1)
  // Of every table that holds text, none says the number or the name any more.
  const { pool } = api.store
  const { rows: tables } = await pool.query(`select c.table_name as name from information_schema.columns c
    join information_schema.tables using (table_schema, table_name)
    where c.column_name = 'workspace_id' and table_type = 'BASE TABLE' and table_schema = 'public'`)
  for (const { name } of [...tables, { name: 'batch_rows' }, { name: 'prospect_upload_rows' }]) {
    const own = ['batch_rows', 'prospect_upload_rows'].includes(name) ? '' : `x.workspace_id = '${ada.workspaceId}' and`
    const said = await pool.query(
      `select from ${name} x where ${own} (x::text like '%4155550199%' or x::text like '%Hopper%')`,
    )
    t.equal(said.rowCount, name === 'users' ? 1 : 0, name)
  }
})

t.test('a person is erased where only a log, a variable, an answer or a path names them', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const db = api.store.tenant(ada.workspaceId).db
  await call(api, ada, { to_number: OTHER, dynamic_variables: JSON.stringify({ callback: PERSON }) })
  const transferred = await call(api, ada, { to_number: OTHER })
  const kept = await call(api, ada, { to_number: OTHER })
  const at = new Date().toISOString()
  await makeEventPartitions(api.store, Date.now())
  for (const [callId, to] of [
    [transferred.id, PERSON],
    [kept.id, OTHER],
  ]) {
    const events = JSON.stringify([{ seq: 0, at, type: 'transfer_started', to, mode: 'blind' }])
    await api.store.pool.query(
      `insert into call_events (workspace_id, call_id, first_seq, last_seq, at, events) values ($1, $2, 0, 0, $3, $4)`,
      [ada.workspaceId, callId, at, events],
    )
  }
  const { body: hook } = await ada.client.post('/webhooks', {
    body: { url: 'https://crm.example.com/hook', types: ['call.*'] },
  })
  const delivery = { webhook_id: hook.webhook_id, event_id: hook.webhook_id, event_at: new Date(), type: 'call.ended' }
  await db
    .insertInto('webhook_deliveries')
    .values({ ...delivery, response_body: `{"seen":"${PERSON}"}` } as never)
    .execute()
  await api.store.pool.query(
    `insert into audit_log (id, workspace, actor_kind, actor_name, action, resource, address, request_id)
      values (gen_random_uuid(), $1, 'user', 'ada', 'DELETE /do-not-call/{phone_number}', $2, '', 'r')`,
    [ada.workspaceId, `/do-not-call/${encodeURIComponent(PERSON)}`],
  )
  const key = await api.keyClient(ada, ['numbers'])
  await key.get('/phone-numbers')

  const erased = await ada.client.post('/privacy/erase', { body: { phone_number: PERSON } })
  t.match(erased.body, { calls: 2, calls_running: 0 })
  const { items } = (await ada.client.get('/calls/logs')).body
  t.same(
    items.map((item: { call_log_id: string }) => item.call_log_id),
    [kept.id],
  )
  for (const table of ['calls', 'call_events', 'webhook_deliveries', 'audit_log']) {
    const said = await api.store.pool.query(`select from ${table} x where x::text like '%4155550199%'`)
    t.equal(said.rowCount, 0, table)
  }
  const change = `update audit_log set actor_name = 'x'`
  await t.rejects(api.store.pool.query(change), /append-only/)
  await t.rejects(
    api.store.global.transaction().execute(async (trx) => {
      await trx.updateTable('audit_log').set({ resource: 'x' }).execute()
    }),
    /append-only/,
  )
})

t.test('the audit log does not say whose number was put on or taken off the do-not-call list', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  await ada.client.post('/do-not-call', { body: { phone_number: PERSON } })
  t.equal((await ada.client.delete(`/do-not-call/${PERSON}`)).status, 200)
  const { items } = (await ada.client.get('/audit-log')).body
  t.match(items[0], { action: 'DELETE /do-not-call/{phone_number}', resource: '/do-not-call/{phone_number}' })
  const said = await api.store.pool.query(`select from audit_log x where x::text like '%4155550199%'`)
  t.equal(said.rowCount, 0)
})
