import { type Kysely, sql } from 'kysely'
import type { Store } from '../database/database.ts'
import type { AllTables } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import type { OperatorEvent, WorkspaceEventInput } from './workspace-event-input.ts'

/** What happens in workspaces, in the order in which all readers see it. Most of it is inserted by triggers. */

/** Days whose partitions are made ahead. */
const DAYS_AHEAD = 7
const DAY_MS = 86_400_000
const PARTITION = /^workspace_events_(\d{4})_(\d{2})_(\d{2})$/
/** Any number, the same in every version. */
const PARTITION_LOCK = 7_242_822_914
/** A place that nothing comes before. */
const FIRST: FeedPosition = { transaction: '0', seq: 0 }

/** Where an event stands among all of the installation. */
export interface FeedPosition {
  transaction: string
  seq: number
}

export interface StoredEvent extends FeedPosition {
  id: string
  workspaceId: string
  type: string
  subject: string | null
  agentId: string | null
  data: Record<string, unknown>
  createdAt: Date
}

export const placeText = ({ transaction, seq }: FeedPosition): string => `${transaction}-${seq}`

/** Undefined for an invalid cursor. */
export function parsePlace(text: string): FeedPosition | undefined {
  const [, transaction, seq] = /^(\d{1,18})-(\d{1,15})$/.exec(text) ?? []
  return transaction === undefined ? undefined : { transaction, seq: Number(seq) }
}

/** The place after all that was committed. */
export async function lastPlace(store: Pick<Store, 'acrossTenants'>): Promise<FeedPosition> {
  const { rows } = await sql<FeedPosition>`
    select transaction::text, seq from workspace_events
    where transaction < pg_snapshot_xmin(pg_current_snapshot()) and created_at > now() - interval '1 day'
    order by workspace_events.transaction desc, seq desc limit 1`.execute(store.acrossTenants)
  return rows[0] ?? FIRST
}

/** Where the event of this id stands; undefined where the workspace has none. Its id says when it was written. */
export async function placeOfEvent(tenant: Tenant, id: string): Promise<FeedPosition | undefined> {
  const { rows } = await sql<FeedPosition>`
    select transaction::text, seq from workspace_events where workspace_id = ${tenant.workspaceId} and id = ${id}
      and created_at between ${new Date(timeOf(id) - DAY_MS)} and ${new Date(timeOf(id) + DAY_MS)}`.execute(tenant.db)
  return rows[0]
}

/** When a UUIDv7 was made. */
export const timeOf = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16)

/** The place before the first event since then; undefined where there is none. */
export async function placeBefore(tenant: Tenant, since: Date): Promise<FeedPosition | undefined> {
  const { rows } = await sql<FeedPosition>`
    select transaction::text, seq from workspace_events w
    where workspace_id = ${tenant.workspaceId} and created_at >= ${since}
    order by w.transaction, w.seq limit 1`.execute(tenant.db)
  return rows[0] && { ...rows[0], seq: rows[0].seq - 1 }
}

/** Whether events after this place may have been removed. */
export async function isPlaceGone(store: Pick<Store, 'acrossTenants'>, place: FeedPosition): Promise<boolean> {
  if (place.transaction === FIRST.transaction) return false
  const { rows } = await sql<{ gone: boolean }>`
    select (transaction, seq) > (${place.transaction}::xid8, ${place.seq}::bigint) as gone from workspace_events
    order by workspace_events.transaction, seq limit 1`.execute(store.acrossTenants)
  return rows[0]?.gone === true
}

/**
 * For each reader the events of its workspace after its place, in order, at most so many each. None is skipped: what is
 * still being written in a transaction that began before the last one here comes later.
 */
