import { type ExpressionBuilder, type Insertable, sql, type Updateable } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { uuidv7 } from 'uuidv7'
import { cancelBatchesOf } from '../batches/batch-control.ts'
import type { Store } from '../database/database.ts'
import type { ListPart } from '../database/list-place.ts'
import type { Agent, AgentsTable, AllTables } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { type Publisher, settleDraft } from './agent-versions.ts'
import { contentsInUse } from './contents-in-use.ts'

/** An agent with what belongs to it. */
export type AgentDetails = Agent & { phone_numbers: string[]; documents: number }

export type NewAgent = Omit<Insertable<AgentsTable>, 'id' | 'created_at' | 'updated_at'>
export type AgentChanges = Omit<Updateable<AgentsTable>, 'id' | 'created_at' | 'updated_at'>

/** Newest last; all of them without a window. */
export async function listAgents(tenant: Tenant, part?: ListPart, updatedSince?: Date): Promise<AgentDetails[]> {
  let query = tenant.db
    .selectFrom('agents')
    .selectAll('agents')
    .select((eb) => [numbersOf(eb), documentsOf(tenant)])
    .orderBy('agents.id')
  if (updatedSince !== undefined) query = query.where('agents.updated_at', '>=', updatedSince)
  if (part?.after !== undefined) query = query.where('agents.id', '>', part.after.id)
  const rows = await (part ? query.offset(part.offset).limit(part.limit) : query).execute()
  return rows.map(details)
}

export async function countAgents(tenant: Tenant, updatedSince?: Date): Promise<number> {
  let query = tenant.db.selectFrom('agents')
  if (updatedSince !== undefined) query = query.where('updated_at', '>=', updatedSince)
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  return count
}

export function agentById(tenant: Tenant, id: string): Promise<Agent | undefined> {
  return tenant.db.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function agentDetails(tenant: Tenant, id: string): Promise<AgentDetails | undefined> {
  const row = await tenant.db
    .selectFrom('agents')
    .selectAll('agents')
    .select((eb) => [numbersOf(eb), documentsOf(tenant)])
    .where('agents.id', '=', id)
    .executeTakeFirst()
  return row && details(row)
}

/** Whether the workspace has the agent. */
export async function hasAgent(tenant: Tenant, id: string): Promise<boolean> {
  const row = await tenant.db.selectFrom('agents').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

/** Of these agents those that the workspace has, with their names. */
export async function agentNamesOf(tenant: Tenant, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await tenant.db.selectFrom('agents').select(['id', 'agent_name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, agent_name }) => [id, agent_name]))
}

/** The names of the agents that hand their callers to this one, as drafts or in versions that calls get; itself aside. */
export async function agentsHandingTo({ workspaceId, db }: Tenant, id: string): Promise<string[]> {
  const handsTo = JSON.stringify([{ type: 'handoff', to: id }])
  const { rows } = await sql<{ agent_name: string }>`
    select distinct agent_name from (${contentsInUse(workspaceId)}) as used
    where id <> ${id} and content -> 'tools' @> ${handsTo}::jsonb
    order by agent_name limit 20`.execute(db)
  return rows.map(({ agent_name }) => agent_name)
}

/** The agent a registered number reaches. */
export function agentByNumber(tenant: Tenant, phoneNumber: string): Promise<Agent | undefined> {
  return tenant.db
    .selectFrom('phone_numbers')
    .innerJoin('agents', 'agents.id', 'phone_numbers.agent_id')
    .selectAll('agents')
    .where('phone_numbers.phone_number', '=', phoneNumber)
    .executeTakeFirst()
}

/** Makes the agent with its first version. */
export function insertAgent(
  { workspaceId, db: all }: Tenant,
  agent: NewAgent,
  by: Publisher | null = null,
): Promise<AgentDetails> {
  return all.transaction().execute(async (db) => {
    const row = await db
      .insertInto('agents')
      .values({ ...agent, id: uuidv7() })
      .returningAll()
      .executeTakeFirstOrThrow()
    const live = await settleDraft({ workspaceId, db }, row.id, { by, isAsked: true })
    return { ...row, live_version: live?.version ?? null, phone_numbers: [], documents: 0 }
  })
}

/** Changes the given fields of the draft, and publishes it where that is to be at once. Undefined when the workspace has no such agent. */
export async function updateAgent(
  tenant: Tenant,
  id: string,
  changes: AgentChanges,
  by: Publisher | null = null,
): Promise<AgentDetails | undefined> {
  const { workspaceId } = tenant
  await tenant.db.transaction().execute(async (db) => {
    await db
      .updateTable('agents')
      .set({ ...changes, updated_at: sql<Date>`now()` })
      .where('id', '=', id)
      .execute()
    await settleDraft({ workspaceId, db }, id, { by })
  })
  return agentDetails(tenant, id)
}

/** False when the workspace has no such agent. Its calls stay, with its name; its batches are canceled. */
export function deleteAgent(tenant: Tenant, id: string, at: Date): Promise<boolean> {
  return tenant.db.transaction().execute(async (db) => {
    await cancelBatchesOf({ workspaceId: tenant.workspaceId, db }, id, at)
    const { numDeletedRows } = await db.deleteFrom('agents').where('id', '=', id).executeTakeFirst()
    return numDeletedRows > 0n
  })
}

function numbersOf(eb: ExpressionBuilder<AllTables, 'agents'>) {
  return jsonArrayFrom(
    eb
      .selectFrom('phone_numbers')
      .select('phone_numbers.phone_number')
      .whereRef('phone_numbers.agent_id', '=', 'agents.id')
      .orderBy('phone_numbers.phone_number'),
  ).as('numbers')
}

function documentsOf(tenant: Tenant) {
  return sql<number>`(select count(*) from documents d
    where d.agent_id = agents.id and d.workspace_id = ${tenant.workspaceId})`.as('documents')
}

function details<T extends { numbers: { phone_number: string }[] }>({ numbers, ...agent }: T) {
  return { ...agent, phone_numbers: numbers.map(({ phone_number }) => phone_number) }
}

/** The models that agents of any workspace name, as drafts or in versions that calls get; voices are chosen without one. */
export async function modelsInUse(store: Store): Promise<{ kind: 'llm' | 'stt'; provider: string; model: string }[]> {
  const { rows } = await sql<{ kind: 'llm' | 'stt'; provider: string; model: string }>`
    select distinct kind, content ->> (kind || '_provider') as provider, content ->> (kind || '_model') as model
    from (${contentsInUse(null)}) as used, unnest('{llm,stt}'::text[]) as kind`.execute(store.acrossTenants)
  return rows
}

/** The speech and language providers that agents of any workspace name, as drafts or in versions that calls get. */
export async function providersInUse(store: Store): Promise<string[]> {
  const { rows } = await sql<{ provider: string }>`
    select distinct content ->> (kind || '_provider') as provider
    from (${contentsInUse(null)}) as used, unnest('{llm,stt,tts}'::text[]) as kind`.execute(store.acrossTenants)
  return rows.map(({ provider }) => provider)
}
