import type { Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { uuidv7 } from 'uuidv7'
import { SESSION_TOKEN_TTL_S } from '../../runtime/call/control/session-token.ts'
import { DynamicVariables, type Variables } from '../../runtime/conversation/variables.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { parseCleanJson } from '../../runtime/lib/text.ts'
import { agentById, agentByNumber } from '../../store/agents/agents.ts'
import { callEvents } from '../../store/calls/call-events.ts'
import { callsPage, insertCall, type NewCall, withTurns } from '../../store/calls/calls.ts'
import { cancelUnopenedSession } from '../../store/calls/cancel-calls.ts'
import { isDuplicate } from '../../store/database/database.ts'
import type { Agent, Call } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { CursorPage, cursorOf, cursorPageOf, orderIn, timed } from '../cursor.ts'
import { isUuid } from '../ids.ts'
import { requirePhoneNumber } from '../phone-number.ts'
import { requireServed } from '../quota.ts'
import { isRecordedBy } from '../realtime/is-recorded.ts'
import { ADDRESS_HEADERS } from '../realtime/realtime-url.ts'
import { sessionTokenBody } from '../realtime/session-token-body.ts'
import { issueSessionToken } from '../realtime/tokens.ts'
import { defineRoute } from '../route.ts'
import { Page, pageOf, ValidationError } from '../schema.ts'
import { CallEventBody, CallEventsQuery, eventBody, eventsExample } from './events-schema.ts'
import { call_log_id, requireCall } from './one-call.ts'
import {
  CallBody,
  CallLogsQuery,
  callBody,
  callExample,
  callFilter,
  GenerateTokenQuery,
  listedCallBody,
  SessionTokenBody,
} from './schema.ts'

const tag = 'Calls'

const generateToken = defineRoute({
  method: 'GET',
  path: '/calls/generate-token',
  auth: 'jwt_or_key',
  role: 'member',
  scope: 'calls',
  whenSuspended: 'refused',
  startsCall: true,
  query: GenerateTokenQuery,
  phoneFirst: true,
  success: { status: 200, schema: SessionTokenBody },
  errors: ['invalid_phone_number', 'agent_not_found', 'session_exists', 'quota_reached', 'cross_origin'],
  tag,
  summary: 'A token that opens a web voice session with an agent',
  description:
    'Names the agent by one of its phone numbers (`phone`) or by `agent_id`. Makes the call log, queued. With the cookie it is refused to pages of other sites.',
  examples: {
    query: { agent_id: callExample.agent_id },
    success: {
      token: 'Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3byB2YWw',
      session_id: '0197f3a2-7c1e-7000-8000-000000000006',
      agent_id: callExample.agent_id,
      call_log_id: callExample.call_log_id,
      realtime_url: 'ws://localhost:8080/realtime?token=Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3byB2YWw',
      webrtc: { transports: ['udp', 'tcp'], ice_servers: [] },
      expires_at: '2026-01-31T09:10:00.000Z',
    },
  },
  headers: ADDRESS_HEADERS,
  handler: async (request, services) => {
    const { query, tenant } = request
    const { redis, clock, config } = services
    const agent = await agentOf(tenant, query)
    const served = await requireServed(services, tenant, agent)
    const sessionId = query.id ?? uuidv7()
    const nowMs = clock.nowMs()
    const call = await openSession(tenant, agent, sessionId, query, nowMs)
    const isRecorded = isRecordedBy(config.recordCalls || query.record === true, served.recording)
    const token = await issueSessionToken(
      redis,
      { workspaceId: tenant.workspaceId, callId: call.id, isRecorded, holder: request.standing },
      nowMs,
    )
    return sessionTokenBody(services, {
      token,
      call,
      sessionId,
      agentId: agent.id,
      isRecorded: query.record === undefined ? undefined : isRecorded,
      header: (name) => request.header(name),
    })
  },
})

const logs = defineRoute({
  method: 'GET',
  path: '/calls/logs',
  auth: 'jwt_or_key',
  role: 'member',
  query: CallLogsQuery,
  success: { status: 200, schema: CursorPage(CallBody) },
  tag,
  summary:
    'The calls of the workspace, newest first; with `updated_since` in the order in which they changed, with `sort` by length or cost',
  examples: {
    query: { page: 1, page_size: 25, call_type: 'web' },
    success: { items: [callExample], total: 1, page: 1, page_size: 25, total_pages: 1 },
  },
  handler: async ({ query, tenant }, { config }) => {
    const page = { number: query.page, size: query.page_size, after: timed(cursorOf(query)) }
    const { calls, total } = await callsPage(tenant, callFilter(query), page, orderIn(query))
    const items = (await withTurns(tenant, calls)).map((call) => listedCallBody(call, config.publicUrl))
    const last = calls.at(-1)
    return cursorPageOf(items, total, query, last && { id: last.id, at: last.sorted_by })
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/calls/{call_log_id}',
  auth: 'jwt_or_key',
  role: 'member',
  params: { call_log_id },
  success: { status: 200, schema: CallBody },
  errors: ['call_log_not_found'],
  tag,
  summary: 'One call',
  examples: { success: callExample },
  handler: async ({ params, tenant }, { config }) => {
    const call = await requireCall(tenant, params.call_log_id)
    return callBody(call, config.publicUrl)
  },
})

const events = defineRoute({
  method: 'GET',
  path: '/calls/{call_log_id}/events',
  auth: 'jwt_or_key',
  role: 'member',
  params: { call_log_id },
  query: CallEventsQuery,
  success: { status: 200, schema: Page(CallEventBody) },
  errors: ['call_log_not_found'],
  tag,
  summary: 'What happened in a call',
  description:
    'The log of the call, in order: what was said and recognised, tools that were called, what each stage took and used, and why the call ended. Events are here within two seconds, and kept PATCHBAY_EVENTS_DAYS days.',
  examples: { query: { page: 1, page_size: 200 }, success: eventsExample },
  handler: async ({ params, query, tenant }) => {
    const call = await requireCall(tenant, params.call_log_id)
    const from = (query.page - 1) * query.page_size
    const found = await callEvents(tenant, { id: call.id, createdAt: call.created_at }, from, query.page_size)
    const items = found.events.map((event) => eventBody(event, call.answered_at))
    return pageOf(items, found.total, query)
  },
})

/** The agent of a phone number or an id; without either the phone number is what is missing. */
async function agentOf(tenant: Tenant, query: { phone?: string; agent_id?: string }): Promise<Agent> {
  const agent =
    query.phone === undefined && query.agent_id !== undefined
      ? await (isUuid(query.agent_id) ? agentById(tenant, query.agent_id) : undefined)
      : await agentByNumber(tenant, requirePhoneNumber(query.phone))
  if (agent === undefined) throw new PatchbayError('agent_not_found')
  return agent
}

/** Makes the call of a session. An id whose earlier token ran out unused is free again. */
const variablesCheck = Compile(DynamicVariables({}))

/** The variables of a query, which holds texts alone. */
function variablesIn(text: string | undefined): Variables {
  if (text === undefined) return {}
  const fault = (msg: string) => new ValidationError([{ loc: ['query', 'variables'], msg, type: 'value_error' }])
  let variables: unknown
  try {
    variables = parseCleanJson(text)
  } catch {
    throw fault('must be a JSON object of texts, URL-encoded, such as {"first_name":"Ada"}')
  }
  if (variablesCheck.Check(variables)) return variables
  throw fault('must be a JSON object of at most 200 texts, URL-encoded, such as {"first_name":"Ada"}')
}

async function openSession(
  tenant: Tenant,
  agent: Agent,
  sessionId: string,
  query: Static<typeof GenerateTokenQuery>,
  nowMs: number,
): Promise<Call> {
  const call: NewCall = {
    dynamic_variables: JSON.stringify(variablesIn(query.variables)),
    external_id: query.external_id ?? null,
    metadata: JSON.stringify(query.metadata ?? {}),
    agent_id: agent.id,
    agent_name: agent.agent_name,
    call_type: 'web',
    direction: 'inbound',
    status: 'queued',
    session_id: sessionId,
    created_at: new Date(nowMs),
  }
  try {
    return await insertCall(tenant, call)
  } catch (error) {
    if (!isDuplicate(error, 'calls_live_session')) throw error
    const expired = new Date(nowMs - SESSION_TOKEN_TTL_S * 1000)
    const freed = await cancelUnopenedSession(tenant, sessionId, expired, new Date(nowMs))
    if (!freed) throw new PatchbayError('session_exists', { cause: error })
  }
  try {
    return await insertCall(tenant, call)
  } catch (cause) {
    throw isDuplicate(cause, 'calls_live_session') ? new PatchbayError('session_exists', { cause }) : cause
  }
}

export const callRoutes = [generateToken, logs, read, events]
