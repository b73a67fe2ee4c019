import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { type ApiClient, startTestApi } from '../../../support/instance/api.ts'

const api = await startTestApi(t)
const ada = await api.signUp()
const { db } = api.store.tenant(ada.workspaceId)
const BASE = Date.UTC(2026, 0, 1)
const callRow = (i: number) => ({
  id: uuidv7(),
  agent_id: '0197f3a2-7c1e-7000-8000-000000000003',
  agent_name: `call ${i}`,
  call_type: 'web' as const,
  direction: 'inbound' as const,
  status: 'completed' as const,
  // Three of each moment.
  created_at: new Date(BASE + Math.floor(i / 3) * 1000),
  ended_at: new Date(BASE),
})

/** Reads a list to its end; `between` happens after each page. */
async function readAll(client: ApiClient, path: string, query: object, between: () => Promise<void> = async () => {}) {
  const items: Record<string, never>[] = []
  const pages: { total: number }[] = []
  let after: string | null = 'first'
  do {
    const { status, body } = await client.get(path, { query: { ...query, after } })
    if (status !== 200) throw new Error(JSON.stringify(body))
    items.push(...body.items)
    pages.push(body)
    after = body.next
    await between()
  } while (after !== null)
  return { items, pages }
}

t.test('calls that come and go while a list is read neither double nor hide others', async (t) => {
  const rows = Array.from({ length: 20 }, (_, i) => callRow(i))
  await db.insertInto('calls').values(rows).execute()
  let n = 0
  const { items, pages } = await readAll(ada.client, '/calls/logs', { page_size: 6 }, async () => {
    await db
      .insertInto('calls')
      .values({ ...callRow(1000 + n++), created_at: new Date() })
      .execute()
    // The newest of those that were read is erased.
    await db
      .deleteFrom('calls')
      .where('id', '=', rows[19 - n]!.id)
      .execute()
  })
  const names = items.map(({ agent_name }) => String(agent_name))
  t.equal(new Set(names).size, names.length, 'none twice')
  t.same(names, rows.map(({ agent_name }) => agent_name).reverse(), 'all, newest first')
  t.equal(pages[0]?.total, 20)
  t.equal(pages[1]?.total, 20, 'one came, one went')
  const page2 = await ada.client.get('/calls/logs', { query: { page: 2, page_size: 6 } })
  t.same(
    Object.keys(page2.body),
    ['items', 'total', 'page', 'page_size', 'total_pages'],
    'pages of the specification stay',
  )
})

t.test('what changed since a time comes in the order of the changes, however old it is', async (t) => {
  const [oldest] = (await ada.client.get('/calls/logs', { query: { page_size: 200 } })).body.items.slice(-1)
  const since = new Date()
  await api.store.pool.query(`update calls set summary = 'known now' where id = $1`, [oldest.call_log_id])
  await db.insertInto('calls').values(callRow(2000)).execute()
  const query = { updated_since: since.toISOString(), page_size: 1 }
  const { items } = await readAll(ada.client, '/calls/logs', query)
  t.same(
    items.map(({ agent_name, summary }) => [agent_name, summary]),
    [
      [oldest.agent_name, 'known now'],
      ['call 2000', null],
    ],
  )
  t.ok(Date.parse(String(items[0]?.updated_at)) >= since.getTime() - 1)
})

t.test('while a call runs its status alone moves updated_at; afterwards whatever changes', async (t) => {
  const call = { ...callRow(3000), status: 'in_progress' as const, ended_at: null }
  await db.insertInto('calls').values(call).execute()
  const at = async () => (await ada.client.get(`/calls/${call.id}`)).body.updated_at
  const change = (set: string) => api.store.pool.query(`update calls set ${set} where id = $1`, [call.id])
  const made = await at()
  await change('llm_input_tokens = 5')
  t.equal(await at(), made)
  await change(`status = 'completed', ended_at = now()`)
  const ended = await at()
  t.ok(ended > made)
  await change('llm_input_tokens = 6')
  t.ok((await at()) > ended)
})

