import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { insertCall } from '../../../../store/calls/calls.ts'
import { openObjects } from '../../../../store/objects/object-folder.ts'
import { startRetention } from '../../../../workers/retention/start.ts'
import { sourceOf } from '../../../conformance/objectstore.ts'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const signal = AbortSignal.timeout(600_000)

t.test('what a workspace keeps for some days is removed after them, everything else stays', async (t) => {
  const api = await startTestApi(t)
  const plugins = await registryWith(t, {})
  const objects = await openObjects({ plugins, config: api.config, publicUrl: () => api.url })
  const [ada, neighbour] = [await api.signUp(), await api.signUp()]
  const furnish = async (user: TestUser, daysAgo: number) => {
    const tenant = api.store.tenant(user.workspaceId)
    const endedAt = new Date(Date.now() - daysAgo * 86_400_000)
    const key = `recordings/${user.workspaceId}/${daysAgo}.wav`
    await objects.put(key, sourceOf(Buffer.from('a voice')), 'audio/wav', signal)
    const { id } = await insertCall(tenant, {
      agent_id: user.workspaceId,
      agent_name: 'Ada',
      call_type: 'phone',
      direction: 'inbound',
      status: 'completed',
      created_at: endedAt,
      ended_at: endedAt,
      summary: 'They talked.',
      recording_key: key,
    })
    const turn = { call_id: id, seq: 0, role: 'user', text: 'Hello', start_ms: 0, end_ms: 500 } as const
    await tenant.db.insertInto('call_turns').values(turn).execute()
    return { id, key }
  }
  const [fresh, old, ancient] = [await furnish(ada, 1), await furnish(ada, 20), await furnish(ada, 200)]
  const other = await furnish(neighbour, 200)
  const set = await ada.client.patch(`/workspaces/${ada.workspaceId}/retention`, {
    body: { recordings_days: 10, transcripts_days: 10, logs_days: 100 },
  })
  t.match(
    [set.status, set.body],
    [200, { recordings_days: 10, transcripts_days: 10, chats_days: null, logs_days: 100 }],
  )

  const job = startRetention({ store: api.store, objects, log, intervalMs: 3_600_000 })
  t.teardown(() => job.stop())
  await job.look()
  const callOf = async (user: TestUser, id: string) => {
    const { status, body } = await user.client.get(`/calls/${id}`)
    return status === 200 ? [body.transcript.length, body.summary, body.recording_url !== null] : status
  }
  const has = async (key: string) => (await objects.get(key, signal)) !== undefined
  t.same([await callOf(ada, fresh.id), await has(fresh.key)], [[1, 'They talked.', true], true])
  t.equal((await ada.client.get(`/calls/${old.id}`)).body.recording_state, 'deleted')
  t.same([await callOf(ada, old.id), await has(old.key)], [[0, null, false], false], 'the call itself stays')
  t.same([await callOf(ada, ancient.id), await has(ancient.key)], [404, false])
  t.same([await callOf(neighbour, other.id), await has(other.key)], [[1, 'They talked.', true], true])
})

t.test('chats, runs of tests, kept answers and used links go in their time', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const agent = await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
  for (const session_id of ['old', 'new']) {
    await ada.client.post('/chats/interaction', { body: { agent_id: agent.body.agent_id, message: 'Hi', session_id } })
  }
  const { pool } = api.store
  await pool.query(`update chats set updated_at = now() - interval '8 days' where session_id = 'old'`)
  const key = `insert into idempotency_keys (workspace_id, key, request_hash, answer, created_at) values ($1, $2, '', '{}', $3)`
  await pool.query(key, [ada.workspaceId, 'old', new Date(Date.now() - 2 * 86_400_000)])
  await pool.query(key, [ada.workspaceId, 'new', new Date()])
  const run = `insert into test_runs (id, workspace_id, agent_id, version, total, created_at) values (gen_random_uuid(), $1, $2, $3, 1, $4)`
  for (const [version, days] of [
    ['1', 91],
    ['2', 89],
  ] as const) {
    const at = new Date(Date.now() - days * 86_400_000)
    await pool.query(run, [ada.workspaceId, agent.body.agent_id, version, at])
  }
  await ada.client.patch(`/workspaces/${ada.workspaceId}/retention`, { body: { chats_days: 7 } })
  const objects = await openObjects({
    plugins: await registryWith(t, {}),
    config: api.config,
    publicUrl: () => api.url,
  })
  const job = startRetention({ store: api.store, objects, log })
  t.teardown(() => job.stop())
  await job.look()
  t.match((await ada.client.get('/chats/logs')).body, { items: [{ session_id: 'new' }], total: 1 })
  t.same((await pool.query('select key from idempotency_keys')).rows, [{ key: 'new' }])
  t.same((await pool.query('select version from test_runs')).rows, [{ version: '2' }])
})