export async function eventsAfter(
  store: Pick<Store, 'acrossTenants'>,
  readers: readonly { workspaceId: string; place: FeedPosition }[],
  limitEach: number,
): Promise<StoredEvent[][]> {
  const found: StoredEvent[][] = readers.map(() => [])
  if (readers.length === 0) return found
  const { rows } = await sql<StoredEvent & { n: number }>`
    select r.n::integer, e.* from unnest(
      ${readers.map(({ workspaceId }) => workspaceId)}::uuid[],
      ${readers.map(({ place }) => place.transaction)}::xid8[],
      ${readers.map(({ place }) => place.seq)}::bigint[]) with ordinality as r (workspace_id, transaction, seq, n)
    cross join lateral (
      select id, workspace_id as "workspaceId", transaction::text, seq, type, subject, agent_id as "agentId", data,
        created_at as "createdAt"
      from workspace_events w
      where w.workspace_id = r.workspace_id and (w.transaction, w.seq) > (r.transaction, r.seq)
        and w.transaction < pg_snapshot_xmin(pg_current_snapshot())
      order by w.transaction, w.seq limit ${limitEach}) e
    order by r.n, e.transaction::xid8, e.seq`.execute(store.acrossTenants)
  for (const { n, ...event } of rows) found[n - 1]?.push(event)
  return found
}

/** The events with these ids. */
export async function eventsById(
  store: Pick<Store, 'acrossTenants'>,
  events: readonly { id: string; at: Date }[],
): Promise<Map<string, StoredEvent>> {
  if (events.length === 0) return new Map()
  const { rows } = await sql<StoredEvent>`
    select e.id, workspace_id as "workspaceId", transaction::text, seq, type, subject, agent_id as "agentId", data,
      created_at as "createdAt"
    from unnest(${events.map(({ id }) => id)}::uuid[], ${events.map(({ at }) => at.toISOString())}::timestamptz[]) as asked (id, at)
    join workspace_events e on e.id = asked.id
      and e.created_at between asked.at - interval '1 ms' and asked.at + interval '1 ms'`.execute(store.acrossTenants)
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Says that something happened: it goes to the webhooks and live streams of the workspace. Pass a transaction's handle
 * (`{ ...tenant, db: trx }`) where it must hold together with something else.
 */
export async function publishEvent(
  tenant: Tenant,
  event: WorkspaceEventInput,
): Promise<{ id: string; created_at: Date }> {
  return tenant.db
    .insertInto('workspace_events')
    .values({
      type: event.type,
      subject: 'subject' in event ? event.subject : null,
      agent_id: 'agentId' in event ? event.agentId : null,
      data: JSON.stringify(event.data),
    })
    .returning(['id', 'created_at'])
    .executeTakeFirstOrThrow()
}

/** Says that something happened to the installation: to each workspace of which an operator is Admin. */
export async function publishToOperators(
  db: Kysely<AllTables>,
  /** Who is one by the configuration. */
  emails: readonly string[],
  { type, data }: OperatorEvent,
): Promise<void> {
  await sql`insert into workspace_events (workspace_id, type, data)
    select distinct w.id, ${type}, ${JSON.stringify(data)}::jsonb
    from workspaces w join memberships m on m.workspace_id = w.id and m.role = 'admin' join users u on u.id = m.user_id
    where w.deleted_at is null
      and (u.is_operator or lower(u.email) = any(${emails.map((email) => email.trim().toLowerCase())}::text[]))`.execute(
    db,
  )
}

/**
 * After a database was moved to another server its transaction ids restart: events with higher ids of the old one
 * would wait for years. They are moved before all others, in their order.
 */
export async function adoptMovedEvents(store: Pick<Store, 'acrossTenants'>): Promise<number> {
  return store.acrossTenants.transaction().execute(async (db) => {
    const { rows } = await sql<{ moved: boolean }>`
      select transaction > pg_snapshot_xmax(pg_current_snapshot()) as moved
      from workspace_events_routed for update`.execute(db)
    if (rows[0]?.moved !== true) return 0
    const { numAffectedRows } = await sql`update workspace_events set transaction = '1'
      where transaction >= pg_snapshot_xmax(pg_current_snapshot())`.execute(db)
    await sql`update workspace_events_routed set transaction = '1'`.execute(db)
    return Number(numAffectedRows ?? 0)
  })
}

/** Makes the partitions of today and the days to come, where they are missing. Several may try at once. */
export async function makeWorkspaceEventPartitions(store: Pick<Store, 'acrossTenants'>, nowMs: number): Promise<void> {
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    const from = new Date(Math.floor(nowMs / DAY_MS + ahead) * DAY_MS)
    const name = `workspace_events_${from.toISOString().slice(0, 10).replaceAll('-', '_')}`
    await store.acrossTenants.transaction().execute(async (db) => {
      await sql`select pg_advisory_xact_lock(${PARTITION_LOCK})`.execute(db)
      const { rows } = await sql<{ there: boolean; taken: boolean }>`select to_regclass(${name}) is not null as there,
        exists (select from workspace_events_rest where created_at >= ${from} and created_at < ${new Date(from.getTime() + DAY_MS)}) as taken`.execute(
        db,
      )
      // A day that has begun in the rest ends there.
      if (rows[0]?.there === true || rows[0]?.taken === true) return
      await sql`create table ${sql.table(name)} partition of workspace_events
        for values from (${sql.lit(from.toISOString())}) to (${sql.lit(new Date(from.getTime() + DAY_MS).toISOString())})`.execute(
        db,
      )
    })
  }
}

