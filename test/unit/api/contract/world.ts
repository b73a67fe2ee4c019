import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pino } from 'pino'
import { uuidv7 } from 'uuidv7'
import type { AnyRoute } from '../../../../api/route.ts'
import { wavHead } from '../../../../runtime/recording/wav.ts'
import { setRollout } from '../../../../store/agents/rollouts.ts'
import { insertCampaign } from '../../../../store/campaigns/campaigns.ts'
import { windowGroupOf } from '../../../../store/campaigns/window-groups.ts'
import type { AgentRollout } from '../../../../store/database/schema.ts'
import { objectPath } from '../../../../store/objects/object-folder.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { RedisSlots } from '../../../../store/redis/slots.ts'
import type { Call, TestApi, TestUser } from '../../../support/instance/api.ts'
import { campaignFields } from '../../../support/world/campaigns.ts'

/** Of the example of a marked sentence. */
const JUDGED = 'The agent repeats the day before it books.'

/** One of everything a workspace can hold, so that every path with a parameter names something that exists. */
export interface Belongings {
  readonly workspaceId: string
  readonly agentId: string
  readonly phoneNumber: string
  readonly callId: string
  readonly documentId: string
  readonly chatId: string
  readonly batchId: string
  readonly apiKeyId: string
  readonly trunkId: string
  readonly extensionId: string
  readonly campaignSlug: string
  /** Id and slug of a list, id of its upload and of its prospect. */
  readonly listId: string
  readonly memberId: string
  readonly invitationId: string
  readonly trunkHostId: string
  readonly webhookId: string
  readonly testId: string
  readonly testCaseId: string
  testRunId: string
  readonly deliveryId: string
}

let numbers = 0

/** A valid number nobody has; every test api has a database of its own. */
export function freshNumber(): string {
  return `+1415${String(5_552_000 + ++numbers)}`
}

/** Fills the workspace of an Admin with one of everything. */
export async function furnish(api: TestApi, admin: TestUser): Promise<Belongings> {
  const { workspaceId } = admin
  const headers = { 'x-workspace-id': workspaceId }
  const post = async (path: string, call: Call) => {
    const answer = await admin.client.post(path, { ...call, headers })
    if (answer.status !== 201 && answer.status !== 202)
      throw new Error(`${path} answered ${answer.status} ${answer.text}`)
    return answer.body
  }
  const agentId = (await post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })).agent_id
  const phoneNumber = freshNumber()
  await post('/phone-numbers', { body: { phone_number: phoneNumber, provider: 'sim', agent_id: agentId } })
  const apiKeyId = (await post('/api-keys', { body: { name: 'CRM' } })).id
  const rows = await insertRows(api, { workspaceId, agentId, phoneNumber })
  const campaign = await insertCampaignRows(api, { workspaceId, agentId, phoneNumber })
  const memberId = await joiner(api, workspaceId)
  const permits = await insertPermits(api, workspaceId, phoneNumber)
  const webhook = { url: 'https://example.com/patchbay', types: ['call.ended'] }
  const webhookId = (await post('/webhooks', { body: webhook })).webhook_id
  const deliveryId = (await post(`/webhooks/${webhookId}/test`, {})).delivery_id
  const definition = {
    name: 'opens',
    tags: ['booking'],
    caller: { say: ['When do you open?'] },
    expect: [{ heard: 'nine' }],
  }
  const testId = (await post('/tests', { body: { agent_id: agentId, definition } })).test_id
  // Nobody runs those of the worlds before.
  await api.store.pool.query(`update test_runs set status = 'done' where workspace_id = $1`, [workspaceId])
  const testRunId = (await post('/tests/runs', { body: { agent_id: agentId } })).run_id
  const judged = { verdict: 'pass', why: '', model: 'offline/extractive', promptVersion: 1 }
  const result = { verdict: 'pass', facts: [], judged: [{ sentence: JUDGED, ...judged }], tookMs: 0 }
  const kept = await api.store.pool.query(`update test_cases set result = $2 where run_id = $1 returning id`, [
    testRunId,
    JSON.stringify(result),
  ])
  const testCaseId = kept.rows[0].id
  return {
    workspaceId,
    agentId,
    testId,
    testCaseId,
    testRunId,
    phoneNumber,
    apiKeyId,
    memberId,
    webhookId,
    deliveryId,
    ...campaign,
    ...rows,
    ...permits,
  }
}

