import { setTimeout as sleep } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { MAX_EXTERNAL_ID_CHARS, MetadataMap } from '../../runtime/call/types/metadata.ts'
import { DynamicVariables } from '../../runtime/conversation/variables.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { agentByNumber } from '../../store/agents/agents.ts'
import { insertCall } from '../../store/calls/calls.ts'
import { cancelQueuedCall } from '../../store/calls/cancel-calls.ts'
import { countWaitingCalls } from '../../store/calls/outbound-calls.ts'
import { isOnDoNotCall } from '../../store/campaigns/do-not-call.ts'
import type { Call } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { requestHangup } from '../../store/redis/hangup.ts'
import { type Cell, csvRecord, eachCall } from '../../store/uploads/csv-export.ts'
import { queueCall, requireQueues } from '../../workers/calls/queue.ts'
import { csvFile } from '../csv-file.ts'
import { requireDestination, requireDialTarget } from '../dial-target.ts'
import { keyedBy, once } from '../idempotency.ts'
import { requirePhoneNumber } from '../phone-number.ts'
import { requireServed } from '../quota.ts'
import { agentSpec } from '../realtime/agent-spec.ts'
import { defineRoute } from '../route.ts'
import { DialTargetInput, PhoneNumberInput } from '../schema.ts'
import { call_log_id, isOver, requireCall } from './one-call.ts'
import { CallBody, CallFilterQuery, callBody, callExample, callFilter } from './schema.ts'
import { tokenParts } from './token-parts.ts'

const tag = 'Calls'

const outboundExample: Static<typeof CallBody> = {
  ...callExample,
  call_type: 'phone',
  direction: 'outbound',
  agent_version: null,
  status: 'queued',
  end_reason: null,
  disposition: null,
  from_number: '+14155550100',
  to_number: '+14155550199',
  dynamic_variables: { first_name: 'Ada' },
  answered_at: null,
  ended_at: null,
  duration: null,
  transcript: [],
  usage: {
    llm_input_tokens: 0,
    llm_output_tokens: 0,
    stt_seconds: 0,
    tts_characters: 0,
    total_tokens: 0,
    ...tokenParts(undefined),
  },
  latency: { turns: 0, p50_ms: null, p95_ms: null },
}

const outboundCall = defineRoute({
  method: 'POST',
  path: '/calls/outbound_call',
  auth: 'jwt_or_key',
  role: 'member',
  idempotent: true,
  startsCall: true,
  phoneFirst: true,
  body: Type.Object({
    agent_phone_number: PhoneNumberInput('A registered number of the agent; the callee sees it.'),
    phone_number_to_dial: DialTargetInput(
      'The number to call; from a number of a SIP trunk, or to an extension of the workspace, an extension or a SIP URI, too.',
    ),
    dynamic_variables: DynamicVariables({
      default: {},
      description: "Fill `{{name}}` in the agent's system prompt and first message.",
    }),
    external_id: Type.Optional(
      Type.String({ maxLength: MAX_EXTERNAL_ID_CHARS, description: 'What your system calls the call.' }),
    ),
    metadata: MetadataMap({ default: {} }),
    override: Type.Optional(
      Type.Boolean({
        description: 'Calls a number of the do-not-call list all the same; for the JWT of an Admin, and logged.',
      }),
    ),
  }),
  success: { status: 201, schema: CallBody },
  errors: [
    'invalid_phone_number',
    'agent_text_too_long',
    'agent_not_found',
    'quota_reached',
    'do_not_call',
    'admin_required',
  ],
  tag,
  summary: 'Call a phone number with an agent',
  description: 'Answers at once with the call log, queued; read the call to see what became of it.',
  examples: {
    body: {
      agent_phone_number: '+14155550100',
      phone_number_to_dial: '+14155550199',
      dynamic_variables: { first_name: 'Ada' },
      external_id: 'crm-1815',
      metadata: { deal: '4711' },
    },
    success: outboundExample,
  },
  handler: async (request, services) => {
    const { body, tenant, log, role, user } = request
    const { config, clock, outbound } = services
    await requireQueues(services.stores)
    const override = body.override === true
    if (override && (role !== 'admin' || user === undefined)) throw new PatchbayError('admin_required')
    const from = requirePhoneNumber(body.agent_phone_number)
    requireDestination(body.phone_number_to_dial)
    const agent = await agentByNumber(tenant, from)
    if (agent === undefined) throw new PatchbayError('agent_not_found')
    const to = await requireDialTarget(tenant, services.carriers, from, body.phone_number_to_dial)
    const served = await requireServed(services, tenant, agent)
    // A text that is too long is refused now, not when the call is placed.
    agentSpec(served, body.dynamic_variables, false, { nowMs: services.clock.nowMs(), dialled: true })
    if (await isOnDoNotCall(tenant, to)) {
      if (!override) throw new PatchbayError('do_not_call')
      log.warn({ userId: user?.id, to }, 'A number of the do-not-call list is called by override')
    }
    const keyed = keyedBy(request, tenant, 'POST /calls/outbound_call', body)
    const { answer, isNew } = await once(keyed, async (within) => {
      const call = await insertCall(within, {
        agent_id: agent.id,
        agent_name: agent.agent_name,
        call_type: 'phone',
        direction: 'outbound',
        status: 'queued',
        from_number: from,
        to_number: to,
        dynamic_variables: JSON.stringify(body.dynamic_variables),
        external_id: body.external_id ?? null,
        metadata: JSON.stringify(body.metadata),
        created_at: new Date(clock.nowMs()),
      })
      return callBody({ ...call, turns: [] }, config.publicUrl)
    })
    if (isNew) {
      const queued = { id: answer.call_log_id, workspace_id: answer.workspace_id }
      const ahead = Math.max(0, (await countWaitingCalls(tenant)) - 1)
      await queueCall(outbound.queue, queued, config.queueWaitMs, ahead).catch((err) => {
        log.warn({ err, callId: queued.id }, 'The call could not be queued; the sweep of the job workers will')
      })
    }
    return answer
  },
})

