import { sql } from 'kysely'
import type { Pool } from 'pg'
import { insertCall, type NewCall } from '../calls/calls.ts'
import type { Store } from '../database/database.ts'
import type { Agent, Call, PublicAccess } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** An agent open to the public, of any workspace. */
interface PublicAgent {
  workspaceId: string
  isSuspended: boolean
  agent: Agent
  access: PublicAccess
}

/** Undefined when no workspace has such an agent, or it is not public. */
export async function publicAgentById(store: Store, id: string): Promise<PublicAgent | undefined> {
  const row = await store.acrossTenants
    .selectFrom('agents')
    .innerJoin('workspaces', 'workspaces.id', 'agents.workspace_id')
    .selectAll('agents')
    .select('workspaces.suspended_at')
    .where('agents.id', '=', id)
    .where('agents.public_access', 'is not', null)
    .where('workspaces.deleted_at', 'is', null)
    .executeTakeFirst()
  if (row?.public_access == null) return undefined
  const { suspended_at, ...agent } = row
  return { workspaceId: agent.workspace_id, isSuspended: suspended_at !== null, agent, access: row.public_access }
}

const OPEN_PUBLIC_AGENTS = {
  name: 'open-public-agents',
  text: `select a.id from agents a join workspaces w on w.id = a.workspace_id
    where a.id = any($1::uuid[]) and a.public_access is not null and w.suspended_at is null and w.deleted_at is null`,
}

/** Those of the agents that strangers may talk to now. */
export async function openPublicAgents(pool: Pool, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>({ ...OPEN_PUBLIC_AGENTS, values: [ids] })
  return new Set(rows.map(({ id }) => id))
}

/**
 * Makes a web call of the agent while fewer than `most` are live; undefined when there is no room. Of those not
 * opened yet, only the ones made after `opensAfter` count. The agent's row is locked meanwhile, so that no two take the last place.
 */
export function insertPublicCall(
  tenant: Tenant,
  call: NewCall & { agent_id: string },
  most: number,
  opensAfter: Date,
): Promise<Call | undefined> {
  return tenant.db.transaction().execute(async (db) => {
    await db.selectFrom('agents').select('id').where('id', '=', call.agent_id).forUpdate().execute()
    const { live } = await db
      .selectFrom('calls')
      .select(sql<number>`count(*)`.as('live'))
      .where('agent_id', '=', call.agent_id)
      .where('call_type', '=', 'web')
      .where('ended_at', 'is', null)
      .where((eb) => eb.or([eb('status', '!=', 'queued'), eb('created_at', '>', opensAfter)]))
      .executeTakeFirstOrThrow()
    if (live >= most) return undefined
    return insertCall({ workspaceId: tenant.workspaceId, db }, call)
  })
}
