import { sql } from 'kysely'
import { OPEN_STATUSES } from '../calls/open-calls.ts'
import type { Store } from '../database/database.ts'
import type { ListPart } from '../database/list-place.ts'
import type { AgentContent, AgentVersion } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { contentColumns, draftOf, type Publisher, settleDraft, VERSIONED_COLUMNS } from './agent-versions.ts'

/** The versions of an agent as people read, restore and delete them. */

export type ListedVersion = Omit<AgentVersion, 'workspace_id' | 'agent_id' | 'content' | 'digest' | 'deleted_at'>

const LISTED = ['id', 'number', 'note', 'published_by', 'created_at'] as const

/** A page of the versions that are not deleted, newest first, and how many there are in all. */
export async function versionsPage(
  tenant: Tenant,
  agentId: string,
  { offset, limit, after }: ListPart,
): Promise<{ versions: ListedVersion[]; total: number }> {
  const query = tenant.db.selectFrom('agent_versions').where('agent_id', '=', agentId).where('deleted_at', 'is', null)
  const placed =
    after === undefined
      ? query.offset(offset)
      : query.where('number', '<', (eb) =>
          eb.selectFrom('agent_versions as last').select('last.number').where('last.id', '=', after.id),
        )
  const [versions, { total }] = await Promise.all([
    placed.select(LISTED).orderBy('number', 'desc').limit(limit).execute(),
    query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { versions, total }
}

/** A version with what it holds; undefined where there is none, or it is deleted. */
export function versionByNumber(
  tenant: Tenant,
  agentId: string,
  number: number,
): Promise<(ListedVersion & { content: AgentContent }) | undefined> {
  return tenant.db
    .selectFrom('agent_versions')
    .select([...LISTED, 'content'])
    .where('agent_id', '=', agentId)
    .where('number', '=', number)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** The number of the last version before this one that is not deleted; undefined: there is none. */
export async function versionBefore(tenant: Tenant, agentId: string, number: number): Promise<number | undefined> {
  const row = await tenant.db
    .selectFrom('agent_versions')
    .select('number')
    .where('agent_id', '=', agentId)
    .where('number', '<', number)
    .where('deleted_at', 'is', null)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.number
}

/** What a version of the draft would hold now. */
export async function draftContent(tenant: Tenant, agentId: string): Promise<AgentContent | undefined> {
  const { rows } = await sql<{ content: AgentContent }>`
    select content from (${draftOf(tenant.workspaceId, agentId)}) as draft`.execute(tenant.db)
  return rows[0]?.content
}

/** Those of the documents that the agent has no more. */
export async function missingDocuments(tenant: Tenant, agentId: string, content: AgentContent): Promise<string[]> {
  const ids = content.documents.map(({ id }) => id)
  if (ids.length === 0) return []
  const rows = await tenant.db
    .selectFrom('documents')
    .select('id')
    .where('agent_id', '=', agentId)
    .where('status', '=', 'ready')
    .where('id', 'in', ids)
    .execute()
  const present = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => !present.has(id))
}

/**
 * Makes the version the draft, which is published where changes are live at once. Documents stay as they are. `unpublished`: the draft
 * has changes of its own, which only `replace` gives up.
 */
export function restoreVersion(
  { workspaceId, db: all }: Tenant,
  agentId: string,
  content: AgentContent,
  { by, note, replace }: { by: Publisher; note: string; replace: boolean },
): Promise<'restored' | 'unpublished' | 'gone'> {
  return all.transaction().execute(async (db) => {
    const draft = await db
      .selectFrom('agents')
      .select('unpublished')
      .where('id', '=', agentId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (draft === undefined) return 'gone'
    if (draft.unpublished && !replace) return 'unpublished'
    const columns = Object.keys(VERSIONED_COLUMNS).map((column) => sql.ref(column))
    await sql`
      update agents set (${sql.join(columns)}, updated_at) = (
        select ${sql.join(columns.map((column) => sql`version.${column}`))}, now()
        from jsonb_populate_record(null::agents, ${JSON.stringify(contentColumns(content))}::jsonb) as version)
      where id = ${agentId} and workspace_id = ${workspaceId}`.execute(db)
    await settleDraft({ workspaceId, db }, agentId, { by, note })
    return 'restored'
  })
}

/** Hides the version. What it holds stays for the calls that it serves. False: there is none, or it is the live one. */
export async function deleteVersion(tenant: Tenant, agentId: string, number: number, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('agent_versions')
    .set({ deleted_at: at })
    .where('agent_id', '=', agentId)
    .where('number', '=', number)
    .where('deleted_at', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('agents')
            .select('agents.id')
            .whereRef('agents.id', '=', 'agent_versions.agent_id')
            .whereRef('agents.live_version', '=', 'agent_versions.number'),
        ),
      ),
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Removes versions that were deleted so long ago, once no call talks with them; returns how many. */
export async function removeDeletedVersions(store: Pick<Store, 'acrossTenants'>, olderThanS: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from agent_versions v where v.deleted_at <= now() - make_interval(secs => ${olderThanS}) and not exists (
      select from calls c where c.agent_id = v.agent_id and c.agent_version = v.number
        and c.status in (${sql.join(OPEN_STATUSES)}))`.execute(store.acrossTenants)
  return Number(numAffectedRows)
}
