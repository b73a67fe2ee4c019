import type { ColumnType, Generated, JSONColumnType, Selectable } from 'kysely'
import type { Mark } from '../../runtime/agent-tests/judge-agreement.ts'
import type { RunVerdict, TestResult } from '../../runtime/agent-tests/run-test.ts'
import type { AgentTest } from '../../runtime/agent-tests/schema.ts'
import type { BoundWorkspace, CreatedAt } from '../database/tables.ts'

interface AgentTestsTable {
  id: string
  workspace_id: BoundWorkspace
  /** Null: of any agent. */
  agent_id: string | null
  name: string
  tags: string[]
  definition: JSONColumnType<AgentTest, string, string>
  /** The file it came from, with its comments. */
  source: string | null
  created_at: CreatedAt
  updated_at: Generated<Date>
}

interface TestRunsTable {
  id: string
  workspace_id: BoundWorkspace
  agent_id: string
  /** `live`, `draft` or the number of a version. */
  version: string
  /** Which version that was; null: a draft that was not published as it was. */
  agent_version: number | null
  status: Generated<'running' | 'done' | 'canceled'>
  total: number
  passed: Generated<number>
  failed: Generated<number>
  unsure: Generated<number>
  broken: Generated<number>
  /** Null: a price is not known. */
  cost_usd: Generated<number | null>
  created_at: CreatedAt
  ended_at: Date | null
}

interface TestCasesTable {
  id: string
  workspace_id: BoundWorkspace
  run_id: string
  /** The row it was made of; null: it came with the run. */
  test_id: string | null
  position: number
  /** From 1. */
  repeat: number
  name: string
  definition: JSONColumnType<AgentTest, string, string>
  /** Null: it waits or runs. */
  verdict: RunVerdict | null
  result: ColumnType<TestResult | null, string | null | undefined, string | null>
  /** What people say of judged sentences, by sentence. */
  marks: ColumnType<Record<string, Mark> | null, never, string | null>
  attempts: Generated<number>
  next_attempt_at: Generated<Date>
  ended_at: Date | null
}

export type StoredTest = Selectable<AgentTestsTable>
export type TestRun = Selectable<TestRunsTable>
export type TestCase = Selectable<TestCasesTable>

/** Of a workspace. */
export interface TenantTestTables {
  agent_tests: AgentTestsTable
  test_runs: TestRunsTable
  test_cases: TestCasesTable
}
