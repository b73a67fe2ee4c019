import { sql } from 'kysely'
import type { CallEvent, CallEventType } from '../../runtime/call/log/events.ts'
import type { Store } from '../database/database.ts'
import type { Tenant } from '../database/tenant.ts'

/** The events of calls as they are read, and their partitions. */

/** Of a PostgreSQL integer: no call has so many events. */
const MAX_SEQ = 2_147_483_647
/** Months whose partitions are made ahead: a job that fails for weeks costs no event. */
const MONTHS_AHEAD = 2
/** A node's clock may be so far behind the database's. */
const CLOCK_SKEW_MS = 86_400_000
/** Any number, the same in every version. */
const PARTITION_LOCK = 7_242_822_912
const CHECK_VIOLATION = '23514'
const PARTITION = /^call_events_(\d{4})_(\d{2})$/

/**
 * The events of a call from one place in its log on, in order, and how many there are in all.
 * @param createdAt when the call was made: no event is older
 */
export async function callEvents(
  tenant: Tenant,
  call: { id: string; createdAt: Date },
  fromSeq: number,
  limit: number,
): Promise<{ events: CallEvent[]; total: number }> {
  const since = new Date(call.createdAt.getTime() - CLOCK_SKEW_MS)
  const ofCall = tenant.db.selectFrom('call_events').where('call_id', '=', call.id).where('at', '>=', since)
  const [rows, last] = await Promise.all([
    ofCall
      .select('events')
      .where('last_seq', '>=', Math.min(fromSeq, MAX_SEQ))
      .where('first_seq', '<', Math.min(fromSeq + limit, MAX_SEQ))
      .orderBy('first_seq')
      .execute(),
    ofCall.select(({ fn }) => fn.max('last_seq').as('seq')).executeTakeFirst(),
  ])
  const events = rows
    .flatMap((row) => row.events as CallEvent[])
    .filter(({ seq }) => seq >= fromSeq && seq < fromSeq + limit)
  return { events, total: last?.seq === null || last?.seq === undefined ? 0 : Number(last.seq) + 1 }
}

/** Of the events of some types, so much at most is read at once. */
const MAX_READ_EVENTS = 20_000
const MAX_READ_BYTES = 8 << 20

/**
 * The events of a call that are of these types, from its beginning, in order: at most `limit` of them and 8 MiB.
 * @param createdAt when the call was made: no event is older
 */
export async function callEventsOf<T extends CallEventType>(
  { db, workspaceId }: Tenant,
  call: { id: string; createdAt: Date },
  types: readonly T[],
  limit = MAX_READ_EVENTS,
): Promise<Extract<CallEvent, { type: T }>[]> {
  const since = new Date(call.createdAt.getTime() - CLOCK_SKEW_MS)
  const { rows } = await sql<{ event: Extract<CallEvent, { type: T }> }>`
    select event from (
      select event, first_seq, place, sum(octet_length(event::text)) over (order by first_seq, place) as bytes
      from call_events, json_array_elements(events) with ordinality as listed (event, place)
      where workspace_id = ${workspaceId} and call_id = ${call.id} and at >= ${since}
        and event ->> 'type' = any(${types}::text[])
      order by first_seq, place limit ${limit}
    ) as found
    where bytes <= ${MAX_READ_BYTES} order by first_seq, place`.execute(db)
  return rows.map(({ event }) => event)
}

/** Makes the partitions of this month and of those around it, where they are missing. Several may try at once. */
export async function makeEventPartitions(store: Pick<Store, 'acrossTenants'>, nowMs: number): Promise<void> {
  for (let ahead = -1; ahead <= MONTHS_AHEAD; ahead++) {
    const from = monthOf(nowMs, ahead)
    const name = nameOf(from)
    await store.acrossTenants.transaction().execute(async (transaction) => {
      // Without the lock two that make the same table at once would fail; without the look each would lock the journal.
      await sql`select pg_advisory_xact_lock(${PARTITION_LOCK})`.execute(transaction)
      const { rows } = await sql<{ there: boolean }>`select to_regclass(${name}) is not null as there`.execute(
        transaction,
      )
      if (rows[0]?.there === true) return
      await sql`create table ${sql.table(name)} partition of call_events
        for values from (${sql.lit(from.toISOString())}) to (${sql.lit(monthOf(nowMs, ahead + 1).toISOString())})`.execute(
        transaction,
      )
    })
  }
}

/** Whether a write failed because the partition of its month is missing. */
export const lacksPartition = (error: unknown): boolean =>
  (error as { code?: unknown }).code === CHECK_VIOLATION &&
  /no partition of relation/.test(`${(error as Error).message}`)

/** Removes the partitions all of whose events are older than that. Returns their names. */
export async function dropEventPartitions(store: Pick<Store, 'acrossTenants'>, olderThan: Date): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits
    join pg_class as child on child.oid = inhrelid
    where inhparent = 'call_events'::regclass order by 1`.execute(store.acrossTenants)
  const dropped: string[] = []
  for (const { name } of rows) {
    const [, year, month] = PARTITION.exec(name) ?? []
    if (year === undefined || month === undefined) continue
    // The end of its month is the start of the next.
    if (Date.UTC(Number(year), Number(month)) > olderThan.getTime()) continue
    await sql`drop table if exists ${sql.table(name)}`.execute(store.acrossTenants)
    dropped.push(name)
  }
  return dropped
}

/** The first moment of the month so many months from now, UTC. */
function monthOf(nowMs: number, ahead: number): Date {
  const now = new Date(nowMs)
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead))
}

function nameOf(month: Date): string {
  return `call_events_${month.getUTCFullYear()}_${`${month.getUTCMonth() + 1}`.padStart(2, '0')}`
}
