import { sql } from 'kysely'
import t from 'tap'
import { EmbeddedVectors } from '../../../../plugins/embedded-vectors/embedded-vectors.ts'
import { CarrierFault } from '../../../../runtime/plugin-sdk/telephony/carrier.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { insertCall } from '../../../../store/calls/calls.ts'
import { vectorShelf } from '../../../../store/knowledge/vector-blob-store.ts'
import { openObjects } from '../../../../store/objects/object-folder.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { HANGUP_CHANNEL, hangupOrderOf } from '../../../../store/redis/hangup.ts'
import { purgeWorkspace, TABLES_OF_A_WORKSPACE } from '../../../../store/workspaces/workspace-deletion.ts'
import { startWorkspaceDeletion } from '../../../../workers/workspaces/start.ts'
import { sourceOf } from '../../../conformance/objectstore.ts'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'

const api = await startTestApi(t)
const log = createLogger({ level: 'silent', name: 'test' })
const redis = await createRedis(api.redisUrl, log)
t.teardown(() => redis.destroy())

async function rowsOf(workspaceId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of TABLES_OF_A_WORKSPACE) {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from ${sql.table(table)} where workspace_id = ${workspaceId}`.execute(
      api.store.acrossTenants,
    )
    counts[table] = rows[0]?.n ?? 0
  }
  return counts
}

/** A workspace with an agent, a key, a document and calls; returns the agent's id. */
async function furnish(owner: TestUser): Promise<string> {
  const agent = await owner.client.post('/agents', { body: { agent_name: 'Reception', system_prompt: 'Be brief.' } })
  await api.keyClient(owner)
  const form = new FormData()
  form.append('files', new Blob(['Open from nine to five.'], { type: 'text/plain' }), 'hours.txt')
  await owner.client.post(`/agents/${agent.body.agent_id}/upload`, { form })
  const tenant = api.store.tenant(owner.workspaceId)
  for (const status of ['completed', 'in_progress'] as const) {
    const call = await insertCall(tenant, {
      agent_id: agent.body.agent_id,
      agent_name: 'Reception',
      call_type: 'web',
      direction: 'inbound',
      status,
    })
    const turn = { call_id: call.id, seq: 0, role: 'user', text: 'Hello', start_ms: 0, end_ms: 500 } as const
    await tenant.db.insertInto('call_turns').values(turn).execute()
  }
  return agent.body.agent_id
}

t.test('the list holds every table that has a workspace', async (t) => {
  const { rows } = await sql<{ name: string }>`
    select c.table_name as name from information_schema.columns c join information_schema.tables using (table_schema, table_name)
    join pg_class on oid = to_regclass(quote_ident(c.table_name)) and not relispartition
    where c.column_name = 'workspace_id' and c.table_schema = 'public' and table_type = 'BASE TABLE'`.execute(
    api.store.acrossTenants,
  )
  t.strictSame(rows.map((row) => row.name).sort(), [...TABLES_OF_A_WORKSPACE].sort())
})

t.test('a workspace that is not deleted can not be purged', async (t) => {
  const owner = await api.signUp()
  await t.rejects(purgeWorkspace(api.store, owner.workspaceId, AbortSignal.timeout(60_000)), /is not deleted/)
})

t.test('a deleted workspace is gone at once and its rows soon, the neighbour keeps everything', async (t) => {
  const [owner, neighbour] = [await api.signUp(), await api.signUp()]
  const agentId = await furnish(owner)
  await furnish(neighbour)
  const before = await rowsOf(neighbour.workspaceId)
  t.ok(before.calls === 2 && before.documents === 1 && before.memberships === 1, 'there is something to keep')
  const hungUp: string[] = []
  const listener = redis.duplicate()
  await listener.connect()
  await listener.subscribe(HANGUP_CHANNEL, (message) => hungUp.push(hangupOrderOf(message).callId))
  t.teardown(() => listener.destroy())

  t.equal((await owner.client.delete(`/workspaces/${owner.workspaceId}`)).status, 200)
  t.equal((await owner.client.get(`/agents/${agentId}`)).status, 403, 'nobody is in it any more')

  const objects = await openObjects({
    plugins: await registryWith(t, {}),
    config: api.config,
    publicUrl: () => api.url,
  })
  const vectors = new EmbeddedVectors(vectorShelf(api.store), 1 << 20)
  const numbers = ['+14155550141', '+14155550142']
  for (const number of numbers) {
    const bought = { phone_number: number, provider: 'sim', agent_id: agentId, trunk: null }
    await api.store.tenant(owner.workspaceId).db.insertInto('phone_numbers').values(bought).execute()
  }
  const asked: string[] = []
  let isAway = true
  const releaseNumber = async (number: string, provider: string) => {
    asked.push(number)
    if (number === numbers[1] && isAway) throw new CarrierFault('try again later')
    t.equal(provider, 'sim')
  }
  const key = `recordings/${owner.workspaceId}/call.wav`
  await objects.put(key, sourceOf(Buffer.from('a voice')), 'audio/wav', AbortSignal.timeout(60_000))
  await api.store.tenant(owner.workspaceId).db.updateTable('calls').set({ recording_key: key }).execute()
  const deletion = startWorkspaceDeletion({
    store: api.store,
    redis,
    objects,
    vectors,
    releaseNumber,
    log,
    sweepIntervalMs: 50,
  })
  t.teardown(() => deletion.stop(1000))
  const gone = async () =>
    (await api.store.global.selectFrom('workspaces').select('id').where('id', '=', owner.workspaceId).execute())
      .length === 0
  while ((await rowsOf(owner.workspaceId)).calls !== 0) await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal((await rowsOf(owner.workspaceId)).phone_numbers, 1, 'what its carrier has not taken back is not forgotten')
  isAway = false
  while (!(await gone())) await new Promise((resolve) => setTimeout(resolve, 20))
  t.strictSame(
    Object.values(await rowsOf(owner.workspaceId)),
    TABLES_OF_A_WORKSPACE.map(() => 0),
  )
  t.equal(await objects.get(key, AbortSignal.timeout(60_000)), undefined, 'nobody can listen to its calls')
  t.same(
    asked.slice(0, 3),
    [numbers[0], numbers[1], numbers[1]],
    'each number is given back, once its carrier takes it',
  )
  t.equal(new Set(hungUp).size, 1, 'its live call is hung up')
  t.strictSame(await rowsOf(neighbour.workspaceId), before)
})

t.test('a deletion that was broken off is finished by the next', async (t) => {
  const owner = await api.signUp()
  await furnish(owner)
  await owner.client.delete(`/workspaces/${owner.workspaceId}`)
  const aborted = new AbortController()
  aborted.abort()
  await t.rejects(purgeWorkspace(api.store, owner.workspaceId, aborted.signal))
  t.ok(await purgeWorkspace(api.store, owner.workspaceId, AbortSignal.timeout(60_000)))
  t.equal(await purgeWorkspace(api.store, owner.workspaceId, AbortSignal.timeout(60_000)), 0)
})
