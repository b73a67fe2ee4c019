import { sql } from 'kysely'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import {
  documentsOfVersion,
  settleDraft,
  UNVERSIONED_COLUMNS,
  VERSIONED_COLUMNS,
} from '../../../../store/agents/agent-versions.ts'
import {
  agentById,
  agentDetails,
  agentsHandingTo,
  insertAgent,
  modelsInUse,
  type NewAgent,
  providersInUse,
  updateAgent,
} from '../../../../store/agents/agents.ts'
import { agentsNaming } from '../../../../store/agents/agents-naming.ts'
import { setRollout } from '../../../../store/agents/rollouts.ts'
import { agentAsUsed, served } from '../../../../store/agents/served-agents.ts'
import { openStore } from '../../../../store/database/database.ts'
import type { Tenant } from '../../../../store/database/tenant.ts'
import { hasReadyDocuments } from '../../../../store/knowledge/documents.ts'
import { testDatabase } from '../../../support/instance/services.ts'

const AGENT: NewAgent = {
  agent_name: 'Reception',
  llm_provider: 'sim',
  llm_model: 'x',
  temperature: 0.7,
  system_prompt: 'Be kind.',
  first_message: 'Hello!',
  stt_provider: 'sim',
  stt_model: 'x',
  tts_provider: 'sim',
  tts_voice: 'x',
}
const ADA = { id: '0197f3a2-7c1e-7000-8000-000000000001', name: 'Ada' }

const versionsOf = async ({ db }: Tenant, agentId: string) => {
  const rows = await db
    .selectFrom('agent_versions')
    .select(['number', 'published_by', 'note', 'content'])
    .where('agent_id', '=', agentId)
    .orderBy('number')
    .execute()
  return rows.map(({ content, published_by, ...row }) => ({
    ...row,
    by: published_by?.name ?? null,
    prompt: content.system_prompt,
  }))
}

/** The tenant, and how many queries it was asked. */
function counting(tenant: Tenant) {
  let queries = 0
  const db = tenant.db.withPlugin({
    transformQuery({ node }) {
      queries++
      return node
    },
    transformResult: async ({ result }) => result,
  })
  return { ...tenant, db, asked: () => queries }
}

const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 6 })
t.teardown(() => store.close())
const workspaceId = uuidv7()
await store.global.insertInto('workspaces').values({ id: workspaceId, name: 'W', type: 'x', slug: 'w' }).execute()
const tenant = store.tenant(workspaceId)

t.test('each column of an agent is content of a version, or is named as not', async (t) => {
  const { rows } = await sql<{ name: string; fallback: string | null }>`
    select column_name as name, column_default as fallback from information_schema.columns where table_name = 'agents'`.execute(
    store.acrossTenants,
  )
  const named = [...Object.keys(VERSIONED_COLUMNS), ...UNVERSIONED_COLUMNS].sort()
  t.same(rows.map(({ name }) => name).sort(), named)
})

t.test('a change is live at once, and each change is a version', async (t) => {
  const made = await insertAgent(tenant, AGENT, ADA)
  t.equal(made.live_version, 1)
  const changed = await updateAgent(tenant, made.id, { system_prompt: 'Be brief.' }, ADA)
  t.match(changed, { live_version: 2, unpublished: false })
  await updateAgent(tenant, made.id, { system_prompt: 'Be brief.' }, ADA)
  await updateAgent(tenant, made.id, { agent_name: 'Front desk', public_access: null }, ADA)
  t.same(await versionsOf(tenant, made.id), [
    { number: 1, note: '', by: 'Ada', prompt: 'Be kind.' },
    { number: 2, note: '', by: 'Ada', prompt: 'Be brief.' },
  ])
})

