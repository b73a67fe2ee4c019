import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Store } from '../database/database.ts'

/** Makes the sums of hours that are over, and anew those of hours whose calls changed. See migration 0033. */

/** Sums are made this long after an hour began at the earliest. */
const LATEST = sql`date_trunc('hour', now(), 'UTC') - interval '2 hours'`
/** Hours that are made anew in one transaction. */
const CHANGES_AT_ONCE = 200

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
    return (await foldChanged(db, from)) > 0
  })
}

async function foldNew(db: Db, from: Date, to: Date): Promise<void> {
  await sql`
    insert into call_rollups
    select hours.* from workspaces cross join lateral (
      ${hourSums(sql`workspace_id = workspaces.id and created_at >= ${from} and created_at < ${to}`)}) as hours`.execute(
    db as never,
  )
  await sql`
    insert into call_rollups
    ${daySums(sql`bucket >= date_trunc('day', ${from}::timestamptz, 'UTC')
      and bucket < date_trunc('day', ${to}::timestamptz, 'UTC')`)}`.execute(db as never)
  await sql`update call_rollup_state set folded_until = ${to}`.execute(db as never)
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
  await sql`insert into call_rollups
    select hours.* from ${changed} cross join lateral (
      ${hourSums(sql`workspace_id = of and created_at >= hour and created_at < hour + interval '1 hour'`)}) as hours
    `.execute(db as never)
  await sql`delete from call_rollups using ${days}
    where workspace_id = of and grain = 'day' and bucket = day`.execute(db as never)
  await sql`insert into call_rollups
    select sums.* from ${days} cross join lateral (
      ${daySums(sql`workspace_id = of and bucket >= day and bucket < day + interval '1 day'`)}) as sums
    where day + interval '1 day' <= ${foldedUntil}`.execute(db as never)
  return rows.length
}

function hourSums(where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select workspace_id, 'hour' as grain, date_trunc('hour', created_at, 'UTC') as bucket, agent_id, call_type,
      disposition, sum(n), sum(answered), sum(duration_ms), sum(tokens),
      sum(cost_llm), sum(cost_stt), sum(cost_tts), sum(platform_cost),
      sum(known_llm), sum(known_stt), sum(known_tts), sum(known_platform)
    from summed_calls where ${where} group by 1, 3, 4, 5, 6`
}

function daySums(where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select workspace_id, 'day' as grain, date_trunc('day', bucket, 'UTC'), agent_id, call_type, disposition,
      sum(calls), sum(answered), sum(duration_ms), sum(tokens),
      sum(cost_llm), sum(cost_stt), sum(cost_tts), sum(platform_cost),
      sum(known_llm), sum(known_stt), sum(known_tts), sum(known_platform)
    from call_rollups where grain = 'hour' and ${where} group by 1, 3, 4, 5, 6`
}
