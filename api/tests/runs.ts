import { type Static, Type } from 'typebox'
import type { AgentTest, TestChannel } from '../../runtime/agent-tests/schema.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { listTests, testsByIds } from '../../store/agent-tests/stored-tests.ts'
import {
  cancelTestRun,
  countTestRuns,
  listTestRuns,
  publishedShares,
  testCasesPage,
  testRunBefore,
  testRunById,
  testShares,
} from '../../store/agent-tests/test-runs.ts'
import type { TestRun } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { CursorPage, CursorQuery, cursorOf, cursorPageOf, lastOf, partOf } from '../cursor.ts'
import { isUuid } from '../ids.ts'
import { requireMonth } from '../quota.ts'
import { defineRoute } from '../route.ts'
import { Page, PageQuery, pageOf } from '../schema.ts'
import { beginRun, refuseField } from './begin-run.ts'
import { requireAgentOf } from './routes.ts'
import {
  caseBody,
  checkedTest,
  runBody,
  runBodyExample,
  runExample,
  runItem,
  StartTestRunInput,
  TestCaseBody,
  TestRunBody,
  TestRunItem,
  testExample,
} from './schema.ts'

const tag = 'Tests'

const run_id = { description: 'The run.', notFound: 'test_run_not_found', example: runExample.run_id } as const

interface Chosen {
  testId: string | null
  definition: AgentTest
}

const start = defineRoute({
  method: 'POST',
  path: '/tests/runs',
  auth: 'jwt_or_key',
  role: 'developer',
  audit: ['agent_id', 'version', 'tags', 'times', 'channel'],
  body: StartTestRunInput,
  success: { status: 202, schema: TestRunItem },
  errors: ['agent_not_found', 'test_not_found', 'quota_reached'],
  tag,
  summary: 'Run tests of an agent',
  description:
    'Tests run beside calls, after everything else. No tool is ever called, and nothing is written into call logs, reports or costs. `test.completed` and `test_run.completed` come over `GET /events` and webhooks.',
  examples: {
    body: { agent_id: runExample.agent_id, version: 'draft', tags: ['booking'] },
    success: { ...runExample, status: 'running', passed: 0, failed: 0, ended_at: null },
  },
  handler: async ({ body, tenant }, services) => {
    const agentId = await requireAgentOf(tenant, body.agent_id)
    if (agentId === null) throw new PatchbayError('agent_not_found')
    await requireMonth(services, tenant)
    const chosen = await chosenTests(tenant, agentId, body)
    const tests = chosen.map(({ testId, definition }) => ({
      testId,
      definition: overChannel(definition, body.channel),
      times: body.times ?? definition.times ?? 1,
    }))
    if (tests.length === 0) refuseField('tests', 'there is no such test: nothing would be proved')
    return runItem(await beginRun(tenant, { agentId, version: body.version ?? 'draft', tests }, 'times'))
  },
})

const overChannel = (test: AgentTest, channel: TestChannel | undefined): AgentTest =>
  channel === undefined ? test : { ...test, caller: { ...test.caller, channel } }

async function chosenTests(tenant: Tenant, agentId: string, body: Static<typeof StartTestRunInput>): Promise<Chosen[]> {
  const { tests, tags } = body
  if (tests === undefined) {
    const all = await listTests(tenant, { agentId })
    const wanted = tags === undefined ? all : all.filter((test) => test.tags.some((one) => tags.includes(one)))
    return wanted.map(({ id, definition }) => ({ testId: id, definition }))
  }
  const given = tests.map((one, i) => {
    return typeof one === 'string' ? one : { testId: null, definition: checkedTest(one, ['body', 'tests', String(i)]) }
  })
  const ids = given.filter((one) => typeof one === 'string').filter(isUuid)
  const stored = new Map((await testsByIds(tenant, ids)).map((test) => [test.id, test]))
  return given.map((one): Chosen => {
    if (typeof one !== 'string') return one
    const test = stored.get(one.toLowerCase())
    if (test === undefined) throw new PatchbayError('test_not_found')
    return { testId: test.id, definition: test.definition }
  })
}