t.test('prospects are read on in their order, and by change', async (t) => {
  const { body: campaign } = await ada.client.post('/api/v/campaign/', { body: { name: 'Renewals', paused: true } })
  const { body: lists } = await ada.client.get('/api/v/list/', { query: { campaign: campaign.slug } })
  const add = (i: number) => {
    const form = new FormData()
    form.append('primary_phone', `+1415555${String(1000 + i)}`)
    return ada.client.post(`/api/v/prospect/${lists[0].list_uuid}/`, { form })
  }
  for (let i = 0; i < 7; i++) t.equal((await add(i)).status, 201)
  const path = `/api/v/campaign/${campaign.slug}/prospects/`
  const { items } = await readAll(ada.client, path, { page_size: 3 })
  t.same(
    items.map(({ primary_phone }) => String(primary_phone).slice(-1)),
    ['0', '1', '2', '3', '4', '5', '6'],
  )
  const since = new Date().toISOString()
  for (const i of [5, 2]) {
    await ada.client.patch(`/api/v/prospect/${String(items[i]?.uuid)}/`, { body: { resolution: 'canceled' } })
  }
  const changed = await readAll(ada.client, path, { updated_since: since, page_size: 1 })
  t.same(
    changed.items.map(({ primary_phone }) => String(primary_phone).slice(-1)),
    ['5', '2'],
  )
})

t.test('the audit log, deliveries and chats are read on, too', async (t) => {
  const { items, pages } = await readAll(ada.client, '/audit-log', { page_size: 2 })
  t.equal(items.length, pages[0]?.total)
  t.equal(new Set(items.map((item) => JSON.stringify(item))).size, items.length)
  const hook = { url: 'https://example.com/hook', types: ['call.*'] }
  const { body: webhook } = await ada.client.post('/webhooks', { body: hook })
  for (let i = 0; i < 3; i++) await ada.client.post(`/webhooks/${webhook.webhook_id}/test`)
  const deliveries = await readAll(ada.client, `/webhooks/${webhook.webhook_id}/deliveries`, { page_size: 1 })
  t.equal(new Set(deliveries.items.map(({ delivery_id }) => delivery_id)).size, 3)
  const { body: agent } = await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'Answer.' } })
  const say = (session_id: string) =>
    ada.client.post('/chats/interaction', { body: { agent_id: agent.agent_id, message: 'Hello', session_id } })
  for (const session of ['a', 'b', 'c']) t.equal((await say(session)).status, 200)
  const sessions = async (query: object) =>
    (await readAll(ada.client, '/chats/logs', query)).items.map(({ session_id }) => session_id)
  t.same(await sessions({ page_size: 1 }), ['c', 'b', 'a'])
  const since = new Date().toISOString()
  await say('a')
  t.same(await sessions({ page_size: 1, updated_since: since }), ['a'])
})

t.test('agents, campaigns, batches, numbers and documents are filtered by when they changed', async (t) => {
  const eve = await api.signUp('Eve')
  const make = async (name: string) => {
    const { body: agent } = await eve.client.post('/agents', { body: { agent_name: name, system_prompt: 'Answer.' } })
    await eve.client.post('/api/v/campaign/', { body: { name, paused: true } })
    return agent.agent_id as string
  }
  const agentId = await make('One')
  const number = { phone_number: '+14155550171', provider: 'sim', agent_id: agentId }
  await eve.client.post('/phone-numbers', { body: number })
  const rows = [{ phone_number: '+14155550199' }]
  const batch = { agent_id: agentId, agent_phone_number: number.phone_number, rows }
  const ids: string[] = []
  for (const name of ['One', 'Two'])
    ids.push((await eve.client.post('/batch', { body: { ...batch, name } })).body.batch_id)
  await make('Two')
  await eve.client.post('/phone-numbers', { body: { ...number, phone_number: '+14155550172' } })
  const documents = `/agents/${agentId}/documents`
  const form = new FormData()
  for (const name of ['one.md', 'two.md']) form.append('files', new Blob(['# Hours']), name)
  const kept = (await eve.client.post(documents.replace('documents', 'upload'), { form })).body.documents
  const own = api.store.tenant(eve.workspaceId).db
  await own
    .updateTable('documents')
    .set({ updated_at: new Date(BASE) })
    .execute()
  const updated_since = new Date().toISOString()
  await own.updateTable('documents').set({ updated_at: new Date() }).where('id', '=', kept[0].document_id).execute()
  await eve.client.patch(`/phone-numbers/${number.phone_number}`, { body: { max_concurrent_calls: 3 } })
  await eve.client.put(`/agents/${agentId}`, { body: { temperature: 0.1 } })
  await eve.client.patch('/api/v/campaign/one/', { body: { email: 'eve@example.com' } })
  await eve.client.post(`/batch/${ids[0]}/cancel`)
  for (const [path, name, changed] of [
    ['/agents', 'agent_name', 'One'],
    ['/api/v/campaign/', 'name', 'One'],
    ['/batch', 'name', 'One'],
    ['/phone-numbers', 'phone_number', number.phone_number],
    [documents, 'filename', 'one.md'],
  ] as const) {
    const { body } = await eve.client.get(path, { query: { updated_since } })
    t.same(
      body.map((item: Record<string, string>) => item[name]),
      [changed],
      path,
    )
    const page = await eve.client.get(path, { query: { updated_since, page: 1 } })
    t.match(page.body, { total: 1 }, path)
    const { items } = await readAll(eve.client, path, { updated_since, page_size: 1 })
    t.equal(items.length, 1, path)
  }
})

