import { type Static, Type } from 'typebox'
import { MAX_TEST_BYTES, parseTest, type TestFault, testFaults } from '../../runtime/agent-tests/parse.ts'
import { AgentTest, TEST_CHANNELS } from '../../runtime/agent-tests/schema.ts'
import { wilson } from '../../runtime/agent-tests/wilson.ts'
import { whyNot } from '../../store/agent-tests/due-cases.ts'
import type { PublishedShare, TestShare } from '../../store/agent-tests/test-runs.ts'
import type { StoredTest, TestCase, TestRun } from '../../store/database/schema.ts'
import { type Fault, Id, Instant, Nullable, ValidationError } from '../schema.ts'

const Definition = Type.Record(Type.String(), Type.Unknown(), {
  description: 'The test, as in a file: see `GET /tests/schema`.',
})

const contents = {
  agent_id: Type.Optional(Nullable(Type.String({ maxLength: 100, description: 'Null: a test of any agent.' }))),
  definition: Type.Optional(Definition),
  yaml: Type.Optional(
    Type.String({ maxLength: MAX_TEST_BYTES, description: 'The test as YAML, in place of `definition`.' }),
  ),
}
export const TestInput = Type.Object(contents)

export const TestBody = Type.Object({
  test_id: Id,
  agent_id: Nullable(Id),
  name: Type.String(),
  tags: Type.Array(Type.String()),
  definition: AgentTest,
  yaml: Nullable(Type.String({ description: 'As it was written; null where it came as JSON.' })),
  created_at: Instant,
  updated_at: Instant,
})

export const TestsQuery = Type.Object({
  agent_id: Type.Optional(Type.String({ maxLength: 100, description: 'Tests of this agent, and those of any.' })),
  tag: Type.Optional(Type.String({ maxLength: 50 })),
})

export const StartTestRunInput = Type.Object({
  agent_id: Type.String({ maxLength: 100 }),
  version: Type.Optional(
    Type.String({
      pattern: '^(live|draft|[1-9][0-9]{0,8})$',
      description: '`live` (what calls get), `draft`, or the number of a version; default `draft`.',
    }),
  ),
  tests: Type.Optional(
    Type.Array(Type.Union([Definition, Id]), {
      maxItems: 1_000,
      description: 'Ids of tests, or tests as in a file. Default: all of the agent’s.',
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ maxLength: 50 }), {
      maxItems: 20,
      description: 'Of the stored tests those with one of these.',
    }),
  ),
  times: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'How often each runs; default: as the test says.' }),
  ),
  channel: Type.Optional(
    Type.Enum([...TEST_CHANNELS], { description: 'How each is run; default: as the test says, else `text`.' }),
  ),
})

const Counts = {
  total: Type.Integer(),
  passed: Type.Integer(),
  failed: Type.Integer(),
  unsure: Type.Integer({ description: 'Something could not be judged: no pass.' }),
  errors: Type.Integer({ description: 'The run came to no verdict.' }),
}

const runFields = {
  run_id: Id,
  agent_id: Id,
  version: Type.String(),
  agent_version: Nullable(
    Type.Integer({ description: 'The version that was tested; null: a draft that was not published as it was.' }),
  ),
  status: Type.Enum(['running', 'done', 'canceled']),
  ...Counts,
  cost: Nullable(
    Type.Number({ description: 'US dollars that calls like these would cost; null: a price is not known.' }),
  ),
  created_at: Instant,
  ended_at: Nullable(Instant),
}
export const TestRunItem = Type.Object(runFields)

const Share = Type.Object({
  name: Type.String(),
  test_id: Nullable(Id),
  ...Counts,
  share_low: Type.Number({ description: 'The share of passes lies above this, with 95 % confidence.' }),
  share_high: Type.Number(),
  before: Nullable(
    Type.Object(
      { passed: Type.Integer(), total: Type.Integer() },
      { description: 'In the run before; null: it was not in it.' },
    ),
  ),
  published: Nullable(
    Type.Object(
      { version: Type.Integer(), passed: Type.Integer(), total: Type.Integer() },
      { description: 'When the last version before this one was tested; null: it never was.' },
    ),
  ),
})
export const TestRunBody = Type.Object({
  ...runFields,
  before_run_id: Nullable(Type.String({ format: 'uuid', description: 'The agent’s last run before this one.' })),
  tests: Type.Array(Share),
})

