import { sql } from 'kysely'
import type { TestResult } from '../../runtime/agent-tests/run-test.ts'
import type { Store } from '../database/database.ts'
import type { TestRun } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { publishEvent } from '../events/workspace-events.ts'

/** Cases that wait for a worker, and their results. */

export interface DueCase {
  caseId: string
  workspaceId: string
  /** This one counted. */
  attempts: number
}

const VERDICT_COLUMN = { pass: 'passed', fail: 'failed', unsure: 'unsure', error: 'broken' } as const

/**
 * Claims due cases for `leaseS`, the workspaces taking turns: those of a worker that died come again afterwards. Reads `mostOfOne` cases of
 * each workspace that waits, however many there are.
 */
export async function claimTestCases(
  store: Pick<Store, 'acrossTenants'>,
  { limit, mostOfOne, busy, leaseS }: { limit: number; mostOfOne: number; busy: readonly string[]; leaseS: number },
): Promise<DueCase[]> {
  const { rows } = await sql<DueCase>`
    with recursive waiting (workspace_id) as (
      (select workspace_id from test_cases where verdict is null order by workspace_id limit 1)
      union all
      select (select c.workspace_id from test_cases c where c.verdict is null and c.workspace_id > w.workspace_id
        order by c.workspace_id limit 1)
      from waiting w where w.workspace_id is not null)
    update test_cases c set attempts = c.attempts + 1, next_attempt_at = now() + make_interval(secs => ${leaseS})
    where c.verdict is null and c.next_attempt_at <= now() and c.id in (
      select due.id from waiting w cross join lateral (
        select oldest.id, row_number() over (order by oldest.id) as turn from (
          select id from test_cases
          where workspace_id = w.workspace_id and verdict is null and next_attempt_at <= now()
          order by id limit ${mostOfOne}) oldest) due
      where not (w.workspace_id = any(${sql.val(busy)}::uuid[]))
      order by due.turn, due.id limit ${limit})
    returning c.id as "caseId", c.workspace_id as "workspaceId", c.attempts`.execute(store.acrossTenants)
  return rows
}

/** Gives a claimed case back: it is due at once. */
export async function releaseTestCase(tenant: Tenant, caseId: string): Promise<void> {
  await tenant.db
    .updateTable('test_cases')
    .set({ next_attempt_at: sql<Date>`now()` })
    .where('id', '=', caseId)
    .where('verdict', 'is', null)
    .execute()
}

/** A claimed case and its run; undefined: the run was canceled or deleted meanwhile. */
export async function testCaseWithRun(tenant: Tenant, caseId: string) {
  const found = await tenant.db.selectFrom('test_cases').selectAll().where('id', '=', caseId).executeTakeFirst()
  if (found === undefined || found.verdict !== null) return undefined
  const run = await tenant.db.selectFrom('test_runs').selectAll().where('id', '=', found.run_id).executeTakeFirst()
  return run === undefined ? undefined : { testCase: found, run }
}

/** Writes a case's result once, counts it in its run and says so; the last one ends the run. */
export function settleTestCase(tenant: Tenant, caseId: string, result: TestResult): Promise<void> {
  // What broke off has no cost; what has no known price makes the run's unknown.
  const costUsd = result.record === undefined ? 0 : result.record.costUsd
  return tenant.db.transaction().execute(async (db) => {
    const settled = await db
      .updateTable('test_cases')
      .set({ verdict: result.verdict, result: JSON.stringify(result), ended_at: sql<Date>`now()` })
      .where('id', '=', caseId)
      .where('verdict', 'is', null)
      .returning(['run_id', 'name', 'repeat'])
      .executeTakeFirst()
    if (settled === undefined) return
    const column = VERDICT_COLUMN[result.verdict]
    const run = await db
      .updateTable('test_runs')
      .set({
        [column]: sql<number>`${sql.ref(column)} + 1`,
        cost_usd: sql<number | null>`cost_usd + ${costUsd}::double precision`,
      })
      .where('id', '=', settled.run_id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const within = { workspaceId: tenant.workspaceId, db }
    const { agent_id } = run
    await publishEvent(within, {
      type: 'test.completed',
      agentId: agent_id,
      data: {
        ...{ run_id: run.id, case_id: caseId, agent_id, name: settled.name, repeat: settled.repeat },
        ...{ verdict: result.verdict, why: whyNot(result) },
      },
    })
    if (run.status !== 'running' || settledOf(run) < run.total) return
    await db
      .updateTable('test_runs')
      .set({ status: 'done', ended_at: sql<Date>`now()` })
      .where('id', '=', run.id)
      .execute()
    const { version, total, passed, failed, unsure, broken: errors } = run
    await publishEvent(within, {
      type: 'test_run.completed',
      agentId: agent_id,
      data: { run_id: run.id, agent_id, version, total, passed, failed, unsure, errors },
    })
  })
}

const settledOf = ({ passed, failed, unsure, broken }: TestRun): number => passed + failed + unsure + broken

/** The first reason why a case did not pass; null: it did. */
export function whyNot({ verdict, error, facts, judged }: TestResult): string | null {
  if (verdict === 'pass') return null
  if (error !== undefined) return error
  const all = [
    ...facts.map(({ fact, verdict, why }) => ({ what: fact, verdict, why })),
    ...judged.map(({ sentence, verdict, why }) => ({ what: sentence, verdict, why })),
  ]
  const first = all.find((one) => one.verdict === 'fail') ?? all.find((one) => one.verdict !== 'pass')
  return first === undefined ? 'no verdict' : `${first.what}: ${first.why ?? first.verdict}`
}