t.test('numbers that nobody calls are read on, those of one moment too, while others come and go', async (t) => {
  const eve = await api.signUp('Eve')
  const at = new Date(BASE)
  const own = api.store.tenant(eve.workspaceId)
  const listed = (phone: string, created_at: Date) => ({ phone, reason: '', source: 'upload' as const, created_at })
  const ofFile = Array.from({ length: 7 }, (_, i) => `+1415555020${i}`)
  const older = Array.from({ length: 3 }, (_, i) => `+1415555010${i}`)
  await own.db
    .insertInto('do_not_call')
    .values([
      ...ofFile.map((phone) => listed(phone, at)),
      ...older.map((phone, i) => listed(phone, new Date(BASE - 1000 * (i + 1)))),
    ])
    .execute()
  let n = 0
  const { items, pages } = await readAll(eve.client, '/do-not-call', { page_size: 4 }, async () => {
    await eve.client.post('/do-not-call', { body: { phone_number: `+1415555030${n++}` } })
    if (n === 1) await eve.client.delete(`/do-not-call/${ofFile[3]}`)
  })
  t.same(
    items.map(({ phone_number }) => phone_number),
    [...ofFile, ...older],
    'a page ends within the file, and the next begins behind it, though the number there was removed',
  )
  t.equal(pages.length, 3)
  const since = { updated_since: new Date(BASE).toISOString() }
  const later = await readAll(eve.client, '/do-not-call', { ...since, q: '+141555502' })
  t.equal(later.items.length, 6, 'those of the file that are left')
  const sip = 'sip:desk@example.com'
  await eve.client.post('/do-not-call', { body: { phone_number: sip } })
  const all = await readAll(eve.client, '/do-not-call', { page_size: 1 })
  t.equal(all.items[0]?.phone_number, sip)
  t.equal(new Set(all.items.map(({ phone_number }) => phone_number)).size, pages[0]!.total + n)
})

t.test('refused calls and requests of keys are read on, and from a time', async (t) => {
  const eve = await api.signUp('Eve')
  const row = (i: number) => ({
    ...{ id: uuidv7(), at: new Date(BASE + Math.floor(i / 3) * 1000), trunk: 'main', reason: 'unknown_number' },
    ...{ detail: String(i), from_number: null, to_number: null, address: '192.0.2.1', sip_call_id: `c${i}` },
    sip_status: 404,
  })
  const rows = Array.from({ length: 8 }, (_, i) => row(i))
  await api.store.tenant(eve.workspaceId).db.insertInto('refused_calls').values(rows).execute()
  const refused = await readAll(eve.client, '/refused-calls', { page_size: 3 })
  t.same(
    refused.items.map(({ detail }) => Number(detail)),
    [7, 6, 5, 4, 3, 2, 1, 0],
  )
  const late = { updated_since: new Date(BASE + 2000).toISOString() }
  t.same((await eve.client.get('/refused-calls', { query: late })).body.total, 2)
  const { body: key } = await eve.client.post('/api-keys', { body: { name: 'CRM' } })
  const asKey = api.client()
  asKey.headers = { 'x-api-key': key.key }
  for (let i = 0; i < 7; i++)
    await asKey.get('/agents', { query: { page_size: 1 }, headers: { 'x-request-id': `r-${i}` } })
  const asked = await readAll(eve.client, '/requests', { page_size: 2 })
  t.same(
    new Set(asked.items.map(({ request_id }) => String(request_id))),
    new Set(Array.from({ length: 7 }, (_, i) => `r-${i}`)),
  )
  t.equal(asked.items.length, 7, 'none twice')
  const soon = { updated_since: new Date(Date.now() + 60_000).toISOString() }
  t.equal((await eve.client.get('/requests', { query: soon })).body.total, 0)
})