t.test('with manual publishing calls go on with the live version until the draft is published', async (t) => {
  const { id } = await insertAgent(tenant, { ...AGENT, publishing: 'manual', max_duration_s: null }, ADA)
  t.match(await updateAgent(tenant, id, { system_prompt: 'Be brief.', max_duration_s: 60 }, ADA), {
    live_version: 1,
    unpublished: true,
  })
  const use = async (which: 'live' | 'draft' | number) => {
    const found = await served(store, workspaceId, id, { use: which })
    if (found === undefined || !('agent' in found)) return found
    const { system_prompt, max_duration_s, agent_version, agent_name } = found.agent
    return [system_prompt, max_duration_s, agent_version, agent_name]
  }
  t.same(await use('live'), ['Be kind.', null, 1, 'Reception'])
  t.same(await use('draft'), ['Be brief.', 60, null, 'Reception'])
  await updateAgent(tenant, id, { agent_name: 'Front desk' }, ADA)
  t.same(await use(1), ['Be kind.', null, 1, 'Front desk'], 'its name is no version’s')
  t.match(await use(7), { refused: /version 7/ })

  const live = await settleDraft(tenant, id, { by: ADA, note: 'Shorter', isAsked: true })
  t.same(live, { version: 2, unpublished: false, isNew: true })
  t.same(await use('live'), ['Be brief.', 60, 2, 'Front desk'])
  t.same(await settleDraft(tenant, id, { by: ADA, isAsked: true }), { version: 2, unpublished: false, isNew: false })
  await updateAgent(tenant, id, { system_prompt: 'Be kind.', max_duration_s: null }, ADA)
  t.match(await updateAgent(tenant, id, { system_prompt: 'Be brief.', max_duration_s: 60 }, ADA), {
    unpublished: false,
  })
  t.match(await updateAgent(tenant, id, { system_prompt: 'Be quick.' }, ADA), { unpublished: true, live_version: 2 })
  t.match(await updateAgent(tenant, id, { publishing: 'immediate' }, ADA), { unpublished: false, live_version: 3 })
})

t.test(
  'which version talks costs no query where the draft is live, and one the first time where it is not',
  async (t) => {
    const { id } = await insertAgent(tenant, AGENT, ADA)
    const queries = async () => {
      const counted = counting(tenant)
      await agentAsUsed(counted, (await agentById(counted, id))!, 'live')
      return counted.asked()
    }
    t.equal(await queries(), 1, 'the row of the agent alone')
    await updateAgent(tenant, id, { publishing: 'manual', system_prompt: 'Be brief.' }, ADA)
    t.equal(await queries(), 2)
    t.equal(await queries(), 1, 'a version never changes')
  },
)

t.test(
  'the documents of a version cost one query the first time and none in its turns, also 10,000 with long names',
  async (t) => {
    const { id } = await insertAgent(tenant, AGENT, ADA)
    await sql`
      insert into documents (id, workspace_id, agent_id, filename, format, size_bytes, status)
      select gen_random_uuid(), ${tenant.workspaceId}, ${id}, repeat('n', 250) || n, 'txt', 1, 'ready'
      from generate_series(1, 10000) n`.execute(tenant.db)
    t.match(await settleDraft(tenant, id, { by: null }), { version: 2 })
    const counted = counting(tenant)
    t.equal(await hasReadyDocuments(counted, { id, agent_version: null }), true)
    t.equal(counted.asked(), 1, 'the draft')
    t.equal(await hasReadyDocuments(counted, { id, agent_version: 2 }), true)
    t.equal(counted.asked(), 3, 'a call begins')
    t.equal((await documentsOfVersion(counted, id, 2)).size, 10_000)
    t.equal(counted.asked(), 3, 'a turn')
    t.equal(await hasReadyDocuments(counted, { id, agent_version: 2 }), true)
    t.equal(counted.asked(), 4, 'the next call')
    t.equal(await hasReadyDocuments(tenant, { id, agent_version: 1 }), false)
    await tenant.db.deleteFrom('documents').where('agent_id', '=', id).execute()
    t.equal(await hasReadyDocuments(tenant, { id, agent_version: 2 }), false)
  },
)