/** How long the answer to a hang-up waits for the call to be over. */
const HANGUP_WAIT_MS = 2_000
const HANGUP_POLL_MS = 25

const hangup = defineRoute({
  method: 'POST',
  path: '/calls/{call_log_id}/hangup',
  auth: 'jwt_or_key',
  role: 'member',
  whenSuspended: 'served',
  params: { call_log_id },
  success: { status: 200, schema: CallBody },
  errors: ['call_log_not_found'],
  tag,
  summary: 'End a call',
  description:
    'Whether it waits, rings or talks, and on whichever node it is. A call that is over stays as it is. The answer is the call as it is then.',
  examples: { success: { ...callExample, end_reason: 'api_hangup' } },
  handler: async ({ params, tenant, signal, user, key }, { config, clock, redis }) => {
    const id = params.call_log_id
    const who = { id: user?.id ?? key?.id ?? '', name: user?.name ?? key?.name ?? '' }
    let call = await requireCall(tenant, id)
    if (!isOver(call)) {
      const isCanceled = await cancelQueuedCall(tenant, id, new Date(clock.nowMs()))
      // Also one that is canceled: a node may have it already, and not have written so yet.
      await requestHangup(redis, id, who)
      const untilMs = clock.monotonicMs() + HANGUP_WAIT_MS
      while (!isCanceled && !isOver(call) && clock.monotonicMs() < untilMs) {
        await sleep(HANGUP_POLL_MS, undefined, { signal })
        call = await requireCall(tenant, id)
      }
    }
    return callBody(await requireCall(tenant, id), config.publicUrl)
  },
})

const exportCsv = defineRoute({
  method: 'GET',
  path: '/calls/export-csv',
  auth: 'jwt_or_key',
  audit: [],
  role: 'member',
  query: Type.Object(CallFilterQuery),
  success: { status: 200, schema: Type.String(), contentType: 'text/csv; charset=utf-8' },
  tag,
  summary: 'The calls of the workspace as a CSV file, newest first',
  description:
    'RFC 4180, with the filters of `/calls/logs`. A text that a spreadsheet would take for a formula gets an apostrophe in front; phone numbers don’t.',
  handler: ({ query, tenant, signal }, { config, clock }) => {
    const rows = () => csvOf(tenant, callFilter(query), config.publicUrl, signal)
    return csvFile({ name: 'calls', workspaceId: tenant.workspaceId, nowMs: clock.nowMs(), signal, rows })
  },
})

const COLUMNS = [
  'call_log_id',
  'workspace_id',
  'agent_id',
  'agent_name',
  'call_type',
  'direction',
  'status',
  'end_reason',
  'disposition',
  'from_number',
  'to_number',
  'batch_id',
  'campaign_slug',
  'created_at',
  'answered_at',
  'ended_at',
  'duration',
  'summary',
  'recording_url',
  'llm_input_tokens',
  'llm_output_tokens',
  'stt_seconds',
  'tts_characters',
  'total_tokens',
  'cost_llm',
  'cost_stt',
  'cost_tts',
  'platform_cost',
  'total_cost',
  'turns',
  'p50_ms',
  'p95_ms',
  'error',
  'agent_version',
] as const
const PHONE_COLUMNS = new Set([COLUMNS.indexOf('from_number'), COLUMNS.indexOf('to_number')])

/** The CSV in pieces of a few hundred calls. */
export async function* csvOf(
  tenant: Tenant,
  filter: ReturnType<typeof callFilter>,
  publicUrl: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`
  for await (const calls of eachCall(tenant, filter, signal)) {
    let text = ''
    for (const call of calls) text += csvRecord(cellsOf(call, publicUrl), PHONE_COLUMNS)
    yield text
  }
}

function cellsOf(call: Call, publicUrl: string): Cell[] {
  const { usage, cost, latency, ...scalars } = callBody({ ...call, turns: [] }, publicUrl)
  const row: Readonly<Record<(typeof COLUMNS)[number], Cell>> = { ...scalars, ...usage, ...cost, ...latency }
  return COLUMNS.map((name) => row[name])
}

export const outboundRoutes = [outboundCall, hangup, exportCsv]
