import { type Static, Type } from 'typebox'
import type { AgentTest } from '../../runtime/agent-tests/schema.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { listTests, storedTestById } from '../../store/agent-tests/stored-tests.ts'
import {
  cancelTestRun,
  countTestRuns,
  insertTestRun,
  listTestCases,
  listTestRuns,
  testRunBefore,
  testRunById,
  testShares,
} from '../../store/agent-tests/test-runs.ts'
import type { TestRun } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { isUuid } from '../ids.ts'
import { requireMonth } from '../quota.ts'
import { defineRoute } from '../route.ts'
import { Page, PageQuery, pageOf, ValidationError } from '../schema.ts'
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
const MAX_CASES = 5_000
const MAX_RUNNING = 100

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
  audit: ['agent_id', 'version', 'tags', 'times'],
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
    const tests = chosen.map((one) => ({ ...one, times: body.times ?? one.definition.times ?? 1 }))
    const cases = tests.reduce((sum, { times }) => sum + times, 0)
    if (cases === 0) refuse('tests', 'there is no such test: nothing would be proved')
    if (cases > MAX_CASES) refuse('times', `makes ${cases} runs of tests; at most ${MAX_CASES}`)
    if ((await countTestRuns(tenant, { running: true })) >= MAX_RUNNING) {
      throw new PatchbayError('quota_reached', { params: { quota: `${MAX_RUNNING} test runs at once` } })
    }
    return runItem(await insertTestRun(tenant, { agentId, version: body.version ?? 'draft', tests }))
  },
})

function refuse(field: string, msg: string): never {
  throw new ValidationError([{ loc: ['body', field], msg, type: 'value_error' }])
}

async function chosenTests(tenant: Tenant, agentId: string, body: Static<typeof StartTestRunInput>): Promise<Chosen[]> {
  const { tests, tags } = body
  if (tests === undefined) {
    const all = await listTests(tenant, { agentId })
    const wanted = tags === undefined ? all : all.filter((test) => test.tags.some((one) => tags.includes(one)))
    return wanted.map(({ id, definition }) => ({ testId: id, definition }))
  }
  return Promise.all(
    tests.map(async (one, i): Promise<Chosen> => {
      if (typeof one !== 'string') return { testId: null, definition: checkedTest(one, ['body', 'tests', String(i)]) }
      const stored = isUuid(one) ? await storedTestById(tenant, one) : undefined
      if (stored === undefined) throw new PatchbayError('test_not_found')
      return { testId: stored.id, definition: stored.definition }
    }),
  )
}

const list = defineRoute({
  method: 'GET',
  path: '/tests/runs',
  auth: 'jwt_or_key',
  role: 'member',
  query: Type.Object({ ...PageQuery, agent_id: Type.Optional(Type.String({ maxLength: 100 })) }),
  success: { status: 200, schema: Page(TestRunItem) },
  tag,
  summary: 'Runs of tests, newest first',
  examples: { success: { items: [runExample], total: 1, page: 1, page_size: 25, total_pages: 1 } },
  handler: async ({ query, tenant }) => {
    const { agent_id: agentId, page, page_size: limit } = query
    if (agentId !== undefined && !isUuid(agentId)) return pageOf([], 0, query)
    const [runs, total] = await Promise.all([
      listTestRuns(tenant, { agentId, offset: (page - 1) * limit, limit }),
      countTestRuns(tenant, { agentId }),
    ])
    return pageOf(runs.map(runItem), total, query)
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
  summary: 'A run of tests: how often each passed, with its interval and the run before',
  examples: { success: runBodyExample },
  handler: async ({ params, tenant }) => {
    const run = await requireRun(tenant, params.run_id)
    const [shares, before] = await Promise.all([testShares(tenant, run.id), testRunBefore(tenant, run)])
    return runBody(run, shares, before && { id: before.id, shares: await testShares(tenant, before.id) })
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
  success: { status: 200, schema: Type.Object({ items: Type.Array(TestCaseBody) }) },
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
    },
  },
  handler: async ({ params, query, tenant }) => {
    const run = await requireRun(tenant, params.run_id)
    const { page, page_size: limit, failed = false } = query
    const found = await listTestCases(tenant, run.id, { offset: (page - 1) * limit, limit, failed })
    return { items: found.map(caseBody) }
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