t.test('documents that wait for their publication cost a call no query', async (t) => {
  const { id } = await insertAgent(tenant, { ...AGENT, publishing: 'manual' }, ADA)
  const add = () =>
    sql`insert into documents (id, workspace_id, agent_id, filename, format, size_bytes, status)
      values (${uuidv7()}, ${tenant.workspaceId}, ${id}, 'hours.md', 'md', 1, 'ready')`.execute(tenant.db)
  await add()
  t.match(await settleDraft(tenant, id, { by: null, isAsked: true }), { version: 2 })
  for (let i = 0; i < 20; i++) await add()
  await documentsOfVersion(tenant, id, 2)
  const counted = counting(tenant)
  t.equal(await hasReadyDocuments(counted, { id, agent_version: 2 }), true)
  t.equal(counted.asked(), 1)
})

t.test('changes at once make versions one after the other', async (t) => {
  const { id } = await insertAgent(tenant, AGENT, ADA)
  await Promise.all(
    Array.from({ length: 8 }, (_, n) => updateAgent(tenant, id, { system_prompt: `Be number ${n}.` }, ADA)),
  )
  const versions = await versionsOf(tenant, id)
  t.same(
    versions.map(({ number }) => number),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
  t.match(await agentDetails(tenant, id), { live_version: 9, system_prompt: versions.at(-1)?.prompt })
})

t.test('what a live version or one of a rollout names is in use, whatever the draft names', async (t) => {
  const target = await insertAgent(tenant, AGENT, ADA)
  const tools = JSON.stringify([{ type: 'handoff', name: 'hand_off', to: target.id, carries: 'all' }])
  const { id } = await insertAgent(
    tenant,
    { ...AGENT, agent_name: 'Sales', publishing: 'manual', llm_provider: 'acme', llm_model: 'ends', tools },
    ADA,
  )
  const fallbacks = JSON.stringify({ TTS: [{ provider: 'acme:two', voice: 'x' }] })
  await updateAgent(tenant, id, { llm_provider: 'sim', llm_model: 'x', tools: '[]', fallbacks }, ADA)
  const inUse = async () => ({
    handing: await agentsHandingTo(tenant, target.id),
    naming: (await agentsNaming(store, 'acme')).map(({ agent }) => agent),
    hasProvider: (await providersInUse(store)).includes('acme'),
    models: (await modelsInUse(store)).filter(({ provider }) => provider === 'acme'),
  })
  const ofFirst = {
    ...{ handing: ['Sales'], naming: ['Sales'], hasProvider: true },
    models: [{ kind: 'llm', provider: 'acme', model: 'ends' }],
  }
  t.same(await inUse(), ofFirst, 'version 1 is live')
  await settleDraft(tenant, id, { by: ADA, isAsked: true })
  t.same(
    await inUse(),
    { handing: [], naming: ['Sales'], hasProvider: false, models: [] },
    'version 2 is, with its fallback',
  )
  await updateAgent(tenant, id, { fallbacks: '{}' }, ADA)
  await settleDraft(tenant, id, { by: ADA, isAsked: true })
  t.same(await inUse(), { handing: [], naming: [], hasProvider: false, models: [] })
  const rollout = {
    ...({ id: uuidv7(), seed: 'x', sticky: 'contact', guard: null, status: 'running', started_by: ADA } as const),
    started_at: '2026-01-31T09:00:00.000Z',
    split: [{ version: 3, weight: 1 }],
    rules: [{ attribute: 'country', operator: 'is', values: ['DE'], version: 1 }] as const,
  }
  await setRollout(tenant, id, rollout)
  t.same(await inUse(), ofFirst, 'a rule of the rollout gives version 1 to calls')
  await setRollout(tenant, id, { ...rollout, split: [{ version: 2, weight: 1 }], rules: [] })
  t.same((await inUse()).naming, ['Sales'], 'its split gives version 2 to calls')
  await setRollout(tenant, id, null)
  t.same((await inUse()).naming, [])
})
