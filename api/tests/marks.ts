import { Type } from 'typebox'
import { judgeAgreement } from '../../runtime/agent-tests/judge-agreement.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { markedCases, markSentence } from '../../store/agent-tests/marked-cases.ts'
import { defineRoute } from '../route.ts'
import { Nullable } from '../schema.ts'
import { Detail } from '../workspaces/schema.ts'
import { refuseField } from './begin-run.ts'
import { JudgeAgreementBody, runExample } from './schema.ts'

const tag = 'Tests'
const run_id = { description: 'The run.', notFound: 'test_run_not_found', example: runExample.run_id } as const
const case_id = {
  description: 'One of its cases.',
  notFound: 'test_run_not_found',
  example: '0197f3a2-7c1e-7000-8000-000000000062',
} as const

const mark = defineRoute({
  method: 'PUT',
  path: '/tests/runs/{run_id}/cases/{case_id}/marks',
  auth: 'jwt_or_key',
  role: 'developer',
  audit: ['verdict'],
  params: { run_id, case_id },
  body: Type.Object({
    sentence: Type.String({ minLength: 1, maxLength: 2_000, description: 'As the test has it under `judge`.' }),
    verdict: Nullable(Type.Enum(['pass', 'fail'], { description: 'What you say of it; null takes that back.' })),
  }),
  success: { status: 200, schema: Detail },
  errors: ['test_run_not_found'],
  tag,
  summary: 'Say whether a judged sentence is true of the conversation',
  description: 'The judge’s verdict stays. `GET /tests/judge/agreement` says how often it is yours.',
  examples: {
    body: { sentence: 'The agent repeats the day before it books.', verdict: 'fail' },
    success: { detail: 'Marked' },
  },
  handler: async ({ params, body, tenant }) => {
    const { sentence, verdict } = body
    const given = { runId: params.run_id, caseId: params.case_id, sentence, mark: verdict }
    const came = await markSentence(tenant, given)
    if (came === 'missing') throw new PatchbayError('test_run_not_found')
    if (came === 'not_judged') refuseField('sentence', 'is none that a judge judged in this case')
    return { detail: 'Marked' }
  },
})

const agreement = defineRoute({
  method: 'GET',
  path: '/tests/judge/agreement',
  auth: 'jwt_or_key',
  role: 'member',
  success: {
    status: 200,
    schema: Type.Array(JudgeAgreementBody),
  },
  tag,
  summary: 'How often each judge says what people say',
  description: 'Of the sentences that people marked, in the runs that are kept.',
  examples: {
    success: [
      {
        ...{ model: 'openai/gpt-4.1-mini', prompt_version: 1, marked: 40, agreed: 37, disagreed: 2, unsure: 1 },
        ...{ share_low: 0.831, share_high: 0.986 },
      },
    ],
  },
  handler: async ({ tenant }) =>
    judgeAgreement(await markedCases(tenant)).map(({ promptVersion, low, high, ...counts }) => ({
      ...counts,
      ...{ prompt_version: promptVersion, share_low: low, share_high: high },
    })),
})

export const markRoutes = [mark, agreement]
