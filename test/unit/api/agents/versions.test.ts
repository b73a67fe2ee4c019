import { sql } from 'kysely'
import t from 'tap'
import { publishDraft } from '../../../../api/agents/publish.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { removeDeletedVersions } from '../../../../store/agents/versions-page.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const api = await startTestApi(t)

const PROMPT = 'Be kind.\nWe open at nine.\nSay goodbye.'

async function makeAgent(user: TestUser, more: object = {}): Promise<string> {
  const { status, text, body } = await user.client.post('/agents', {
    body: { agent_name: 'Ava', system_prompt: PROMPT, ...more },
  })
  if (status !== 201) throw new Error(text)
  return `/agents/${body.agent_id}`
}

t.test('the history of an agent: who changed what, and what it was', async (t) => {
  const ada = await api.signUp('Ada Lovelace')
  const path = await makeAgent(ada, { temperature: 0.7 })
  const grace = await api.member(ada, 'developer')
  await grace.client.put(path, { body: { system_prompt: PROMPT.replace('nine', 'ten') } })
  await ada.client.put(path, { body: { temperature: 0.2 } })
  const { body } = await ada.client.get(`${path}/versions`)
  t.match(body, {
    total: 3,
    items: [
      { version: 3, live: true, published_by: { name: 'Ada Lovelace' } },
      { version: 2, live: false, published_by: { name: 'Grace Hopper', id: grace.id } },
      { version: 1, live: false },
    ],
  })
  const { items, next } = (await ada.client.get(`${path}/versions`, { query: { after: 'first', page_size: 2 } })).body
  t.equal(items.length, 2)
  t.match((await ada.client.get(`${path}/versions`, { query: { after: next, page_size: 2 } })).body, {
    items: [{ version: 1 }],
    next: null,
  })
  t.match((await ada.client.get(`${path}/versions/1`)).body, {
    version: 1,
    agent: { system_prompt: PROMPT, temperature: 0.7, documents: [] },
  })
  t.match((await ada.client.get(`${path}/versions/2/diff`)).body, {
    version: 2,
    against: 1,
    changes: [
      {
        field: 'system_prompt',
        from: PROMPT,
        patch: '@@ -1,3 +1,3 @@\n Be kind.\n-We open at nine.\n+We open at ten.\n Say goodbye.',
      },
    ],
  })
  t.same((await ada.client.get(`${path}/versions/3/diff`, { query: { against: 'draft' } })).body.changes, [])
  t.same(
    (await ada.client.get(`${path}/versions/1/diff`, { query: { against: 'live' } })).body.changes.map(
      ({ field }: { field: string }) => field,
    ),
    ['temperature', 'system_prompt'],
  )
  t.same((await ada.client.get(`${path}/versions/1/diff`)).body, { version: 1, against: null, changes: [] })
  for (const wrong of ['4', '0', 'x', '99999999999']) {
    t.match(await ada.client.get(`${path}/versions/${wrong}`), { status: 404, code: 'version_not_found' })
  }
  t.match((await ada.client.get(`${path}/versions/1/diff`, { query: { against: 'yesterday' } })).status, 422)
  const eve = await api.signUp('Eve')
  for (const one of ['', '/1', '/1/diff']) {
    t.match(await eve.client.get(`${path}/versions${one}`), { status: 404, code: 'agent_not_found' })
  }
})

t.test('a draft is published with a note, once', async (t) => {
  const ada = await api.signUp('Ada Lovelace')
  const path = await makeAgent(ada, { publishing: 'manual' })
  await ada.client.put(path, { body: { temperature: 0.2 } })
  t.match((await ada.client.get(path)).body, { version: 1, unpublished_changes: true, temperature: 0.2 })
  const published = await ada.client.post(`${path}/publish`, { body: { note: 'Less chatty' } })
  t.match(published, {
    status: 200,
    body: { version: 2, live: true, note: 'Less chatty', agent: { temperature: 0.2 } },
  })
  t.match((await ada.client.get(path)).body, { version: 2, unpublished_changes: false })
  t.match((await ada.client.post(`${path}/publish`, { body: { note: 'Again' } })).body, {
    version: 2,
    note: 'Less chatty',
  })
  const member = await api.member(ada, 'member')
  t.equal((await member.client.post(`${path}/publish`, { body: {} })).status, 403)
  const key = await api.keyClient(ada, ['read', 'agents'])
  await key.put(path, { body: { temperature: 0.3 } })
  t.match((await key.post(`${path}/publish`, { body: {} })).body, { version: 3, published_by: { name: 'test' } })
})

