import { sql } from 'kysely'
import type { Analysis } from '../../runtime/analysis/prompt.ts'
import type { Store } from '../database/database.ts'
import type { Tenant } from '../database/tenant.ts'

/** Calls that wait to be analysed, and what was found. */

export interface DueAnalysis {
  callId: string
  workspaceId: string
  /** This one counted. */
  attempts: number
}

/** Claims due analyses for `leaseS`. */
export async function claimAnalyses(
  store: Pick<Store, 'acrossTenants'>,
  { limit, mostOfOne, busy, leaseS }: { limit: number; mostOfOne: number; busy: readonly string[]; leaseS: number },
): Promise<DueAnalysis[]> {
  // Two that claim at once take no row twice: the second sees the lease of the first.
  const { rows } = await sql<DueAnalysis>`
    update call_analyses a set attempts = a.attempts + 1, next_attempt_at = now() + make_interval(secs => ${leaseS})
    where a.next_attempt_at <= now() and a.call_id in (
      select call_id from (
        select call_id, next_attempt_at,
          row_number() over (partition by workspace_id order by next_attempt_at) as turn
        from call_analyses
        where next_attempt_at <= now() and not (workspace_id = any(${sql.val(busy)}::uuid[]))) due
      where turn <= ${mostOfOne}
      order by turn, next_attempt_at limit ${limit})
    returning a.call_id as "callId", a.workspace_id as "workspaceId", a.attempts`.execute(store.acrossTenants)
  return rows
}

export async function postponeAnalysis(store: Pick<Store, 'acrossTenants'>, callId: string, waitS: number) {
  await sql`update call_analyses set next_attempt_at = now() + make_interval(secs => ${waitS}) where call_id = ${callId}`.execute(
    store.acrossTenants,
  )
}

/** Writes what was found, and that the call waits no more. `undefined`: there was nothing to find. */
export function settleAnalysis(
  tenant: Tenant,
  callId: string,
  found: { summary: string | null; analysis: Analysis } | undefined,
): Promise<void> {
  return tenant.db.transaction().execute(async (db) => {
    if (found !== undefined) {
      const { summary, analysis } = found
      await db
        .updateTable('calls')
        .set({ summary, analysis: JSON.stringify(analysis) })
        .where('id', '=', callId)
        .execute()
    }
    await db.deleteFrom('call_analyses').where('call_id', '=', callId).execute()
  })
}

/** Has a call analysed, again where it was. */
export async function askForAnalysis(tenant: Tenant, callId: string): Promise<void> {
  await tenant.db
    .insertInto('call_analyses')
    .values({ call_id: callId })
    .onConflict((conflict) =>
      conflict.column('call_id').doUpdateSet({ attempts: 0, next_attempt_at: sql<Date>`now()` }),
    )
    .execute()
}
