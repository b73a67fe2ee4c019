import { type Insertable, type RawBuilder, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { uuidv7 } from 'uuidv7'
import type { Call, CallsTable, CallTurn, CallType } from './schema.ts'
import type { Tenant } from './tenant.ts'

/** A call with what was said. */
export type CallWithTurns = Call & { turns: CallTurn[] }

export type NewCall = Omit<Insertable<CallsTable>, 'id'> & { id?: string }

export interface CallFilter {
  callType?: CallType | undefined
  agentId?: string | undefined
  /** Created at this moment or later. */
  start?: Date | undefined
  /** Created before this moment. */
  end?: Date | undefined
}

export function insertCall(tenant: Tenant, call: NewCall): Promise<Call> {
  return tenant.db
    .insertInto('calls')
    .values({ id: uuidv7(), ...call })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The call and its turns as of one moment: of a live call no turn is shown that its status doesn't know of. */
export function callById(tenant: Tenant, id: string): Promise<CallWithTurns | undefined> {
  return tenant.db
    .selectFrom('calls')
    .selectAll('calls')
    .select((eb) =>
      jsonArrayFrom(
        eb.selectFrom('call_turns').selectAll('call_turns').whereRef('call_id', '=', 'calls.id').orderBy('seq'),
      ).as('turns'),
    )
    .where('calls.id', '=', id)
    .executeTakeFirst()
}

/** Adds what was said to each call. */
export async function withTurns(tenant: Tenant, calls: readonly Call[]): Promise<CallWithTurns[]> {
  const turns = new Map<string, CallTurn[]>(calls.map(({ id }) => [id, []]))
  if (calls.length > 0) {
    const rows = await tenant.db
      .selectFrom('call_turns')
      .selectAll()
      .where('call_id', 'in', [...turns.keys()])
      .orderBy('call_id')
      .orderBy('seq')
      .execute()
    for (const row of rows) turns.get(row.call_id)?.push(row)
  }
  return calls.map((call) => ({ ...call, turns: turns.get(call.id) ?? [] }))
}

/**
 * Frees the session id of a web call whose token was never used: it is canceled when it was created before `before`.
 * True when there was one.
 */
export async function cancelUnopenedSession(
  tenant: Tenant,
  sessionId: string,
  before: Date,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('calls')
    .set({ status: 'canceled', end_reason: 'token_expired', disposition: 'no_answer', ended_at: at })
    .where('session_id', '=', sessionId)
    .where('status', '=', 'queued')
    .where('created_at', '<', before)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const ANY_AGENT = '00000000-0000-0000-0000-000000000000'
const ANY_TYPE = ''

/**
 * A page of the calls, newest first, and how many there are in all. Page 10,000 costs what page 1 costs: `call_counts`
 * knows how many calls each hour and minute saw, so the hour, then the minute in which the page begins are found by summing
 * counts, and the index is entered there; no more rows are skipped than one minute holds. Only the broken hours at the ends
 * of a date range are counted row by row.
 */
export async function callsPage(
  tenant: Tenant,
  filter: CallFilter,
  page: { number: number; size: number },
): Promise<{ calls: Call[]; total: number }> {
  const startMs = filter.start?.getTime()
  const endMs = filter.end?.getTime()
  const firstHour = startMs === undefined ? undefined : Math.ceil(startMs / HOUR_MS) * HOUR_MS
  const lastHour = endMs === undefined ? undefined : Math.floor(endMs / HOUR_MS) * HOUR_MS
  const offset = (page.number - 1) * page.size

  // A range within one hour has no whole hour to sum.
  if (firstHour !== undefined && lastHour !== undefined && firstHour >= lastHour) {
    const total = await countRows(tenant, filter, startMs, endMs)
    return { calls: offset < total ? await rowsFrom(tenant, filter, endMs, offset, page.size) : [], total }
  }

  const newest = await countRows(tenant, filter, lastHour, endMs)
  const oldest = await countRows(tenant, filter, startMs, firstHour)
  const hours = await findBucket(tenant, filter, 'hour', firstHour, lastHour, offset - newest)
  const total = newest + hours.total + oldest
  if (offset >= total) return { calls: [], total }
  if (offset < newest) return { calls: await rowsFrom(tenant, filter, endMs, offset, page.size), total }
  const { bucketMs: hourMs, before } = hours
  if (hourMs === undefined) {
    const skipped = offset - newest - hours.total
    return { calls: await rowsFrom(tenant, filter, firstHour, skipped, page.size), total }
  }
  const inHour = offset - newest - before
  const minute = await findBucket(tenant, filter, 'minute', hourMs, hourMs + HOUR_MS, inHour)
  const beforeMs = minute.bucketMs === undefined ? hourMs + HOUR_MS : minute.bucketMs + MINUTE_MS
  const skipped = minute.bucketMs === undefined ? inHour : inHour - minute.before
  return { calls: await rowsFrom(tenant, filter, beforeMs, skipped, page.size), total }
}

/** The bucket that holds the row at `offset`, counted from the newest, and how many rows are in newer buckets. */
async function findBucket(
  tenant: Tenant,
  filter: CallFilter,
  span: 'hour' | 'minute',
  fromMs: number | undefined,
  beforeMs: number | undefined,
  offset: number,
): Promise<{ total: number; bucketMs: number | undefined; before: number }> {
  const { rows } = await sql<{ total: number; bucket: Date | null; before: number | null }>`
    with summed as (
      select bucket, calls, sum(calls) over (order by bucket desc) as upto
      from call_counts
      where workspace_id = ${tenant.workspaceId} and span = ${span}
        and agent_id = ${filter.agentId ?? ANY_AGENT} and call_type = ${filter.callType ?? ANY_TYPE}
        ${fromMs === undefined ? sql`` : sql`and bucket >= ${instant(fromMs)}`}
        ${beforeMs === undefined ? sql`` : sql`and bucket < ${instant(beforeMs)}`}
    )
    select (select coalesce(max(upto), 0) from summed)::bigint as total, found.bucket, found.before
    from (select) as one
    left join lateral (
      select bucket, (upto - calls)::bigint as before from summed where upto > ${Math.max(0, offset)}
      order by bucket desc limit 1
    ) as found on true`.execute(tenant.db)
  const [row] = rows
  return { total: row?.total ?? 0, bucketMs: row?.bucket?.getTime(), before: row?.before ?? 0 }
}

/** Counts by the index; 0 when an end is open, because then there is no broken hour. */
async function countRows(
  tenant: Tenant,
  filter: CallFilter,
  fromMs: number | undefined,
  beforeMs: number | undefined,
): Promise<number> {
  if (fromMs === undefined || beforeMs === undefined || fromMs >= beforeMs) return 0
  const { count } = await matching(tenant, { ...filter, start: new Date(fromMs), end: new Date(beforeMs) })
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

function rowsFrom(
  tenant: Tenant,
  filter: CallFilter,
  beforeMs: number | undefined,
  offset: number,
  limit: number,
): Promise<Call[]> {
  return matching(tenant, { ...filter, end: beforeMs === undefined ? filter.end : new Date(beforeMs) })
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute()
}

/** The calls of a filter, for a query of one's own. */
export function matching(tenant: Tenant, filter: CallFilter) {
  let query = tenant.db.selectFrom('calls')
  if (filter.callType !== undefined) query = query.where('call_type', '=', filter.callType)
  if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId)
  if (filter.start !== undefined) query = query.where('created_at', '>=', filter.start)
  if (filter.end !== undefined) query = query.where('created_at', '<', filter.end)
  return query
}

function instant(ms: number): RawBuilder<Date> {
  return sql<Date>`${new Date(ms)}::timestamptz`
}
