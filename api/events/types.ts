import { type Static, type TSchema, Type } from 'typebox'
import { FAULT_STAGES } from '../../runtime/call/log/events.ts'
import { MetadataMap } from '../../runtime/call/types/metadata.ts'
import { AgentBody, agentExample } from '../agents/schema.ts'
import { BatchBody, batchExample } from '../batches/schema.ts'
import { CallBody, callExample } from '../calls/schema.ts'
import { CampaignBody } from '../campaigns/schema.ts'
import { DocumentBody } from '../knowledge/schema.ts'
import { ProspectBody, UploadBody, uploadExample } from '../prospects/schema.ts'
import { Id, Instant, Nullable, OpenEnum } from '../schema.ts'
import { TestCompleted, TestRunCompleted, testCompletedExample, testRunCompletedExample } from '../tests/schema.ts'

/** The events of a workspace: what webhooks are sent and live streams show. */

interface EventType {
  summary: string
  data: TSchema
  example: Record<string, unknown>
}

const ids = { call_log_id: Id, agent_id: Id }
const idsExample = {
  call_log_id: callExample.call_log_id,
  agent_id: callExample.agent_id,
  agent_version: 3,
  from_number: '+14155550100',
  to_number: '+14155550199',
  batch_id: null,
  campaign_slug: 'renewals',
  prospect_uuid: '0197f3a2-7c1e-7000-8000-00000000000a',
  external_id: 'crm-1815',
  metadata: { deal: '4711' },
}
const seqExample = { seq: 9, at: '2026-01-31T09:00:05.010Z' }
/** Where it stands in the log of its call. */
const place = { seq: Type.Integer({ description: "Place in the call's log." }), at: Instant }
/** Which call it is, to systems of others. */
const marks = {
  agent_version: Nullable(Type.Integer({ description: 'The version of the agent that talks.' })),
  from_number: Nullable(Type.String()),
  to_number: Nullable(Type.String()),
  batch_id: Nullable(Id),
  campaign_slug: Nullable(Type.String()),
  prospect_uuid: Nullable(Id),
  external_id: Nullable(Type.String()),
  metadata: MetadataMap(),
}
const Millis = Type.Number({ description: 'Milliseconds from the answer.' })
const Campaign = Type.Object({
  campaign_id: Id,
  campaign_slug: Type.String(),
  slug: Type.String({ description: 'As `campaign_slug`.' }),
  name: Type.String(),
  active: Type.Boolean(),
  paused: Type.Boolean(),
  pause_reason: CampaignBody.properties.pause_reason,
})
const campaignExample = {
  campaign_id: '0197f3a2-7c1e-7000-8000-000000000021',
  campaign_slug: 'renewals',
  slug: 'renewals',
  name: 'Renewals',
  active: true,
  paused: false,
  pause_reason: null,
}
const Prospect = Type.Object({
  uuid: Id,
  list_uuid: Id,
  prospect_uuid: Id,
  campaign: Nullable(Type.String()),
  campaign_slug: Nullable(Type.String()),
  campaign_id: Id,
  primary_phone: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  email: Type.String(),
  state: Type.String(),
  external_id: Type.String(),
  variables: Type.Record(Type.String(), Type.String()),
  metadata: MetadataMap(),
  call_log_id: Nullable(Type.String({ format: 'uuid', description: 'The last call to it.' })),
  status: ProspectBody.properties.status,
  resolution: ProspectBody.properties.resolution,
  disposition: ProspectBody.properties.disposition,
  attempts: Type.Integer(),
  last_attempt_at: Nullable(Instant),
  created_at: Instant,
})
const prospectExample: Static<typeof Prospect> = {
  uuid: '0197f3a2-7c1e-7000-8000-00000000000a',
  list_uuid: '0197f3a2-7c1e-7000-8000-00000000000b',
  prospect_uuid: '0197f3a2-7c1e-7000-8000-00000000000a',
  campaign: 'renewals',
  campaign_slug: 'renewals',
  campaign_id: '0197f3a2-7c1e-7000-8000-000000000021',
  primary_phone: '+14155550199',
  first_name: 'Ada',
  last_name: 'Lovelace',
  email: '',
  state: 'CA',
  external_id: 'crm-1815',
  variables: {},
  metadata: { deal: '4711' },
  call_log_id: callExample.call_log_id,
  status: 'resolved',
  resolution: 'reached',
  disposition: 'reached',
  attempts: 2,
  last_attempt_at: '2026-01-31T09:00:00.000Z',
  created_at: '2026-01-30T09:00:00.000Z',
}
const Upload = Type.Object({
  ...UploadBody.properties,
  list_uuid: Id,
  campaign_id: Id,
  campaign_slug: Nullable(Type.String()),
})
const uploadOfExample = {
  ...uploadExample,
  list_uuid: prospectExample.list_uuid,
  campaign_id: campaignExample.campaign_id,
  campaign_slug: 'renewals',
}
const NumberOfAgent = Type.Object({
  phone_number: Type.String(),
  provider: Type.String(),
  trunk: Nullable(Type.String()),
  agent_id: Nullable(Id),
})
const numberExample = {
  phone_number: '+14155550100',
  provider: 'sim',
  trunk: null,
  agent_id: callExample.agent_id,
}
const { updated_at: _, ...documentFields } = DocumentBody.properties
const Document = Type.Object({ agent_id: Id, ...documentFields })
const documentExample = {
  agent_id: callExample.agent_id,
  document_id: '0197f3a2-7c1e-7000-8000-000000000007',
  filename: 'hours.md',
  size: 812,
  status: 'ready',
  chunks: 3,
  error: null,
  created_at: '2026-01-31T09:00:00.000Z',
}