const FactVerdict = Type.Enum(['pass', 'fail', 'unsure'])
export const TestCaseBody = Type.Object({
  case_id: Id,
  test_id: Nullable(Id),
  name: Type.String(),
  repeat: Type.Integer(),
  verdict: Nullable(Type.Enum(['pass', 'fail', 'unsure', 'error'])),
  why: Nullable(Type.String({ description: 'The first reason why it did not pass.' })),
  facts: Type.Array(Type.Object({ fact: Type.String(), verdict: FactVerdict, why: Type.Optional(Type.String()) })),
  judged: Type.Array(
    Type.Object({
      sentence: Type.String(),
      verdict: FactVerdict,
      why: Type.String(),
      turn: Type.Optional(Type.Integer({ description: 'The turn that decides, from 1.' })),
      model: Type.String(),
      prompt_version: Type.Integer(),
      marked: Nullable(Type.Enum(['pass', 'fail'], { description: 'What a person says of it.' })),
    }),
  ),
  turns: Type.Array(
    Type.Object({
      role: Type.Enum(['user', 'assistant']),
      text: Type.String(),
      start_ms: Type.Number(),
      end_ms: Type.Number(),
      interrupted: Type.Boolean(),
    }),
  ),
  tools: Type.Array(
    Type.Object({
      name: Type.String(),
      arguments: Type.Record(Type.String(), Type.Unknown()),
      result: Type.String(),
      at_ms: Type.Number(),
      took_ms: Type.Number(),
      error: Nullable(Type.String()),
    }),
  ),
  latencies_ms: Type.Array(Type.Number()),
  disposition: Nullable(Type.String()),
  ended_by: Nullable(Type.String()),
  duration_ms: Nullable(Type.Number()),
  cost: Nullable(Type.Number()),
  unsaid: Type.Array(Type.String(), { description: 'Lines of the caller that the conversation never came to.' }),
})

export const TestCompleted = Type.Object({
  run_id: Id,
  case_id: Id,
  agent_id: Id,
  name: Type.String(),
  repeat: Type.Integer(),
  verdict: Type.Enum(['pass', 'fail', 'unsure', 'error']),
  why: Nullable(Type.String()),
})
export const TestRunCompleted = Type.Object({ run_id: Id, agent_id: Id, version: Type.String(), ...Counts })

const agent_id = '0197f3a2-7c1e-7000-8000-000000000003'
const at = '2026-01-31T09:00:00.000Z'

export const testExample: Static<typeof TestBody> = {
  test_id: '0197f3a2-7c1e-7000-8000-000000000060',
  agent_id,
  name: 'books a table although the caller changes his mind',
  tags: ['booking'],
  definition: {
    name: 'books a table although the caller changes his mind',
    tags: ['booking'],
    caller: { say: ['A table for four on Sunday, please.', 'No, on Monday.', 'Yes.'] },
    tools: { book: { when: { day: 'monday' }, returns: { ok: true } } },
    expect: [{ called: 'book', once: true, with: { seats: 4 } }, { heard: '/monday/i' }],
  },
  yaml: null,
  created_at: at,
  updated_at: at,
}

export const runExample: Static<typeof TestRunItem> = {
  run_id: '0197f3a2-7c1e-7000-8000-000000000061',
  agent_id,
  version: 'draft',
  agent_version: null,
  status: 'done',
  ...{ total: 5, passed: 4, failed: 1, unsure: 0, errors: 0 },
  cost: 0.012,
  created_at: at,
  ended_at: '2026-01-31T09:00:04.000Z',
}

export const runBodyExample: Static<typeof TestRunBody> = {
  ...runExample,
  before_run_id: null,
  tests: [
    {
      ...{ name: testExample.name, test_id: testExample.test_id },
      ...{ total: 5, passed: 4, failed: 1, unsure: 0, errors: 0 },
      ...{ share_low: 0.376, share_high: 0.964, before: null, published: { version: 3, passed: 5, total: 5 } },
    },
  ],
}

export const testCompletedExample: Static<typeof TestCompleted> = {
  run_id: runExample.run_id,
  case_id: '0197f3a2-7c1e-7000-8000-000000000062',
  agent_id,
  name: testExample.name,
  repeat: 1,
  verdict: 'fail',
  why: 'heard /monday/i: the caller never heard it',
}

export const testRunCompletedExample: Static<typeof TestRunCompleted> = {
  ...{ run_id: runExample.run_id, agent_id, version: 'draft' },
  ...{ total: 5, passed: 4, failed: 1, unsure: 0, errors: 0 },
}

/** Throws what is wrong with a test; else it is one. */
export function checkedTest(value: unknown, at: readonly string[] = ['body', 'definition']): AgentTest {
  refuse(testFaults(value), at)
  return value as AgentTest
}

