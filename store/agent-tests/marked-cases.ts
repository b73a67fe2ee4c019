import { sql } from 'kysely'
import type { Mark, MarkedCase } from '../../runtime/agent-tests/judge-agreement.ts'
import type { Tenant } from '../database/tenant.ts'

/** What people say of judged sentences. */

const MOST_CASES = 5_000

/** Null takes a mark back. `missing`: the run has no such case; `not_judged`: the sentence was not judged in it. */
export async function markSentence(
  tenant: Tenant,
  { runId, caseId, sentence, mark }: { runId: string; caseId: string; sentence: string; mark: Mark | null },
): Promise<'marked' | 'missing' | 'not_judged'> {
  const isJudged = sql<boolean>`result -> 'judged' @> ${JSON.stringify([{ sentence }])}::jsonb`
  const marks =
    mark === null
      ? sql<string>`nullif(marks - ${sentence}::text, '{}'::jsonb)`
      : sql<string>`coalesce(marks, '{}'::jsonb) || ${JSON.stringify({ [sentence]: mark })}::jsonb`
  const { numUpdatedRows } = await tenant.db
    .updateTable('test_cases')
    .set({ marks })
    .where('id', '=', caseId)
    .where('run_id', '=', runId)
    .where(isJudged)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) return 'marked'
  const found = await tenant.db
    .selectFrom('test_cases')
    .select('id')
    .where('id', '=', caseId)
    .where('run_id', '=', runId)
    .executeTakeFirst()
  return found === undefined ? 'missing' : 'not_judged'
}

/** The newest cases with marks. */
export function markedCases(tenant: Tenant): Promise<MarkedCase[]> {
  return tenant.db
    .selectFrom('test_cases')
    .select([sql<MarkedCase['judged']>`result -> 'judged'`.as('judged'), sql<MarkedCase['marks']>`marks`.as('marks')])
    .where('marks', 'is not', null)
    .orderBy('id', 'desc')
    .limit(MOST_CASES)
    .execute()
}
