import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { uuidv7 } from 'uuidv7'
import { CreateCampaign, columnsOf } from '../../api/campaigns/schema.ts'
import { compileCheck } from '../../api/schema.ts'
import { type CallingRules, loadCallingRules } from '../../runtime/dialing/rules.ts'
import { type Places, shippedPlaces } from '../../runtime/dialing/zones.ts'
import { createLogger } from '../../runtime/process/log.ts'
import { type CampaignFields, type CampaignWithLists, insertCampaign } from '../../store/campaigns/campaigns.ts'
import { windowGroupOf } from '../../store/campaigns/window-groups.ts'
import { openStore, type Store } from '../../store/database/database.ts'
import { migrate } from '../../store/database/migrate.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { type EmbeddedServices, startEmbedded } from '../../store/embedded/embedded.ts'
import { createRedis, type RedisClient } from '../../store/redis/client.ts'

/** Of states without hours of their own, but for the last, Florida's, which is closed here: nobody there may be called. */
export const AREAS = ['212', '415', '303', '404', '704', '216', '703', '201', '602', '414', '314', '718', '213', '305']
export const CLOSED_AREA = '305'
const RULES = {
  rules: [
    { region: 'US', hours: { '1-7': '00:00-24:00' }, citation: 'bench', as_of: '2026-01-01' },
    { region: 'US-FL', hours: { '1': '00:00-00:01' }, citation: 'bench', as_of: '2026-01-01' },
  ],
}

/** A Postgres and a Redis of its own, with the law as a benchmark needs it at any hour. */
export interface World {
  databaseUrl: string
  redisUrl: string
  store: Store
  redis: RedisClient
  rulesFile: string
  calling: { rules: CallingRules; places: Places }
  /** Of its services, which are started again whenever they die. */
  pids: EmbeddedServices['pids']
  stop(): Promise<void>
}

export async function startWorld(folder: string): Promise<World> {
  const log = createLogger({ level: 'error', name: 'bench' })
  const embedded = await startEmbedded({
    dataDir: join(folder, 'data'),
    log,
    postgres: true,
    redis: true,
    searchPath: process.env.PATH,
  })
  const { databaseUrl = '', redisUrl = '' } = embedded
  await migrate(databaseUrl, log)
  const store = openStore({ databaseUrl, statementTimeoutMs: 600_000 })
  const redis = await createRedis(redisUrl, log)
  const rulesFile = join(folder, 'rules.json')
  await writeFile(rulesFile, JSON.stringify(RULES))
  const rules = await loadCallingRules(rulesFile)
  const places = shippedPlaces()
  return {
    ...{ databaseUrl, redisUrl, store, redis, rulesFile, calling: { rules, places }, pids: embedded.pids },
    async stop() {
      await store.close()
      redis.destroy()
      await embedded.stop(10_000)
    },
  }
}

/** A workspace with an agent and a number of its own. */
export async function makeWorkspace(
  { store }: World,
  number: string,
  provider = 'sim',
  trunk: string | null = null,
): Promise<{ tenant: Tenant; agentId: string }> {
  const workspaceId = uuidv7()
  const tenant = store.tenant(workspaceId)
  await store.global
    .insertInto('workspaces')
    .values({ id: workspaceId, name: 'Bench', type: 'team', slug: workspaceId, deleted_at: null })
    .execute()
  return { tenant, agentId: await makeAgent(tenant, number, provider, trunk) }
}

/** An agent with a number of its own; resolves with its id. */
export async function makeAgent(
  tenant: Tenant,
  number: string,
  provider: string,
  trunk: string | null,
): Promise<string> {
  const id = uuidv7()
  const models = { llm_provider: 'l', llm_model: 'l', stt_provider: 's', stt_model: 's', tts_provider: 't' }
  const agent = { id, agent_name: 'Ada', temperature: 0, system_prompt: '', first_message: '', tts_voice: 'v' }
  await tenant.db
    .insertInto('agents')
    .values({ ...agent, ...models })
    .execute()
  await tenant.db.insertInto('phone_numbers').values({ phone_number: number, agent_id: id, provider, trunk }).execute()
  return id
}

const check = compileCheck(CreateCampaign)

export function makeCampaign(tenant: Tenant, fields: Record<string, unknown>): Promise<CampaignWithLists> {
  const input = {
    earliest_prospect_time: '00:00:00',
    latest_prospect_time: '23:59:59',
    dialer_interval: 2,
    stop_when: null,
    ...fields,
  }
  return insertCampaign(tenant, columnsOf(check(input, 'body') as never) as CampaignFields, new Date())
}

/** The nth number; all differ. */
export function numberAt(i: number): string {
  return `+1${AREAS[i % AREAS.length]}${String(2_000_000 + Math.floor(i / AREAS.length))}`
}

/** Premium numbers, which no workspace may call unless it is allowed to. */
export const REFUSED_PREFIX = '+1900'

/** Puts a prospect into a campaign whose number may not be called. */
export async function fillRefused(
  { store, calling }: World,
  tenant: Tenant,
  campaign: CampaignWithLists,
  at: number,
): Promise<void> {
  const where = calling.places.whereaboutsOf({ number: `+1${AREAS[0]}2000000` })
  const group = (await windowGroupOf(store, where)).id
  await store.pool.query(
    `insert into prospects (id, workspace_id, campaign_id, list_id, phone, variables, window_group, created_at)
     values (gen_random_uuid(), $1, $2, $3, $4, '{}', $5, now()) on conflict do nothing`,
    [tenant.workspaceId, campaign.id, campaign.lists[0]?.id, `${REFUSED_PREFIX}${2_000_000 + at}`, group],
  )
}

/**
 * Prospects in the database, as an upload leaves them; one in a hundred is on the do-not-call list. Each is there once, however often it
 * is asked for: the answer to an earlier try may have been lost.
 */
export async function fillCampaign(
  { store, calling }: World,
  tenant: Tenant,
  campaign: CampaignWithLists,
  count: number,
  from = 0,
): Promise<void> {
  const groups: number[] = []
  for (const area of AREAS) {
    const where = calling.places.whereaboutsOf({ number: `+1${area}2000000` })
    groups.push((await windowGroupOf(store, where)).id)
  }
  await store.pool.query(
    `insert into prospects (id, workspace_id, campaign_id, list_id, phone, first_name, variables, window_group, created_at)
     select md5($2::uuid::text || ':' || i)::uuid, $1, $2::uuid, $3, '+1' || ($4::text[])[1 + i % $6] || (2000000 + i / $6)::text, 'Ada',
       '{"plan": "gold"}', ($5::integer[])[1 + i % $6], now()
     from generate_series($7::integer, $7::integer + $8::integer - 1) i on conflict do nothing`,
    [tenant.workspaceId, campaign.id, campaign.lists[0]?.id, AREAS, groups, AREAS.length, from, count],
  )
  await store.pool.query(
    `insert into do_not_call (workspace_id, phone, source, created_at)
     select workspace_id, phone, 'upload', now() from (
       select workspace_id, phone, row_number() over (order by phone) as n from prospects where campaign_id = $1) p
     where n % 100 = 0 on conflict do nothing`,
    [campaign.id],
  )
}