/** What is long to make over the API: a finished call with its recording, a read document, a chat, a batch, a trunk. */
async function insertRows(api: TestApi, of: Pick<Belongings, 'workspaceId' | 'agentId' | 'phoneNumber'>) {
  const { workspaceId, agentId, phoneNumber } = of
  const [callId, documentId, chatId, batchId, trunkId] = [uuidv7(), uuidv7(), uuidv7(), uuidv7(), uuidv7()]
  const extensionId = uuidv7()
  const { db } = api.store.tenant(workspaceId)
  const recording = `recordings/${workspaceId}/${callId}.wav`
  const path = objectPath(api.config.dataDir, recording)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, wavHead(8_000, 0))
  await db
    .insertInto('calls')
    .values({
      id: callId,
      agent_id: agentId,
      agent_name: 'Ada',
      call_type: 'web',
      direction: 'inbound',
      status: 'completed',
      recording_key: recording,
    } as never)
    .execute()
  await db
    .insertInto('call_turns')
    .values({ call_id: callId, seq: 0, role: 'user', text: 'Hello', start_ms: 0, end_ms: 900 })
    .execute()
  await db
    .insertInto('documents')
    .values({
      id: documentId,
      agent_id: agentId,
      filename: 'hours.txt',
      format: 'txt',
      size_bytes: 5,
      status: 'ready',
    } as never)
    .execute()
  await db
    .insertInto('chats')
    .values({ id: chatId, agent_id: agentId, session_id: 'lobby', last_message: 'Hello' } as never)
    .execute()
  await db
    .insertInto('batches')
    .values({
      id: batchId,
      name: 'March',
      agent_id: agentId,
      agent_phone_number: phoneNumber,
      status: 'pending',
      timezone: 'UTC',
      columns: '[]',
    } as never)
    .execute()
  await db
    .insertInto('trunks')
    .values({
      id: trunkId,
      name: trunkId,
      host: 'sip.example.com',
      transport: 'udp',
      register: false,
      allowed_addresses: '["192.0.2.0/24"]',
      codecs: '["PCMU"]',
      max_concurrent_calls: 1,
      max_calls_per_second: 1,
      countries: '[]',
    } as never)
    .execute()
  const username = `e${extensionId}`
  await db
    .insertInto('extensions')
    .values({ id: extensionId, name: username.slice(0, 24), username, password: 'sealed' } as never)
    .execute()
  return { callId, documentId, chatId, batchId, trunkId, extensionId }
}

/** A paused campaign with a list, an upload and a prospect of one id, and a number nobody calls: its own. */
async function insertCampaignRows(api: TestApi, of: Pick<Belongings, 'workspaceId' | 'agentId' | 'phoneNumber'>) {
  const tenant = api.store.tenant(of.workspaceId)
  const { db } = tenant
  const now = new Date()
  const listId = uuidv7()
  const fields = campaignFields({ name: `c ${listId}`, agent_id: of.agentId, paused: true })
  const { id, slug } = await insertCampaign(tenant, fields, now)
  const campaign_id = id
  await db
    .insertInto('prospect_lists')
    .values({ id: listId, campaign_id, slug: listId, name: 'March', created_at: now, deleted_at: null })
    .execute()
  await db
    .insertInto('prospect_uploads')
    .values({
      id: listId,
      campaign_id,
      list_id: listId,
      filename: 'a.csv',
      dedupe: true,
      columns: '["primary_phone"]',
      status: 'failed',
      error: 'The database was away',
      created_at: now,
    } as never)
    .execute()
  const group = await windowGroupOf(api.store, { zones: ['America/New_York'], regions: ['US-NY'] })
  await db
    .insertInto('prospects')
    .values({
      id: listId,
      campaign_id,
      list_id: listId,
      phone: freshNumber(),
      window_group: group.id,
      created_at: now,
    } as never)
    .execute()
  await db
    .insertInto('do_not_call')
    .values({ phone: of.phoneNumber, source: 'api', call_id: null, words: null, created_at: now })
    .execute()
  return { campaignSlug: slug, listId }
}