/** The test of a request, with its file where it came as one. */
export function contentsOf({ definition, yaml }: Static<typeof TestInput>): {
  definition: AgentTest
  source: string | null
} {
  if (yaml === undefined) return { definition: checkedTest(definition ?? {}), source: null }
  if (definition !== undefined) {
    throw new ValidationError([{ loc: ['body', 'yaml'], msg: 'give `definition` or `yaml`', type: 'value_error' }])
  }
  const { test, faults } = parseTest(yaml)
  if (test === undefined) refuse(faults, ['body', 'yaml'])
  return { definition: test as AgentTest, source: yaml }
}

function refuse(faults: readonly TestFault[], at: readonly string[]): void {
  if (faults.length === 0) return
  throw new ValidationError(
    faults.map(({ path, message, line }): Fault => {
      const where = line === undefined ? '' : ` (line ${line})`
      return { loc: [...at, ...path.map(String)], msg: `${message}${where}`, type: 'value_error' }
    }),
  )
}

export function testBody(test: StoredTest): Static<typeof TestBody> {
  const { id: test_id, agent_id, name, tags, definition, source: yaml } = test
  const times = { created_at: test.created_at.toISOString(), updated_at: test.updated_at.toISOString() }
  return { test_id, agent_id, name, tags, definition, yaml, ...times }
}

export function runItem(run: TestRun): Static<typeof TestRunItem> {
  const { id: run_id, agent_id, version, agent_version, status, cost_usd: cost } = run
  return {
    ...{ run_id, agent_id, version, agent_version, status },
    ...countsOf(run),
    cost,
    created_at: run.created_at.toISOString(),
    ended_at: run.ended_at?.toISOString() ?? null,
  }
}

const countsOf = ({ total, passed, failed, unsure, broken }: Omit<TestShare, 'position' | 'name' | 'test_id'>) => {
  return { total, passed, failed, unsure, errors: broken }
}

export function runBody(
  run: TestRun,
  shares: readonly TestShare[],
  before: { id: string; shares: readonly TestShare[] } | undefined,
  published: readonly PublishedShare[],
): Static<typeof TestRunBody> {
  const earlier = new Map(before?.shares.map((share) => [share.name, share]))
  const last = new Map(published.map(({ name, ...share }) => [name, share]))
  return {
    ...runItem(run),
    before_run_id: before?.id ?? null,
    tests: shares.map((share) => {
      const { name, test_id, passed, failed, unsure, broken } = share
      const { low, high } = wilson(passed, passed + failed + unsure + broken)
      const was = earlier.get(name)
      return {
        ...{ name, test_id },
        ...countsOf(share),
        ...{ share_low: low, share_high: high },
        before: was === undefined ? null : { passed: was.passed, total: was.total },
        published: last.get(name) ?? null,
      }
    }),
  }
}

/** How often a judge says what people say. */
export const JudgeAgreementBody = Type.Object({
  model: Type.String(),
  prompt_version: Type.Integer({ description: 'Of the rubric.' }),
  marked: Type.Integer({ description: 'Sentences that people marked.' }),
  agreed: Type.Integer(),
  disagreed: Type.Integer(),
  unsure: Type.Integer({ description: 'The judge gave no answer.' }),
  share_low: Type.Number({
    description: 'The share of agreement among its answers lies above this, with 95 % confidence.',
  }),
  share_high: Type.Number(),
})

export function caseBody({ id, test_id, name, repeat, verdict, result, marks }: TestCase): Static<typeof TestCaseBody> {
  const record = result?.record
  return {
    ...{ case_id: id, test_id, name, repeat, verdict },
    why: result === null ? null : whyNot(result),
    facts: result?.facts ?? [],
    judged: (result?.judged ?? []).map(({ promptVersion: prompt_version, ...one }) => {
      return { ...one, prompt_version, marked: marks?.[one.sentence] ?? null }
    }),
    turns: (record?.turns ?? []).map(({ role, text, startMs, endMs, interrupted = false }) => {
      return { role, text, start_ms: startMs, end_ms: endMs, interrupted }
    }),
    tools: (record?.tools ?? []).map(({ name, arguments: given, result, atMs, tookMs, error = null }) => {
      return { name, arguments: given, result, at_ms: atMs, took_ms: tookMs, error }
    }),
    latencies_ms: record?.latenciesMs ?? [],
    disposition: record?.disposition ?? null,
    ended_by: record?.endedBy ?? null,
    duration_ms: record?.durationMs ?? null,
    cost: record?.costUsd ?? null,
    unsaid: record?.unsaid ?? [],
  }
}