t.test(
  'while an agent is being published nobody else publishes it, and only what was looked at goes live',
  async (t) => {
    const ada = await api.signUp('Ada Lovelace')
    const path = await makeAgent(ada, { publishing: 'manual' })
    const agentId = path.slice('/agents/'.length)
    const redis = await createRedis(api.redisUrl, log)
    t.teardown(() => redis.destroy())
    const tenant = api.store.tenant(ada.workspaceId)
    const { signal } = new AbortController()
    const by = { id: ada.id, name: 'Ada' }
    const publish = (gate: () => Promise<undefined>) =>
      publishDraft({ redis }, tenant, agentId, { by, note: '', gate }, { signal, log })

    await ada.client.put(path, { body: { temperature: 0.2 } })
    const number = await publish(async () => {
      t.match(await ada.client.post(`${path}/publish`, { body: {} }), {
        status: 409,
        code: 'publish_running',
      })
    })
    t.equal(number, 2)

    await ada.client.put(path, { body: { temperature: 0.3 } })
    await t.rejects(
      publish(async () => {
        throw new Error('a test failed')
      }),
      { message: 'a test failed' },
    )
    await t.rejects(
      publish(async () => {
        await ada.client.put(path, { body: { temperature: 0.4 } })
      }),
      { code: 'precondition_failed' },
    )
    t.match((await ada.client.get(path)).body, { version: 2, unpublished_changes: true })
    t.equal((await ada.client.post(`${path}/publish`, { body: {} })).body.version, 3)
  },
)

t.test('a version is restored; unpublished changes are given up only when asked', async (t) => {
  const ada = await api.signUp('Ada Lovelace')
  const tool = {
    type: 'http',
    name: 'orders',
    description: 'Finds orders.',
    http: { url: 'https://example.com/', headers: { authorization: 'Bearer secret' } },
  }
  const path = await makeAgent(ada, { tools: [tool], publishing: 'manual', max_duration_s: 60 })
  await ada.client.put(path, { body: { tools: [], system_prompt: 'Be brief.', max_duration_s: null } })
  await ada.client.post(`${path}/publish`, { body: {} })
  await ada.client.put(path, { body: { temperature: 1.5, agent_name: 'Iris' } })
  const refused = await ada.client.post(`${path}/versions/1/restore`)
  t.match(refused, { status: 409, code: 'draft_unpublished', body: { detail: /replace=true/ } })
  const restored = await ada.client.post(`${path}/versions/1/restore`, { query: { replace: 'true' } })
  t.match(restored.body, {
    agent_name: 'Iris',
    system_prompt: PROMPT,
    max_duration_s: 60,
    temperature: 0.7,
    version: 2,
    unpublished_changes: true,
    tools: [{ name: 'orders', http: { headers: { authorization: '********' } } }],
  })
  const { rows } = await sql<{ same: boolean }>`
    select a.tools = v.content -> 'tools' as same from agents a join agent_versions v on v.agent_id = a.id
    where a.id = ${path.slice('/agents/'.length)} and v.number = 1`.execute(api.store.acrossTenants)
  t.same(rows, [{ same: true }], 'its secrets stay sealed as they were')
  t.notMatch((await ada.client.get(`${path}/versions/1`)).text, 'secret')

  await ada.client.put(path, { body: { publishing: 'immediate' } })
  t.match((await ada.client.post(`${path}/versions/2/restore`)).body, { version: 4, unpublished_changes: false })
  t.match((await ada.client.get(`${path}/versions/4`)).body, { note: 'Version 2 restored' })
  await sql`update agent_versions set content = jsonb_set(content, '{llm_provider}', '"gone"') where number = 2`.execute(
    api.store.acrossTenants,
  )
  t.match(await ada.client.post(`${path}/versions/2/restore`), { status: 422, text: /LLM_provider/ })
})

t.test('secrets of tools that differ are named and not shown', async (t) => {
  const ada = await api.signUp('Ada Lovelace')
  const tool = (token: string) => ({
    ...{ type: 'http', name: 'orders', description: 'Finds orders.' },
    http: { url: 'https://example.com/', headers: { authorization: token } },
  })
  const path = await makeAgent(ada, { tools: [tool('Bearer first')] })
  await ada.client.put(path, { body: { tools: [tool('Bearer second')] } })
  const { body, text } = await ada.client.get(`${path}/versions/2/diff`)
  t.match(body.changes, [{ field: 'tools', secret: true }])
  t.notMatch(text, /first|second/)
})