/** An invitation that nobody accepts, the approval of a trunk's host, and a number of a carrier account. */
async function insertPermits(api: TestApi, workspaceId: string, phoneNumber: string) {
  const [invitationId, trunkHostId, userId] = [uuidv7(), uuidv7(), uuidv7()]
  await api.store.pool.query(
    `insert into users (id, name, email, password_hash, phone_number) values ($1, 'Jean', $2, '', '+14155550123')`,
    [userId, `${userId}@example.com`],
  )
  await api.store.global
    .insertInto('invitations')
    .values({ id: invitationId, workspace_id: workspaceId, user_id: userId, role: 'member', invited_by: null })
    .execute()
  await api.store.global
    .insertInto('trunk_hosts')
    .values({ id: trunkHostId, host: `${trunkHostId}.example.com`, workspace_id: workspaceId, approved_by: null })
    .execute()
  await api.store.global
    .insertInto('carrier_numbers')
    .values({ provider: 'twilio', phone_number: phoneNumber, workspace_id: workspaceId, assigned_by: null })
    .execute()
  return { invitationId, trunkHostId }
}

/** A user who is a Member and never calls. */
async function joiner(api: TestApi, workspaceId: string): Promise<string> {
  const id = uuidv7()
  await api.store.pool.query(
    `insert into users (id, name, email, password_hash, phone_number) values ($1, 'Joan', $2, '', '+14155550123')`,
    [id, `${id}@example.com`],
  )
  await api.store.pool.query(`insert into memberships (workspace_id, user_id, role) values ($1, $2, 'member')`, [
    workspaceId,
    id,
  ])
  return id
}

/** Of a voice worker of the installation. */
const WORKER_ID = 'voice-1'

/** The route's path with the belongings in the place of its parameters. */
export function pathTo(route: AnyRoute, of: Belongings): string {
  const values: Readonly<Record<string, string>> = {
    workspace_id: of.workspaceId,
    agent_id: of.agentId,
    version: '1',
    call_log_id: of.callId,
    turn: '0',
    batch_id: of.batchId,
    chat_id: of.chatId,
    document_id: of.documentId,
    trunk_id: of.trunkId,
    extension_id: of.extensionId,
    slug: of.campaignSlug,
    list_slug: of.listId,
    uuid: of.listId,
    user_id: of.memberId,
    invitation_id: of.invitationId,
    trunk_host_id: of.trunkHostId,
    webhook_id: of.webhookId,
    test_id: of.testId,
    run_id: of.testRunId,
    case_id: of.testCaseId,
    delivery_id: of.deliveryId,
    session_id: of.memberId,
    id: of.apiKeyId,
    phone_number: of.phoneNumber,
    worker_id: WORKER_ID,
    provider: route.path.startsWith('/providers/') ? 'deepgram' : 'twilio',
    kind: 'region',
    key: '+49',
  }
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined && route.auth !== 'none') {
      throw new Error(`No belonging stands for "${name}" of ${route.path}; add it to furnish`)
    }
    return encodeURIComponent(value ?? 'nothing')
  })
}

/** A valid request to the route: its own example, with the ids of the belongings. */
export function inputTo(route: AnyRoute, of: Belongings): Call {
  const ids: Readonly<Record<string, () => string | string[]>> = {
    agent_id: () => of.agentId,
    workspace_id: () => of.workspaceId,
    agent_phone_number: () => of.phoneNumber,
    phone: () => of.phoneNumber,
    phone_number: freshNumber,
    phone_number_to_dial: freshNumber,
    primary_phone: freshNumber,
    campaign: () => of.campaignSlug,
    email: () => `${uuidv7()}@example.com`,
    session_id: uuidv7,
    // Short enough for every name there is.
    name: () => `n${uuidv7().slice(-12)}`,
    host: () => `${uuidv7()}.example.com`,
    // An address is one workspace's.
    allowed_addresses: () => [
      `2001:db8:${uuidv7()
        .slice(-12)
        .replace(/(.{4})(?=.)/g, '$1:')}::/64`,
    ],
  }
  const own = (fields: unknown): Record<string, unknown> =>
    Object.fromEntries(Object.entries((fields ?? {}) as object).map(([name, value]) => [name, ids[name]?.() ?? value]))
  const query = own(route.examples?.query) as Record<string, string>
  const example = own(route.examples?.body)
  if (route.body) return { query, body: example }
  if (route.form === undefined && route.files === undefined) return { query }
  const form = new FormData()
  for (const [name, value] of Object.entries(example)) {
    if (route.files?.[name])
      for (const text of [value].flat()) form.append(name, new Blob([String(text)]), `${name}.txt`)
    else form.append(name, String(value))
  }
  return { query, form }
}

