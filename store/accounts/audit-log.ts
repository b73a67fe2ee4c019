import { sql } from 'kysely'
import type { Pool } from 'pg'
import { uuidv7 } from 'uuidv7'
import type { Store } from '../database/database.ts'
import type { ListPart } from '../database/list-place.ts'
import type { AuditLogTable } from '../database/schema.ts'

/** Who did what to which resource, when and from where. Rows are only ever added; the database refuses the rest. */

export interface AuditEntry {
  /** The workspace it was done in or to; null: the installation. */
  workspaceId: string | null
  actor: { kind: AuditLogTable['actor_kind']; id: string | null; name: string }
  /** Method and path of the endpoint, or the command. */
  action: string
  /** The path as it was asked for, or what a command was about. */
  resource: string
  /** Names of the fields that were sent and values that are no secret. */
  detail: Readonly<Record<string, unknown>>
  address: string
  requestId: string
}

export type AuditRow = Omit<AuditLogTable, 'at' | 'detail'> & { at: Date; detail: Record<string, unknown> }

/** The audited change is flushed already; the response doesn't wait for the entry's own flush. */
const INSERT = {
  name: 'audit',
  text: `insert into audit_log (id, workspace, actor_kind, actor_id, actor_name, action, resource, detail, address, request_id)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
}

/** Resolves once the entry is on the disk: it survives a power cut. */
export async function writeAudit(pool: Pool, entry: AuditEntry): Promise<void> {
  const { workspaceId, actor, action, resource, detail, address, requestId } = entry
  await pool.query({
    ...INSERT,
    values: [
      uuidv7(),
      workspaceId,
      actor.kind,
      actor.id,
      actor.name,
      action,
      resource,
      JSON.stringify(detail),
      address,
      requestId,
    ],
  })
}

/** So far back the last change of a resource is looked for: what two editors do is near the end. */
const NEWEST_ENTRIES = 1_000

/** The last change of a resource, named by its path, or of what is under it, that the workspace's newest entries know of. */
export async function lastChangeOf(
  store: Pick<Store, 'global'>,
  { workspaceId, resource }: { workspaceId: string | undefined; resource: string },
): Promise<AuditRow | undefined> {
  if (workspaceId === undefined) return undefined
  const row = await store.global
    .selectFrom((eb) =>
      eb
        .selectFrom('audit_log')
        .selectAll()
        .where('workspace', '=', workspaceId)
        .orderBy('id', 'desc')
        .limit(NEWEST_ENTRIES)
        .as('newest'),
    )
    .selectAll()
    .where(isAt(resource))
    .where('action', 'not like', 'GET %')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row as AuditRow | undefined
}

/** Without `workspaceId` the whole installation's. */
export interface AuditFilter {
  readonly workspaceId?: string | undefined
  readonly action?: string | undefined
  readonly actorId?: string | undefined
  /** A path: what was done to it and to what is under it. */
  readonly resource?: string | undefined
  readonly start?: Date | undefined
  /** Not included. */
  readonly end?: Date | undefined
}

/** Newest first. */
export async function auditPage(
  store: Pick<Store, 'global'>,
  filter: AuditFilter,
  { offset, limit, after }: ListPart,
): Promise<{ rows: AuditRow[]; total: number }> {
  const query = matching(store, filter)
  const [rows, { total }] = await Promise.all([
    (after === undefined ? query.offset(offset) : query.where('id', '<', after.id))
      .selectAll()
      .orderBy('id', 'desc')
      .limit(limit)
      .execute(),
    query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { rows: rows as AuditRow[], total }
}

const ROWS_PER_QUERY = 500

/** Newest first, a few at a time. */
export async function* eachAuditEntry(
  store: Pick<Store, 'global'>,
  filter: AuditFilter,
  signal: AbortSignal,
): AsyncGenerator<AuditRow[]> {
  let last: string | undefined
  do {
    signal.throwIfAborted()
    let query = matching(store, filter).selectAll().orderBy('id', 'desc').limit(ROWS_PER_QUERY)
    if (last !== undefined) query = query.where('id', '<', last)
    const rows = (await query.execute()) as AuditRow[]
    if (rows.length > 0) yield rows
    last = rows.length === ROWS_PER_QUERY ? rows.at(-1)?.id : undefined
  } while (last !== undefined)
}

function matching(store: Pick<Store, 'global'>, filter: AuditFilter) {
  let query = store.global.selectFrom('audit_log')
  if (filter.workspaceId !== undefined) query = query.where('workspace', '=', filter.workspaceId)
  if (filter.action !== undefined) query = query.where('action', '=', filter.action)
  if (filter.actorId !== undefined) query = query.where('actor_id', '=', filter.actorId)
  if (filter.resource !== undefined) query = query.where(isAt(filter.resource))
  if (filter.start !== undefined) query = query.where('at', '>=', filter.start)
  if (filter.end !== undefined) query = query.where('at', '<', filter.end)
  return query
}

/** The resource, or what is under it. */
const isAt = (resource: string) => sql<boolean>`(resource = ${resource} or starts_with(resource, ${`${resource}/`}))`
