import { type RawBuilder, sql } from 'kysely'
import type { Analysis } from '../../runtime/analysis/prompt.ts'
import type { StageCosts } from '../../runtime/call/cost.ts'
import type { Usage } from '../../runtime/call/types/usage.ts'
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

/** Adds to the sums of a call that is over. A stage's cost is null from the first use on whose price isn't known. */
export async function addAnalysisUsage(tenant: Tenant, callId: string, usage: Usage, costs: StageCosts): Promise<void> {
  const tokensIn = Math.round(usage.llmInputTokens)
  const tokensOut = Math.round(usage.llmOutputTokens)
  const characters = Math.round(usage.ttsCharacters)
  await tenant.db
    .updateTable('calls')
    .set((eb) => ({
      llm_input_tokens: eb('llm_input_tokens', '+', tokensIn),
      llm_output_tokens: eb('llm_output_tokens', '+', tokensOut),
      stt_seconds: eb('stt_seconds', '+', usage.sttSeconds),
      tts_characters: eb('tts_characters', '+', characters),
      cost_llm: addedCost('cost_llm', sql`llm_input_tokens + llm_output_tokens`, tokensIn + tokensOut, costs.llmUsd),
      cost_stt: addedCost('cost_stt', sql`stt_seconds`, usage.sttSeconds, costs.sttUsd),
      cost_tts: addedCost('cost_tts', sql`tts_characters`, characters, costs.ttsUsd),
    }))
    .where('id', '=', callId)
    .execute()
}

/** The cost with this use added. Before the first use of a stage the cost is zero, not unknown. */
function addedCost(column: string, usedBefore: RawBuilder<unknown>, used: number, usd: number | null) {
  if (used === 0) return sql<number | null>`${sql.ref(column)}`
  const before = sql`case when ${usedBefore} = 0 then 0 else ${sql.ref(column)} end`
  return sql<number | null>`${before} + ${usd}::double precision`
}