const Trunk = Type.Object({
  trunk_id: Id,
  name: Type.String(),
  host: Type.String(),
  status: Type.Integer({ description: 'Its last answer to REGISTER or OPTIONS; 0: none came.' }),
  reason: Type.String(),
})
const trunkExample = {
  trunk_id: '0197f3a2-7c1e-7000-8000-00000000000e',
  name: 'pbx',
  host: 'sip.example.com',
  status: 200,
  reason: 'OK',
}
const Worker = Type.Object({
  worker_id: Type.String(),
  capacity: Type.Integer({ description: 'Calls it can have at once.' }),
})
const workerExample = { worker_id: 'voice-1-4711-a1b2c3', capacity: 8 }

const ofCall = (summary: string, changes: Partial<Static<typeof CallBody>> = {}): EventType => ({
  summary,
  data: CallBody,
  example: { ...callExample, ...changes },
})
const unanswered = {
  answered_at: null,
  ended_at: null,
  duration: null,
  transcript: [],
  end_reason: null,
  disposition: null,
}

export const EVENT_TYPES: Readonly<Record<string, EventType>> = {
  'call.queued': ofCall('A call was asked for', { ...unanswered, status: 'queued' }),
  'call.ringing': ofCall('A call rings', { ...unanswered, status: 'ringing' }),
  'call.answered': ofCall('A call was answered', {
    ...unanswered,
    status: 'in_progress',
    answered_at: callExample.answered_at,
  }),
  'call.ended': ofCall('A call is over; whatever became of it, it comes once'),
  'call.analyzed': ofCall('What a call came to is known', {
    summary: 'The caller asked for the opening hours and was told them.',
    analysis: { success: true, reason: 'The question was answered', data: null, disposition: null, error: null },
  }),
  'call.turn': {
    summary: 'The caller or the agent has said something',
    data: Type.Object({
      ...ids,
      ...marks,
      ...place,
      role: Type.Enum(['user', 'assistant']),
      text: Type.String(),
      start_ms: Millis,
      end_ms: Millis,
      interrupted: Type.Boolean(),
    }),
    example: {
      ...idsExample,
      ...seqExample,
      ...{ role: 'user', text: 'When do you open?', start_ms: 2600, end_ms: 3500, interrupted: false },
    },
  },
  'call.tool_called': {
    summary: 'The agent used a tool',
    data: Type.Object({
      ...ids,
      ...marks,
      ...place,
      id: Type.String(),
      name: Type.String(),
      arguments: Type.Record(Type.String(), Type.Unknown()),
    }),
    example: { ...idsExample, ...seqExample, id: 'call_1', name: 'opening_hours', arguments: { day: 'Monday' } },
  },
  'call.tool_returned': {
    summary: 'A tool that the agent used has answered, or failed',
    data: Type.Object({
      ...ids,
      ...marks,
      ...place,
      id: Type.String({ description: 'That of `call.tool_called`.' }),
      result: Type.String(),
      ms: Type.Number({ description: 'How long it took.' }),
      error: Nullable(Type.String()),
    }),
    example: { ...idsExample, ...seqExample, id: 'call_1', result: '{"opens":"09:00"}', ms: 84, error: null },
  },
  'call.transfer_failed': {
    summary: 'A transfer did not come about; the agent goes on',
    data: Type.Object({ ...ids, ...marks, ...place, to: Type.String(), reason: Type.String() }),
    example: { ...idsExample, ...seqExample, to: '+14155550142', reason: 'busy' },
  },
  'call.transferred': {
    summary: 'The caller talks with another human',
    data: Type.Object({ ...ids, ...marks, ...place, to: Type.String() }),
    example: { ...idsExample, ...seqExample, to: '+14155550142' },
  },
  'call.handed_off': {
    summary: 'Another agent has the call from here on',
    data: Type.Object({
      ...{ ...ids, ...marks, ...place, from: Id, to: Id, from_name: Type.String(), to_name: Type.String() },
      reason: Type.String(),
      failed: Type.Boolean({ description: 'The agent `from` could not take the call, which is back with `to`.' }),
    }),
    example: {
      ...{ ...idsExample, ...seqExample, from: callExample.agent_id, to: '0197f3a2-7c1e-7000-8000-000000000004' },
      ...{ from_name: 'Reception', to_name: 'Billing', reason: 'The caller asks about a bill.', failed: false },
    },
  },
  'call.fault': {
    summary: 'Something went wrong in a call, which may go on',
    data: Type.Object({ ...ids, ...marks, ...place, stage: OpenEnum(FAULT_STAGES), sentence: Type.String() }),
    example: { ...idsExample, ...seqExample, stage: 'llm', sentence: 'OpenAI answered 503; went on with Offline' },
  },
  'recording.ready': ofCall('The recording of a call can be downloaded', {
    recording_url: `http://localhost:8080/calls/${callExample.call_log_id}/recording`,
  }),
  'batch.started': { summary: 'A batch begins to call', data: BatchBody, example: batchExample },
  'batch.paused': { summary: 'A batch was paused', data: BatchBody, example: { ...batchExample, status: 'paused' } },
  'batch.resumed': {
    summary: 'A paused batch goes on',
    data: BatchBody,
    example: { ...batchExample, status: 'running' },
  },
  'batch.completed': { summary: 'Every row of a batch was dealt with', data: BatchBody, example: batchExample },
  'batch.canceled': { summary: 'A batch was canceled', data: BatchBody, example: batchExample },
  'campaign.started': { summary: 'A campaign begins to call, or goes on', data: Campaign, example: campaignExample },
  'campaign.paused': {
    summary: 'A campaign was paused',
    data: Campaign,
    example: { ...campaignExample, paused: true },
  },
  'campaign.breaker_opened': {
    summary: 'A campaign paused itself, because too many of its calls fail',
    data: Campaign,
    example: { ...campaignExample, paused: true, pause_reason: 'too_many_failures' },
  },
  'campaign.budget_reached': {
    summary: 'A campaign paused itself, because its budget is used up',
    data: Campaign,
    example: { ...campaignExample, paused: true, pause_reason: 'budget_reached' },
  },
  'campaign.completed': {
    summary: 'A campaign has nobody left to call',
    data: Campaign,
    example: campaignExample,
  },
  'campaign.deleted': {
    summary: 'A campaign was deleted',
    data: Campaign,
    example: { ...campaignExample, active: false },
  },
  'prospect.added': {
    summary: 'A prospect was added by itself; those of uploads are not told one by one',
    data: Prospect,
    example: { ...prospectExample, status: 'waiting', resolution: null, disposition: null, attempts: 0 },
  },
  'upload.completed': {
    summary: 'All rows of an upload are loaded or refused',
    data: Upload,
    example: uploadOfExample,
  },
  'upload.failed': {
    summary: 'An upload could not be loaded whole; it may be retried',
    data: Upload,
    example: { ...uploadOfExample, status: 'failed', error: 'The database does not take this row' },
  },
  'prospect.resolved': {
    summary: 'A prospect that was called will not be called again',
    data: Prospect,
    example: prospectExample,
  },
  'prospect.callback_missed': {
    summary: 'A prospect was not called back at the time that was asked for',
    data: Type.Object({
      uuid: Id,
      list_uuid: Id,
      prospect_uuid: Id,
      campaign: Nullable(Type.String()),
      campaign_slug: Nullable(Type.String()),
      primary_phone: Type.String(),
      call_back_at: Instant,
      reason: Type.String(),
    }),
    example: {
      uuid: prospectExample.uuid,
      list_uuid: prospectExample.list_uuid,
      prospect_uuid: prospectExample.uuid,
      campaign: prospectExample.campaign,
      campaign_slug: prospectExample.campaign,
      primary_phone: prospectExample.primary_phone,
      call_back_at: '2026-01-31T15:00:00.000Z',
      reason: 'The campaign was paused',
    },
  },
  'do_not_call.added': {
    summary: 'A number must not be called any more; those of uploads are not told one by one',
    data: Type.Object({
      phone_number: Type.String(),
      reason: Type.String(),
      source: Type.Enum(['api', 'call']),
      call_log_id: Nullable(Id),
    }),
    example: {
      phone_number: '+14155550199',
      reason: 'Asked not to be called',
      source: 'call',
      call_log_id: callExample.call_log_id,
    },
  },
  'do_not_call.removed': {
    summary: 'A number may be called again',
    data: Type.Object({ phone_number: Type.String() }),
    example: { phone_number: '+14155550199' },
  },
  'number.added': { summary: 'A number was registered or bought', data: NumberOfAgent, example: numberExample },
  'number.changed': { summary: 'Another agent or trunk serves a number', data: NumberOfAgent, example: numberExample },
  'number.removed': { summary: 'A number was given up', data: NumberOfAgent, example: numberExample },
  'chat.started': {
    summary: 'Somebody begins to write with an agent',
    data: Type.Object({ chat_id: Id, agent_id: Id, session_id: Type.String() }),
    example: {
      chat_id: '0197f3a2-7c1e-7000-8000-000000000020',
      agent_id: callExample.agent_id,
      session_id: 'visitor-42',
    },
  },
  'rollout.stopped': {
    summary: 'The guard of a rollout stopped it: the new version is worse',
    data: Type.Object({
      agent_id: Id,
      agent_name: Type.String(),
      rollout_id: Id,
      at: Instant,
      version: Type.Integer({ description: 'The worse one.' }),
      serves: Type.Integer({ description: 'The version that all calls get now.' }),
      figure: Type.String(),
      z: Type.Number({ description: 'Standardised difference.' }),
      boundary: Type.Number({ description: 'What it was compared with.' }),
      compared: Type.Array(Type.Object({ version: Type.Integer(), calls: Type.Integer(), mean: Type.Number() })),
    }),
    example: {
      agent_id: callExample.agent_id,
      agent_name: callExample.agent_name,
      rollout_id: '0197f3a2-7c1e-7000-8000-000000000041',
      at: '2026-01-31T10:00:00.000Z',
      version: 3,
      serves: 2,
      figure: 'success',
      z: 3.1,
      boundary: 2.9,
      compared: [
        { version: 2, calls: 160, mean: 0.91 },
        { version: 3, calls: 40, mean: 0.7 },
      ],
    },
  },
  'number.blocked': {
    summary: 'Networks block calls from one of your numbers; campaigns let it rest',
    data: Type.Object({
      phone_number: Type.String({ description: 'The number that was called from.' }),
      blocked: Type.Integer({
        description: 'How many callees its latest calls in campaigns did not reach, because they were blocked.',
      }),
      of_last: Type.Integer({ description: 'So many calls are looked at.' }),
      rests_until: Instant,
      reason: Nullable(Type.String({ description: 'The words of the network that blocked the last one.' })),
      call_log_id: Nullable(Id),
    }),
    example: {
      phone_number: '+14155550100',
      blocked: 3,
      of_last: 10,
      rests_until: '2026-01-31T10:00:00.000Z',
      reason: 'SIP error: 603 Network Blocked; a carrier or an analytics service blocked the call',
      call_log_id: callExample.call_log_id,
    },
  },
  'document.ready': { summary: 'A document can be found by its agent', data: Document, example: documentExample },
  'document.failed': {
    summary: 'A document could not be read',
    data: Document,
    example: { ...documentExample, status: 'failed', chunks: 0, error: 'The file is encrypted' },
  },
  'agent.changed': {
    summary: 'An agent was made or changed; it is shown as it was then',
    data: AgentBody,
    example: agentExample,
  },
  'agent.deleted': {
    summary: 'An agent was deleted',
    data: Type.Object({ agent_id: Id, agent_name: Type.String() }),
    example: { agent_id: callExample.agent_id, agent_name: 'Reception' },
  },
  'test.completed': {
    summary: 'A test of a run was run once',
    data: TestCompleted,
    example: testCompletedExample,
  },
  'test_run.completed': {
    summary: 'All tests of a run are over',
    data: TestRunCompleted,
    example: testRunCompletedExample,
  },
  'trunk.down': {
    summary: 'A trunk answers no more, or refuses',
    data: Trunk,
    example: { ...trunkExample, status: 403, reason: 'Forbidden' },
  },
  'trunk.up': { summary: 'A trunk that was down answers again', data: Trunk, example: trunkExample },
  'worker.joined': {
    summary: 'A voice worker takes calls; told to the workspaces of operators',
    data: Worker,
    example: workerExample,
  },
  'worker.lost': {
    summary: 'A voice worker is gone that did not say so; told to the workspaces of operators',
    data: Worker,
    example: workerExample,
  },
  'webhook.disabled': {
    summary: 'A webhook was switched off, because its receiver is gone or failed for five days',
    data: Type.Object({ webhook_id: Id, url: Type.String(), reason: Type.String() }),
    example: {
      webhook_id: '0197f3a2-7c1e-7000-8000-00000000000c',
      url: 'https://example.com/patchbay',
      reason: 'Every attempt failed for five days',
    },
  },
  'webhook.test': {
    summary: 'Somebody tries a webhook; it goes to this one alone',
    data: Type.Object({ webhook_id: Id }),
    example: { webhook_id: '0197f3a2-7c1e-7000-8000-00000000000c' },
  },
}

/** What events are asked for by: their types, groups of them such as `call.*`, and `*`. */
export const EVENT_PATTERNS: readonly string[] = [
  ...new Set(['*', ...Object.keys(EVENT_TYPES).flatMap((type) => [`${type.split('.')[0]}.*`, type])]),
]

/** Whether something asks for events there are. */
export const asksForEvents = (pattern: string): boolean => EVENT_PATTERNS.includes(pattern)

/** Whether an event of the type is asked for. */
export const isAskedFor = (type: string, patterns: readonly string[]): boolean =>
  patterns.some(
    (pattern) =>
      pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))),
  )

/** What is sent of an event. */
export const messageSchema = (type: string, data: TSchema) =>
  Type.Object({
    id: Type.String({ description: 'Names the event; the same however often it is sent.' }),
    type: Type.Literal(type),
    workspace_id: Id,
    created_at: Instant,
    data,
  })

export const messageExample = (type: string): Record<string, unknown> => ({
  id: '0197f3a2-7c1e-7000-8000-00000000000d',
  type,
  workspace_id: callExample.workspace_id,
  created_at: '2026-01-31T09:00:41.700Z',
  data: EVENT_TYPES[type]?.example ?? {},
})
