import { setTimeout as sleep } from 'node:timers/promises'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { listTests } from '../../store/agent-tests/stored-tests.ts'
import { cancelTestRun, noteTestedVersion, testRunById, testShares } from '../../store/agent-tests/test-runs.ts'
import type { TestRun } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import type { PublishGate } from '../agents/publish.ts'
import { beginRun, refuseField } from './begin-run.ts'

const FIELD = 'require_tests'
const LOOK_EVERY_MS = 250
const TIMEOUT_MS = 10 * 60_000
const MAX_NAMED = 10

/** A draft goes live only when its tests with this tag pass. Throws `tests_failed` with those that don't, `timeout` after ten minutes. */
export function testsGate(tag: string): PublishGate {
  return async ({ tenant, agentId, signal }) => {
    const tests = await listTests(tenant, { agentId, tag })
    if (tests.length === 0) refuseField(FIELD, 'names no test of this agent: nothing would be proved')
    const wanted = tests.map(({ id, definition }) => ({ testId: id, definition, times: definition.times ?? 1 }))
    const { id } = await beginRun(tenant, { agentId, version: 'draft', tests: wanted }, FIELD)
    const run = await endOf(tenant, id, signal)
    if (run.status === 'done' && run.passed === run.total) return (version) => noteTestedVersion(tenant, id, version)
    const failed = (await testShares(tenant, id)).filter(({ passed, total }) => passed < total)
    const names = failed.slice(0, MAX_NAMED).map(({ name }) => name)
    throw new PatchbayError('tests_failed', { params: { run_id: id, tests: names.join('; ') } })
  }
}

async function endOf(tenant: Tenant, runId: string, signal: AbortSignal): Promise<TestRun> {
  const deadline = performance.now() + TIMEOUT_MS
  try {
    for (;;) {
      const run = await testRunById(tenant, runId)
      if (run === undefined) throw new PatchbayError('test_run_not_found')
      if (run.status !== 'running') return run
      if (performance.now() > deadline) {
        throw new PatchbayError('timeout', { params: { action: 'The tests', timeoutMs: TIMEOUT_MS } })
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal })
    }
  } catch (error) {
    await cancelTestRun(tenant, runId)
    throw error
  }
}
