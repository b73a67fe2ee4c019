import { PatchbayError } from '../../runtime/lib/errors.ts'
import { countTestRuns, insertTestRun, type NewTestRun } from '../../store/agent-tests/test-runs.ts'
import type { TestRun } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { ValidationError } from '../schema.ts'

const MAX_CASES = 5_000
const MAX_RUNNING = 100

/** Begins a run of at least one test. Throws what is wrong with `field` where it is too large, and `quota_reached` where too many run. */
export async function beginRun(tenant: Tenant, run: NewTestRun, field: string): Promise<TestRun> {
  const cases = run.tests.reduce((sum, { times }) => sum + times, 0)
  if (cases > MAX_CASES) refuseField(field, `makes ${cases} runs of tests; at most ${MAX_CASES}`)
  if ((await countTestRuns(tenant, { running: true })) >= MAX_RUNNING) {
    throw new PatchbayError('quota_reached', { params: { quota: `${MAX_RUNNING} test runs at once` } })
  }
  return insertTestRun(tenant, run)
}

export function refuseField(field: string, msg: string): never {
  throw new ValidationError([{ loc: ['body', field], msg, type: 'value_error' }])
}