/** Removes what is older than that. Returns the names of the partitions that went. */
export async function dropWorkspaceEvents(store: Pick<Store, 'acrossTenants'>, olderThan: Date): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits join pg_class as child on child.oid = inhrelid
    where inhparent = 'workspace_events'::regclass order by 1`.execute(store.acrossTenants)
  const dropped: string[] = []
  for (const { name } of rows) {
    const [, year, month, day] = PARTITION.exec(name) ?? []
    if (year === undefined || Date.UTC(Number(year), Number(month) - 1, Number(day) + 1) > olderThan.getTime()) continue
    await sql`drop table if exists ${sql.table(name)}`.execute(store.acrossTenants)
    dropped.push(name)
  }
  await sql`delete from workspace_events_rest where created_at < ${olderThan}`.execute(store.acrossTenants)
  return dropped
}

/**
 * Gives the next events to the webhooks that asked for them: each becomes a delivery, once. Returns how many events there were.
 * `isSkipped`: they become none.
 */
export async function routeEvents(store: Pick<Store, 'pool'>, limit: number, isSkipped = false): Promise<number> {
  const { rows } = await store.pool.query<{ events: number }>({
    name: 'route-workspace-events',
    text: `
      with routed as (select * from workspace_events_routed for update skip locked),
      batch as (
        select e.* from routed r, lateral (
          select id, workspace_id, type, agent_id, created_at, transaction, seq from workspace_events e
          where (e.transaction, e.seq) > (r.transaction, r.seq)
            and e.transaction < pg_snapshot_xmin(pg_current_snapshot())
            and e.created_at > r.at - interval '1 hour'
          order by e.transaction, e.seq limit $1) e),
      deliveries as (
        insert into webhook_deliveries (workspace_id, webhook_id, event_id, event_at, type)
        select b.workspace_id, w.id, b.id, b.created_at, b.type from batch b
        join webhooks w on w.workspace_id = b.workspace_id and w.enabled
          and (w.agent_id is null or w.agent_id = b.agent_id)
        where b.type <> 'webhook.test' and not $2::boolean
          and exists (select from unnest(w.types) as asked (pattern) where b.type like replace(pattern, '*', '%'))
        order by b.transaction, b.seq
        on conflict do nothing),
      moved as (
        update workspace_events_routed r set transaction = l.transaction, seq = l.seq, at = l.created_at
        from (select transaction, seq, created_at from batch order by transaction desc, seq desc limit 1) l)
      select count(*)::integer as events from batch`,
    values: [limit, isSkipped],
  })
  return rows[0]?.events ?? 0
}
