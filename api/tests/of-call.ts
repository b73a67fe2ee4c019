import { Type } from 'typebox'
import { stringify } from 'yaml'
import { recordOf } from '../../runtime/agent-tests/record.ts'
import { AgentTest } from '../../runtime/agent-tests/schema.ts'
import { testOfCall } from '../../runtime/agent-tests/test-of-call.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { callEventsOf } from '../../store/calls/call-events.ts'
import { call_log_id, isOver, requireCall } from '../calls/one-call.ts'
import { defineRoute } from '../route.ts'
import { testExample } from './schema.ts'

const FACT_EVENTS = [
  'tool_called',
  'tool_returned',
  'handed_off',
  'collected',
  'procedure_begun',
  'procedure_ended',
] as const

const toTest = defineRoute({
  method: 'POST',
  path: '/calls/{call_log_id}/to-test',
  auth: 'jwt_or_key',
  role: 'developer',
  audit: ['personal_data'],
  params: { call_log_id },
  body: Type.Object({
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' })),
    personal_data: Type.Optional(
      Type.Enum(['replace', 'keep'], {
        default: 'replace',
        description:
          '`replace`: phone numbers, e-mail addresses, long numbers and the values of the call’s variables become stand-ins, the same by the same. Names that only the caller said stay: read it before you share it.',
      }),
    ),
  }),
  success: {
    status: 200,
    schema: Type.Object({ definition: AgentTest, yaml: Type.String() }),
  },
  errors: ['call_log_not_found', 'call_without_words', 'call_not_over'],
  tag: 'Tests',
  summary: 'Make a test of a call',
  description:
    'The caller’s turns become the script, what tools answered their mocks, and what came of the call is proposed as facts. Nothing is stored: `POST /tests` does that.',
  examples: {
    body: { name: testExample.name },
    success: { definition: testExample.definition, yaml: `name: ${testExample.name}\n` },
  },
  handler: async ({ params, body, tenant }) => {
    const call = await requireCall(tenant, params.call_log_id)
    if (!isOver(call)) throw new PatchbayError('call_not_over')
    const events = await callEventsOf(tenant, { id: call.id, createdAt: call.created_at }, FACT_EVENTS)
    const { tools, handedOff, collected, procedures } = recordOf(events)
    const definition = testOfCall(
      {
        turns: call.turns,
        ...{ tools, handedOff, collected, procedures },
        disposition: call.disposition,
        endReason: call.end_reason,
        variables: call.dynamic_variables,
        numbers: [call.from_number, call.to_number],
        startedAt: call.answered_at ?? call.created_at,
      },
      {
        name: body.name ?? `as in the call of ${call.created_at.toISOString().slice(0, 16)}`,
        keep: body.personal_data === 'keep',
      },
    )
    if (definition === undefined) throw new PatchbayError('call_without_words')
    return { definition, yaml: stringify(definition) }
  },
})

export const testOfCallRoutes = [toTest]