const list = defineRoute({
  method: 'GET',
  path: '/tests/runs',
  auth: 'jwt_or_key',
  role: 'member',
  query: Type.Object({ ...CursorQuery, agent_id: Type.Optional(Type.String({ maxLength: 100 })) }),
  success: { status: 200, schema: CursorPage(TestRunItem) },
  tag,
  summary: 'Runs of tests, newest first',
  examples: { success: { items: [runExample], total: 1, page: 1, page_size: 25, total_pages: 1 } },
  handler: async ({ query, tenant }) => {
    const agentId = query.agent_id
    if (agentId !== undefined && !isUuid(agentId)) return cursorPageOf([], 0, query, undefined)
    const [runs, total] = await Promise.all([
      listTestRuns(tenant, agentId, partOf(query, cursorOf(query))),
      countTestRuns(tenant, { agentId }),
    ])
    return cursorPageOf(runs.map(runItem), total, query, lastOf(runs))
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/tests/runs/{run_id}',
  auth: 'jwt_or_key',
  role: 'member',
  params: { run_id },
  success: { status: 200, schema: TestRunBody },
  errors: ['test_run_not_found'],
  tag,
  summary: 'A run of tests: how often each passed, with its interval, the run before and the version before',
  examples: { success: runBodyExample },
  handler: async ({ params, tenant }) => {
    const run = await requireRun(tenant, params.run_id)
    const [shares, before, published] = await Promise.all([
      testShares(tenant, run.id),
      testRunBefore(tenant, run),
      publishedShares(tenant, run),
    ])
    return runBody(run, shares, before && { id: before.id, shares: await testShares(tenant, before.id) }, published)
  },
})

const cases = defineRoute({
  method: 'GET',
  path: '/tests/runs/{run_id}/cases',
  auth: 'jwt_or_key',
  role: 'member',
  params: { run_id },
  query: Type.Object({
    ...PageQuery,
    failed: Type.Optional(Type.Boolean({ description: 'Only those that did not pass.' })),
  }),
  success: { status: 200, schema: Page(TestCaseBody) },
  errors: ['test_run_not_found'],
  tag,
  summary: 'Each time a test of the run was run: conversation, facts, verdicts',
  examples: {
    success: {
      items: [
        {
          ...{ case_id: '0197f3a2-7c1e-7000-8000-000000000062', test_id: testExample.test_id, name: testExample.name },
          ...{
            repeat: 1,
            verdict: 'pass',
            why: null,
            facts: [{ fact: 'heard /monday/i', verdict: 'pass' }],
            judged: [],
          },
          turns: [{ role: 'user', text: 'On Monday.', start_ms: 300, end_ms: 950, interrupted: false }],
          ...{ tools: [], latencies_ms: [820], disposition: 'completed', ended_by: 'caller', duration_ms: 9_400 },
          ...{ cost: 0.002, unsaid: [] },
        },
      ],
      ...{ total: 1, page: 1, page_size: 25, total_pages: 1 },
    },
  },
  handler: async ({ params, query, tenant }) => {
    const run = await requireRun(tenant, params.run_id)
    const { page, page_size: limit, failed = false } = query
    const { cases: found, total } = await testCasesPage(tenant, run.id, { offset: (page - 1) * limit, limit, failed })
    return pageOf(found.map(caseBody), total, query)
  },
})

const cancel = defineRoute({
  method: 'POST',
  path: '/tests/runs/{run_id}/cancel',
  auth: 'jwt_or_key',
  role: 'developer',
  params: { run_id },
  success: { status: 200, schema: TestRunItem },
  errors: ['test_run_not_found', 'test_run_over'],
  tag,
  summary: 'Cancel a run: what did not begin never does',
  examples: { success: { ...runExample, status: 'canceled' } },
  handler: async ({ params, tenant }) => {
    await requireRun(tenant, params.run_id)
    if (!(await cancelTestRun(tenant, params.run_id))) throw new PatchbayError('test_run_over')
    return runItem(await requireRun(tenant, params.run_id))
  },
})

async function requireRun(tenant: Tenant, id: string): Promise<TestRun> {
  const run = await testRunById(tenant, id)
  if (run === undefined) throw new PatchbayError('test_run_not_found')
  return run
}

export const testRunRoutes = [start, list, read, cases, cancel]