t.test('a version that is not live is deleted, and kept until no call needs it', async (t) => {
  const ada = await api.signUp('Ada Lovelace')
  const path = await makeAgent(ada)
  const agentId = path.slice('/agents/'.length)
  await ada.client.put(path, { body: { temperature: 0.2 } })
  t.match(await ada.client.delete(`${path}/versions/2`), { status: 409, code: 'version_in_use' })
  t.equal((await ada.client.delete(`${path}/versions/1`)).status, 200)
  t.equal((await ada.client.get(`${path}/versions/1`)).status, 404)
  t.equal((await ada.client.delete(`${path}/versions/1`)).status, 404)
  t.match((await ada.client.get(`${path}/versions`)).body, { total: 1 })

  const left = async () => {
    const { db } = api.store.tenant(ada.workspaceId)
    const rows = await db.selectFrom('agent_versions').select('number').where('agent_id', '=', agentId).execute()
    return rows.map(({ number }) => number).sort()
  }
  const token = await ada.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const { call_log_id: callId } = token.body
  await sql`update calls set agent_version = 1 where id = ${callId}`.execute(api.store.acrossTenants)
  await removeDeletedVersions(api.store, 0)
  t.same(await left(), [1, 2], 'a call talks with it')
  await ada.client.post(`/calls/${callId}/hangup`)
  await removeDeletedVersions(api.store, 0)
  t.same(await left(), [2])
})

t.test('documents make versions, and a version names those that are gone', async (t) => {
  const ada = await api.signUp('Ada Lovelace')
  const path = await makeAgent(ada)
  const agentId = path.slice('/agents/'.length)
  const id = '0197f3a2-7c1e-7000-8000-0000000000d0'
  const tenant = api.store.tenant(ada.workspaceId)
  await tenant.db
    .insertInto('documents')
    .values({
      id,
      agent_id: agentId,
      filename: 'hours.md',
      format: 'md',
      size_bytes: 1,
      status: 'ready',
      error: null,
    } as never)
    .execute()
  await ada.client.put(path, { body: { temperature: 0.2 } })
  t.match((await ada.client.get(`${path}/versions/2`)).body.agent.documents, [
    { document_id: id, filename: 'hours.md', deleted: false },
  ])
  t.equal((await ada.client.delete(`${path}/documents/${id}`)).status, 200)
  t.match((await ada.client.get(`${path}/versions`)).body.items, [
    { version: 3, live: true, published_by: null },
    {},
    {},
  ])
  t.match((await ada.client.get(`${path}/versions/2`)).body.agent.documents, [{ document_id: id, deleted: true }])
  t.match((await ada.client.get(`${path}/versions/3/diff`)).body.changes, [{ field: 'documents', to: [] }])
})

t.test('two editors: who loses is told who changed what', async (t) => {
  const ada = await api.signUp('Ada Lovelace')
  const path = await makeAgent(ada)
  const grace = await api.member(ada, 'developer')
  const { headers } = await ada.client.get(path)
  const etag = headers.get('etag') ?? ''
  t.equal((await grace.client.put(path, { body: { temperature: 0.1, first_message: 'Hi.' } })).status, 200)
  const lost = await ada.client.put(path, { body: { temperature: 0.9 }, headers: { 'if-match': etag } })
  t.match(lost, { status: 412, code: 'precondition_failed' })
  t.match(lost.params, { by: grace.email, fields: 'temperature, first_message' })
  t.match(lost.body.detail, new RegExp(`${grace.email} sent temperature, first_message at 20`))
  t.not(lost.headers.get('etag'), etag)

  const seen = (await ada.client.get(path)).headers.get('etag') ?? ''
  t.equal((await ada.client.put(path, { body: { temperature: 0.1 } })).status, 200)
  t.equal((await grace.client.post(`${path}/versions/1/restore`)).status, 200)
  const restored = await ada.client.put(path, { body: { temperature: 0.9 }, headers: { 'if-match': seen } })
  t.match(restored, { status: 412, params: { by: grace.email, fields: '' } }, 'the last change was that of a version')
  t.equal((await ada.client.put(path, { body: { temperature: 0.1 } })).status, 200)
  t.match((await ada.client.get(path)).body, { temperature: 0.1 })
})

t.test('a page of 10,000 versions is read in the time of one', async (t) => {
  const ada = await api.signUp('Ada Lovelace')
  const path = await makeAgent(ada)
  const agentId = path.slice('/agents/'.length)
  await sql`
    insert into agent_versions (agent_id, workspace_id, number, content, digest)
    select agent_id, workspace_id, n, content || jsonb_build_object('system_prompt', repeat('Be kind. ', 400)), n::text
    from agent_versions, generate_series(2, 10000) n where agent_id = ${agentId}`.execute(api.store.acrossTenants)
  await sql`update agents set live_version = 10000 where id = ${agentId}`.execute(api.store.acrossTenants)
  await sql`vacuum analyze agent_versions`.execute(api.store.acrossTenants)
  const times: number[] = []
  for (const page of [1, 200, 400, 1, 200, 400]) {
    const started = performance.now()
    const { body } = await ada.client.get(`${path}/versions`, { query: { page } })
    times.push(performance.now() - started)
    t.match(body, { total: 10_000, items: { length: 25 } })
  }
  t.comment(`a page took ${times.map((ms) => ms.toFixed(1)).join(', ')} ms`)
})
