import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Store } from '../database/database.ts'
import { GROUPED, SUM_COLUMNS, SUMS_OF_CALLS, SUMS_OF_SUMS } from './call-sums.ts'

/** Makes the sums of hours that are over, and anew those of hours whose calls changed. See migration 0033. */

/** Sums are made this long after an hour began at the earliest. */
const LATEST = sql`date_trunc('hour', now(), 'UTC') - interval '2 hours'`
/** Hours that are made anew in one transaction. */
const CHANGES_AT_ONCE = 200
/** Hours of sums from before migration 0119 that are marked to be made anew in one transaction. */
const PLAIN_AT_ONCE = 48
const SUMS = sql`call_rollups (workspace_id, grain, bucket, ${SUM_COLUMNS})`

type Db = Pick<Transaction<never>, 'getExecutor'>

/**
 * Takes one step: sums up to a day of hours that have no sums yet, else some that changed. False when nothing is left to do.
 * Concurrent folds wait.
 */
export function foldCalls(store: Store): Promise<boolean> {
  return store.acrossTenants.transaction().execute(async (db) => {
    const { rows } = await sql<{ from: Date; to: Date }>`
      select folded_until as from, least(${LATEST}, folded_until + interval '1 day') as to
      from call_rollup_state for update`.execute(db)
    const [{ from, to } = { from: new Date(0), to: new Date(0) }] = rows
    if (from < to) {
      await foldNew(db, from, to)
      return true
    }
    return (await foldChanged(db, from)) > 0 || (await markPlain(db)) > 0
  })
}

async function foldNew(db: Db, from: Date, to: Date): Promise<void> {
  await sql`
    insert into ${SUMS}
    select hours.* from workspaces cross join lateral (
      ${hourSums(sql`workspace_id = workspaces.id and created_at >= ${from} and created_at < ${to}`)}) as hours`.execute(
    db as never,
  )
  await sql`
    insert into ${SUMS}
    ${daySums(sql`bucket >= date_trunc('day', ${from}::timestamptz, 'UTC')
      and bucket < date_trunc('day', ${to}::timestamptz, 'UTC')`)}`.execute(db as never)
  await sql`update call_rollup_state set folded_until = ${to}`.execute(db as never)
}

/** Newest first: they are asked for most. */
async function markPlain(db: Db): Promise<number> {
  const { rows } = await sql`
    insert into call_rollup_changes (workspace_id, bucket, marked_by)
    select workspace_id, bucket, pg_current_xact_id() from call_rollups where grain = 'hour' and status = ''
    group by 1, 2 order by 2 desc limit ${PLAIN_AT_ONCE}
    on conflict (workspace_id, bucket) do nothing
    returning workspace_id`.execute(db as never)
  return rows.length
}

/** A mark that another transaction just renews is left to the next step. */
async function foldChanged(db: Db, foldedUntil: Date): Promise<number> {
  const { rows } = await sql<{ workspace_id: string; bucket: Date }>`
    delete from call_rollup_changes where (workspace_id, bucket) in (
      select workspace_id, bucket from call_rollup_changes where bucket < ${foldedUntil}
      order by bucket limit ${CHANGES_AT_ONCE} for update skip locked)
    returning workspace_id, bucket`.execute(db as never)
  if (rows.length === 0) return 0
  const workspaces = rows.map((row) => row.workspace_id)
  const hours = rows.map((row) => row.bucket.toISOString())
  const changed = sql`unnest(${workspaces}::uuid[], ${hours}::timestamptz[]) as changed (of, hour)`
  const days = sql`(select distinct of, date_trunc('day', hour, 'UTC') as day from ${changed}) as days`
  await sql`delete from call_rollups using ${changed}
    where workspace_id = of and grain = 'hour' and bucket = hour`.execute(db as never)
  await sql`insert into ${SUMS}
    select hours.* from ${changed} cross join lateral (
      ${hourSums(sql`workspace_id = of and created_at >= hour and created_at < hour + interval '1 hour'`)}) as hours
    `.execute(db as never)
  await sql`delete from call_rollups using ${days}
    where workspace_id = of and grain = 'day' and bucket = day`.execute(db as never)
  await sql`insert into ${SUMS}
    select sums.* from ${days} cross join lateral (
      ${daySums(sql`workspace_id = of and bucket >= day and bucket < day + interval '1 day'`)}) as sums
    where day + interval '1 day' <= ${foldedUntil}`.execute(db as never)
  return rows.length
}

function hourSums(where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select workspace_id, 'hour' as grain, date_trunc('hour', created_at, 'UTC') as bucket, ${SUMS_OF_CALLS}
    from summed_calls where ${where} group by ${GROUPED}`
}

function daySums(where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select workspace_id, 'day' as grain, date_trunc('day', bucket, 'UTC'), ${SUMS_OF_SUMS}
    from call_rollups where grain = 'hour' and ${where} group by ${GROUPED}`
}
