import { Type } from 'typebox'
import { stringify } from 'yaml'
import { recordOf } from '../../runtime/agent-tests/record.ts'
import { AgentTest } from '../../runtime/agent-tests/schema.ts'
import { testOfCall } from '../../runtime/agent-tests/test-of-call.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { callEventsOf } from '../../store/calls/call-events.ts'
import { call_log_id, isOver, requireCall } from '../calls/one-call.ts'
import { defineRoute } from '../route.ts'
import { refuseField } from './begin-run.ts'
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
  audit: ['personal_data', 'audio'],
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
    audio: Type.Optional(
      Type.Enum(['voice', 'call'], {
        default: 'voice',
        description:
          '`call`: in sound, the caller is heard as in the recording, turn by turn, for as long as there is one. Needs `personal_data: keep`: a voice can’t be replaced, and what tools were given is what it says.',
      }),
    ),
  }),
  success: {
    status: 200,
    schema: Type.Object({ definition: AgentTest, yaml: Type.String() }),
  },
  errors: ['call_log_not_found', 'call_without_words', 'call_not_over', 'recording_not_found'],
  tag: 'Tests',
  summary: 'Make a test of a call',
  description:
    'The caller’s turns become the script, what tools answered their mocks, and what came of the call is proposed as facts. Nothing is stored: `POST /tests` does that.',
  examples: {
    body: { name: testExample.name },
    success: { definition: testExample.definition, yaml: `name: ${testExample.name}\n` },
  },
  handler: async ({ params, body, tenant }) => {
    const keep = body.personal_data === 'keep'
    const isHeard = body.audio === 'call'
    if (isHeard && !keep) refuseField('personal_data', 'must be `keep` with `audio: call`: a voice can’t be replaced')
    const call = await requireCall(tenant, params.call_log_id)
    if (!isOver(call)) throw new PatchbayError('call_not_over')
    if (isHeard && call.recording_key === null) throw new PatchbayError('recording_not_found')
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
        ...{ keep, recordedCall: isHeard ? call.id : undefined },
      },
    )
    if (definition === undefined) throw new PatchbayError('call_without_words')
    return { definition, yaml: stringify(definition) }
  },
})

export const testOfCallRoutes = [toTest]