/** Every table, and whether its rows are of workspaces. The same in every database of a test: asking costs more than a fingerprint. */
let tables: { name: string; owned: boolean }[] | undefined

/** A fingerprint of every table: of the rows of one workspace where the table has workspaces, else of all rows. */
export async function fingerprint({ store }: TestApi, workspaceId?: string): Promise<Record<string, string>> {
  const columns = `select t.table_name as name, bool_or(c.column_name = 'workspace_id') as owned
    from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
    where t.table_schema = 'public' and t.table_type = 'BASE TABLE' group by 1 order by 1`
  tables ??= (await store.pool.query<{ name: string; owned: boolean }>(columns)).rows
  const parts = tables.map(({ name, owned }) => {
    const rows = owned && workspaceId !== undefined ? `where workspace_id = '${workspaceId}'` : ''
    // Keys note when they were used, and users what they work in.
    const row = name === 'api_keys' ? `to_jsonb(t) - 'last_used_at'` : 't'
    return `select '${name}' as name, count(*) || ' rows ' || coalesce(md5(string_agg(md5((${row})::text), '' order by md5((${row})::text))), '') as print from "${name}" t ${rows}`
  })
  const { rows } = await store.pool.query<{ name: string; print: string }>(parts.join(' union all '))
  return Object.fromEntries(rows.map(({ name, print }) => [name, print]))
}

type Db = ReturnType<TestApi['store']['tenant']>['db']

const ROLLOUT: AgentRollout = {
  ...{ id: uuidv7(), seed: 's', sticky: 'contact', rules: [], split: [{ version: 1, weight: 1 }], guard: null },
  ...{ status: 'running', started_at: '2026-01-31T09:00:00.000Z', started_by: { id: '', name: '' } },
}

/** What must have happened before a request can do what it is for. */
const BEFORE: Readonly<Record<string, (db: Db, of: Belongings, api: TestApi) => Promise<unknown>>> = {
  'POST /operator/workers/{worker_id}/drain': (_, __, api) => announceWorker(api),
  'POST /batch/{batch_id}/pause': (db, of) => setBatch(db, of, 'running'),
  'POST /batch/{batch_id}/resume': (db, of) => setBatch(db, of, 'paused'),
  'GET /agents/{agent_id}/rollout': (db, of) => setRollout({ workspaceId: of.workspaceId, db }, of.agentId, ROLLOUT),
  'DELETE /agents/{agent_id}/rollout': (db, of) => setRollout({ workspaceId: of.workspaceId, db }, of.agentId, ROLLOUT),
  // The live version stays.
  'DELETE /agents/{agent_id}/versions/{version}': (db, of) =>
    db
      .updateTable('agents')
      .set({ live_version: 2 } as never)
      .where('id', '=', of.agentId)
      .execute(),
  async 'POST /batch/{batch_id}/retry'(db, of) {
    await setBatch(db, of, 'completed')
    const item = { batch_id: of.batchId, seq: 0, call_id: of.callId, status: 'failed' }
    await db
      .insertInto('batch_items')
      .values(item as never)
      .execute()
    await db.updateTable('batches').set({ total: 1, failed: 1 }).where('id', '=', of.batchId).execute()
  },
}

/** As the api node does that it is linked to. */
async function announceWorker({ redisUrl }: TestApi) {
  const redis = await createRedis(redisUrl, pino({ level: 'silent' }))
  const slots = new RedisSlots(redis, { shares: () => ({ inboundReserve: 0, workspaceShare: 1 }) })
  await slots.register({ workerId: WORKER_ID, capacity: 1, metricsUrl: 'http://127.0.0.1:1/metrics' }, 0)
  redis.destroy()
}

function setBatch(db: Db, { batchId }: Belongings, status: 'running' | 'paused' | 'completed') {
  return db.updateTable('batches').set({ status }).where('id', '=', batchId).execute()
}

/** Brings a workspace's things into the state in which this endpoint does what it is for. */
export async function prepare(api: TestApi, { method, path }: { method: string; path: string }, of: Belongings) {
  await BEFORE[`${method} ${path}`]?.(api.store.tenant(of.workspaceId).db, of, api)
}
