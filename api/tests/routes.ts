import { type Static, Type } from 'typebox'
import { AgentTest } from '../../runtime/agent-tests/schema.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import {
  countTests,
  deleteTest,
  insertTest,
  listTests,
  replaceTest,
  storedTestById,
} from '../../store/agent-tests/stored-tests.ts'
import { hasAgent } from '../../store/agents/agents.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { isUuid } from '../ids.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { defineRoute } from '../route.ts'
import { Detail } from '../workspaces/schema.ts'
import { contentsOf, TestBody, TestInput, TestsQuery, testBody, testExample } from './schema.ts'

const tag = 'Tests'
const MAX_TESTS = 2_000

const test_id = { description: 'The test.', notFound: 'test_not_found', example: testExample.test_id } as const

/** The agent a test names. Throws `agent_not_found`. */
export async function requireAgentOf(tenant: Tenant, agentId: string | null | undefined): Promise<string | null> {
  if (agentId === undefined || agentId === null) return null
  if (!isUuid(agentId) || !(await hasAgent(tenant, agentId))) throw new PatchbayError('agent_not_found')
  return agentId
}

async function contents(tenant: Tenant, body: Static<typeof TestInput>) {
  return { ...contentsOf(body), agentId: await requireAgentOf(tenant, body.agent_id) }
}

const schema = defineRoute({
  method: 'GET',
  path: '/tests/schema',
  auth: 'none',
  role: 'none',
  success: { status: 200, schema: Type.Record(Type.String(), Type.Unknown()) },
  tag,
  summary: 'The JSON Schema of a test, for editors',
  examples: { success: { type: 'object', required: ['name', 'caller'] } },
  handler: () => AgentTest as unknown as Record<string, unknown>,
})

const create = defineRoute({
  method: 'POST',
  path: '/tests',
  auth: 'jwt_or_key',
  role: 'developer',
  scope: 'agents',
  audit: ['agent_id'],
  body: TestInput,
  success: { status: 201, schema: TestBody },
  errors: ['agent_not_found', 'quota_reached'],
  tag,
  summary: 'Store a test of an agent',
  description: 'What stands in the test, and what each fact means, is in docs/agents/testing.md.',
  examples: { body: { agent_id: testExample.agent_id, definition: testExample.definition }, success: testExample },
  handler: async ({ body, tenant }) => {
    const test = await contents(tenant, body)
    if ((await countTests(tenant)) >= MAX_TESTS) {
      throw new PatchbayError('quota_reached', { params: { quota: `${MAX_TESTS} tests` } })
    }
    return testBody(await insertTest(tenant, test))
  },
})

const list = defineRoute({
  method: 'GET',
  path: '/tests',
  auth: 'jwt_or_key',
  role: 'member',
  query: Type.Object({ ...ListQuery.properties, ...TestsQuery.properties }),
  success: { status: 200, schema: ListOf(TestBody) },
  tag,
  summary: 'The tests of the workspace',
  examples: { success: [testExample] },
  handler: async ({ query, tenant }) => {
    const { agent_id: agentId, tag } = query
    if (agentId !== undefined && !isUuid(agentId)) return listOf([], query)
    return listOf((await listTests(tenant, { agentId, tag })).map(testBody), query)
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/tests/{test_id}',
  auth: 'jwt_or_key',
  role: 'member',
  params: { test_id },
  success: { status: 200, schema: TestBody },
  errors: ['test_not_found'],
  tag,
  summary: 'One test',
  examples: { success: testExample },
  handler: async ({ params, tenant }) => {
    const test = await storedTestById(tenant, params.test_id)
    if (test === undefined) throw new PatchbayError('test_not_found')
    return testBody(test)
  },
})

const replace = defineRoute({
  method: 'PUT',
  path: '/tests/{test_id}',
  auth: 'jwt_or_key',
  role: 'developer',
  scope: 'agents',
  audit: ['agent_id'],
  params: { test_id },
  body: TestInput,
  success: { status: 200, schema: TestBody },
  errors: ['test_not_found', 'agent_not_found'],
  tag,
  summary: 'Replace a test',
  examples: { body: { agent_id: testExample.agent_id, definition: testExample.definition }, success: testExample },
  handler: async ({ params, body, tenant }) => {
    const test = await replaceTest(tenant, params.test_id, await contents(tenant, body))
    if (test === undefined) throw new PatchbayError('test_not_found')
    return testBody(test)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/tests/{test_id}',
  auth: 'jwt_or_key',
  role: 'developer',
  scope: 'delete',
  params: { test_id },
  success: { status: 200, schema: Detail },
  errors: ['test_not_found'],
  tag,
  summary: 'Delete a test; what came of its runs stays',
  examples: { success: { detail: 'Test deleted' } },
  handler: async ({ params, tenant }) => {
    if (!(await deleteTest(tenant, params.test_id))) throw new PatchbayError('test_not_found')
    return { detail: 'Test deleted' }
  },
})

export const testRoutes = [schema, create, list, read, replace, remove]
