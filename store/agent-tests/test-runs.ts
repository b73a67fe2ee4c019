import { sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import type { AgentTest } from '../../runtime/agent-tests/schema.ts'
import type { ListPart } from '../database/list-place.ts'
import type { TestCase, TestRun } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Runs of tests. Nothing of them is in calls, reports, campaigns or their costs. */

const ROWS_AN_INSERT = 500
/** Runs of earlier versions that are looked through for a test. */
const EARLIER_RUNS = 20

export interface NewTestRun {
  agentId: string
  version: string
  tests: readonly { testId: string | null; definition: AgentTest; times: number }[]
}

/** Makes a run and its cases, which workers take from there. */
export function insertTestRun(tenant: Tenant, { agentId, version, tests }: NewTestRun): Promise<TestRun> {
  return tenant.db.transaction().execute(async (db) => {
    const total = tests.reduce((sum, { times }) => sum + times, 0)
    const agent_version = await testedVersion({ db }, agentId, version)
    const run = await db
      .insertInto('test_runs')
      .values({ id: uuidv7(), agent_id: agentId, version, agent_version, total })
      .returningAll()
      .executeTakeFirstOrThrow()
    const cases = tests.flatMap(({ testId, definition, times }, position) => {
      const json = JSON.stringify(definition)
      return Array.from({ length: times }, (_, i) => ({
        ...{ id: uuidv7(), run_id: run.id, test_id: testId, position, repeat: i + 1 },
        ...{ name: definition.name, definition: json },
      }))
    })
    for (let at = 0; at < cases.length; at += ROWS_AN_INSERT) {
      await db
        .insertInto('test_cases')
        .values(cases.slice(at, at + ROWS_AN_INSERT))
        .execute()
    }
    return run
  })
}

/** The number of the version that is tested. Null: a draft that no version is as. */
async function testedVersion({ db }: Pick<Tenant, 'db'>, agentId: string, version: string): Promise<number | null> {
  if (version !== 'live' && version !== 'draft') return Number(version)
  let query = db.selectFrom('agents').select('live_version').where('id', '=', agentId)
  if (version === 'draft') query = query.where('unpublished', '=', false)
  return (await query.executeTakeFirst())?.live_version ?? null
}

/** The draft that a run tested has become this version. */
export async function noteTestedVersion(tenant: Tenant, runId: string, version: number): Promise<void> {
  await tenant.db.updateTable('test_runs').set({ agent_version: version }).where('id', '=', runId).execute()
}

/** Newest first. */
export function listTestRuns(
  tenant: Tenant,
  agentId: string | undefined,
  { offset, limit, after }: ListPart,
): Promise<TestRun[]> {
  let query = tenant.db.selectFrom('test_runs').selectAll().orderBy('id', 'desc').offset(offset).limit(limit)
  if (after !== undefined) query = query.where('id', '<', after.id)
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId)
  return query.execute()
}

export async function countTestRuns(
  tenant: Tenant,
  { agentId, running = false }: { agentId?: string | undefined; running?: boolean } = {},
): Promise<number> {
  let query = tenant.db.selectFrom('test_runs').select((eb) => eb.fn.countAll<number>().as('count'))
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId)
  if (running) query = query.where('status', '=', 'running')
  return (await query.executeTakeFirstOrThrow()).count
}

export function testRunById(tenant: Tenant, id: string): Promise<TestRun | undefined> {
  return tenant.db.selectFrom('test_runs').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The run of the same agent before this one that came to its end. */
export function testRunBefore(tenant: Tenant, { id, agent_id }: TestRun): Promise<TestRun | undefined> {
  return tenant.db
    .selectFrom('test_runs')
    .selectAll()
    .where('agent_id', '=', agent_id)
    .where('id', '<', id)
    .where('status', '=', 'done')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** What came of each test of a run, in their order. */
export interface TestShare {
  position: number
  name: string
  test_id: string | null
  total: number
  passed: number
  failed: number
  unsure: number
  broken: number
}

export function testShares(tenant: Tenant, runId: string): Promise<TestShare[]> {
  const counted = (verdict: string) => sql<number>`count(*) filter (where verdict = ${verdict})`
  return tenant.db
    .selectFrom('test_cases')
    .select((eb) => [
      'position',
      'name',
      'test_id',
      eb.fn.countAll<number>().as('total'),
      counted('pass').as('passed'),
      counted('fail').as('failed'),
      counted('unsure').as('unsure'),
      counted('error').as('broken'),
    ])
    .where('run_id', '=', runId)
    .groupBy(['position', 'name', 'test_id'])
    .orderBy('position')
    .execute()
}

/** What a test came to when an earlier version was tested. */
export interface PublishedShare {
  name: string
  version: number
  passed: number
  total: number
}

/** Of each test of a run, what came of it in the last run of the last version before the one that the run tests. */
export async function publishedShares(
  tenant: Tenant,
  { id, agent_id, agent_version }: TestRun,
): Promise<PublishedShare[]> {
  let runs = tenant.db
    .selectFrom('test_runs')
    .select(['id', 'agent_version'])
    .where('agent_id', '=', agent_id)
    .where('id', '<', id)
    .where('status', '=', 'done')
    .where('agent_version', 'is not', null)
  if (agent_version !== null) runs = runs.where('agent_version', '<', agent_version)
  const earlier = await runs.orderBy('agent_version', 'desc').orderBy('id', 'desc').limit(EARLIER_RUNS).execute()
  if (earlier.length === 0) return []
  const shares = await tenant.db
    .selectFrom('test_cases')
    .select((eb) => [
      'name',
      'run_id',
      eb.fn.countAll<number>().as('total'),
      sql<number>`count(*) filter (where verdict = 'pass')`.as('passed'),
    ])
    .where(
      'run_id',
      'in',
      earlier.map((run) => run.id),
    )
    .groupBy(['name', 'run_id'])
    .execute()
  // The last run that had it comes last.
  const found = earlier.toReversed().flatMap(({ id: runId, agent_version: version }) =>
    shares
      .filter((share) => share.run_id === runId)
      .map(({ name, passed, total }): [string, PublishedShare] => {
        return [name, { name, version: version ?? 0, passed, total }]
      }),
  )
  return [...new Map(found).values()]
}

export async function testCasesPage(
  tenant: Tenant,
  runId: string,
  { offset, limit, failed = false }: { offset: number; limit: number; failed?: boolean },
): Promise<{ cases: TestCase[]; total: number }> {
  let of = tenant.db.selectFrom('test_cases').where('run_id', '=', runId)
  if (failed) of = of.where('verdict', '<>', 'pass')
  const [cases, { total }] = await Promise.all([
    of.selectAll().orderBy('position').orderBy('repeat').offset(offset).limit(limit).execute(),
    of.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { cases, total }
}

/** Cases that did not begin never do; those that run come to their end. False: the run was over. */
export function cancelTestRun(tenant: Tenant, id: string): Promise<boolean> {
  return tenant.db.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('test_runs')
      .set({ status: 'canceled', ended_at: sql<Date>`now()` })
      .where('id', '=', id)
      .where('status', '=', 'running')
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    await db.deleteFrom('test_cases').where('run_id', '=', id).where('verdict', 'is', null).execute()
    return true
  })
}
