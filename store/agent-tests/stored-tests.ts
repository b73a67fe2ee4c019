import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { AgentTest } from '../../runtime/agent-tests/schema.ts'
import type { StoredTest } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Tests of agents as rows. */

export interface TestFilter {
  agentId?: string | undefined
  tag?: string | undefined
}

export interface TestContents {
  agentId: string | null
  definition: AgentTest
  source: string | null
}

/** Oldest first; those of any agent among them. */
export function listTests(tenant: Tenant, { agentId, tag }: TestFilter = {}): Promise<StoredTest[]> {
  let query = tenant.db.selectFrom('agent_tests').selectAll().orderBy('id')
  if (agentId !== undefined) {
    query = query.where((eb) => eb.or([eb('agent_id', '=', agentId), eb('agent_id', 'is', null)]))
  }
  if (tag !== undefined) query = query.where(sql<boolean>`${tag} = any(tags)`)
  return query.execute()
}

export async function countTests(tenant: Tenant): Promise<number> {
  const { count } = await tenant.db
    .selectFrom('agent_tests')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

export function storedTestById(tenant: Tenant, id: string): Promise<StoredTest | undefined> {
  return tenant.db.selectFrom('agent_tests').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function testsByIds(tenant: Tenant, ids: readonly string[]): Promise<StoredTest[]> {
  if (ids.length === 0) return []
  return tenant.db.selectFrom('agent_tests').selectAll().where('id', 'in', ids).execute()
}

export function insertTest(tenant: Tenant, contents: TestContents): Promise<StoredTest> {
  return tenant.db
    .insertInto('agent_tests')
    .values({ id: uuidv7(), ...columnsOf(contents) })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Undefined when the workspace has no such test. */
export function replaceTest(tenant: Tenant, id: string, contents: TestContents): Promise<StoredTest | undefined> {
  return tenant.db
    .updateTable('agent_tests')
    .set({ ...columnsOf(contents), updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** False when the workspace has no such test. What came of its runs stays. */
export async function deleteTest(tenant: Tenant, id: string): Promise<boolean> {
  const { numDeletedRows } = await tenant.db.deleteFrom('agent_tests').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

function columnsOf({ agentId, definition, source }: TestContents) {
  const { name, tags = [] } = definition
  return { agent_id: agentId, name, tags, definition: JSON.stringify(definition), source }
}