t.test('lists that are arrays are read on as pages, whatever comes meanwhile', async (t) => {
  const eve = await api.signUp('Eve')
  const agentIds: string[] = []
  const makeAgent = async (name: string) => {
    const { body } = await eve.client.post('/agents', { body: { agent_name: name, system_prompt: 'Answer.' } })
    agentIds.push(body.agent_id)
  }
  const makeCampaign = (name: string) => eve.client.post('/api/v/campaign/', { body: { name, paused: true } })
  const phone_number = '+14155550172'
  const makeBatch = (name: string) => {
    const batch = { agent_id: agentIds[0], agent_phone_number: phone_number, rows: [{ phone_number: '+14155550199' }] }
    return eve.client.post('/batch', { body: { ...batch, name } })
  }
  const addDocument = (name: string) => {
    const form = new FormData()
    form.append('files', new Blob(['Open from nine to five.']), `${name}.txt`)
    return eve.client.post(`/agents/${agentIds[0]}/upload`, { form })
  }
  const names = ['One', 'Two', 'Three', 'Four', 'Five']
  for (const name of names) await makeAgent(name)
  await eve.client.post('/phone-numbers', { body: { phone_number, provider: 'sim', agent_id: agentIds[0] } })
  for (const name of names) {
    for (const make of [makeCampaign, makeBatch, addDocument]) t.equal((await make(name)).status, 201)
  }
  const newestFirst = [...names].reverse()
  for (const [path, field, make, expected] of [
    ['/agents', 'agent_name', makeAgent, [...names, 'new', 'new']],
    ['/api/v/campaign/', 'name', makeCampaign, newestFirst],
    ['/batch', 'name', makeBatch, newestFirst],
  ] as const) {
    let n = 0
    const { items, pages } = await readAll(eve.client, path, { page_size: 2 }, async () => {
      if (n++ < 2) await make('new')
    })
    t.same(
      items.map((item) => item[field]),
      expected,
      path,
    )
    t.equal(pages[0]?.total, 5)
  }
  const documents = await readAll(eve.client, `/agents/${agentIds[0]}/documents`, { page_size: 2 })
  t.same(
    documents.items.map(({ filename }) => filename),
    names.map((name) => `${name}.txt`),
  )
})

t.test('what operators and testers list is read on, too', async (t) => {
  for (const path of ['/operator/workspaces', '/operator/users', '/operator/security-log', '/operator/audit-log']) {
    const { items, pages } = await readAll(ada.client, path, { page_size: 2 })
    t.equal(items.length, pages[0]?.total, path)
    t.equal(new Set(items.map((item) => JSON.stringify(item))).size, items.length, `${path}: none twice`)
  }
  const { body: agent } = await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'Answer.' } })
  const ids = Array.from({ length: 3 }, () => uuidv7())
  const run = { agent_id: agent.agent_id, version: 'live', total: 0 }
  await db
    .insertInto('test_runs')
    .values(ids.map((id) => ({ id, ...run })))
    .execute()
  const { items } = await readAll(ada.client, '/tests/runs', { page_size: 1 })
  t.same(
    items.map(({ run_id }) => run_id),
    ids.reverse(),
  )
})

t.test('a page number beside a cursor does not count', async (t) => {
  const { body } = await ada.client.get('/audit-log', { query: { after: 'first', page: 3, page_size: 1 } })
  const { body: first } = await ada.client.get('/audit-log', { query: { page_size: 1 } })
  t.same(body.items, first.items)
})

t.test('a malformed cursor, or one of another list, is refused and named', async (t) => {
  const { body } = await ada.client.get('/audit-log', { query: { page_size: 1, after: 'first' } })
  for (const after of ['abc', '', 'a'.repeat(201), body.next]) {
    const refused = await ada.client.get('/calls/logs', { query: { after } })
    t.match(refused, { status: 422, body: { detail: [{ loc: ['query', 'after'] }] } }, after.slice(0, 10))
  }
})
