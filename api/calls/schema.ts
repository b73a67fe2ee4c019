import { type Static, Type } from 'typebox'
import { roundUsd } from '../../runtime/call/cost.ts'
import { RELEASERS } from '../../runtime/call/types/leg.ts'
import { MAX_EXTERNAL_ID_CHARS, MetadataMap } from '../../runtime/call/types/metadata.ts'
import { CALL_DISPOSITIONS, CALL_END_REASONS } from '../../runtime/call/types/outcome.ts'
import type { Usage } from '../../runtime/call/types/usage.ts'
import { ANSWERERS } from '../../runtime/plugin-sdk/telephony/answerer.ts'
import { FAILURE_CAUSES } from '../../runtime/plugin-sdk/telephony/cause.ts'
import type { CallFilter, CallWithTurns } from '../../store/calls/calls.ts'
import { CursorQuery, instantIn, SortQuery, UpdatedSince } from '../cursor.ts'
import { isUuid } from '../ids.ts'
import { readPhoneNumber } from '../phone-number.ts'
import { AnyOf, Id, Instant, Nullable, OpenEnum, PhoneNumberInput, parseInstant } from '../schema.ts'
import { RecordingState, recordingStateOf } from './recording-state.ts'
import { TokenParts, tokenParts } from './token-parts.ts'

const CallTypeName = Type.Enum(['phone', 'web'])

const DirectionName = Type.Enum(['inbound', 'outbound'])
const CallStatusName = Type.Enum([
  'queued',
  'ringing',
  'in_progress',
  'completed',
  'failed',
  'busy',
  'no_answer',
  'canceled',
])

const Text = Nullable(Type.String())
const Cost = Nullable(Type.Number({ description: 'USD; null when the price is unknown.' }))

export const CallBody = Type.Object({
  call_log_id: Id,
  workspace_id: Id,
  agent_id: Id,
  agent_name: Type.String(),
  agent_version: Nullable(
    Type.Integer({ description: 'The version of the agent that talks; null: none was chosen yet.' }),
  ),
  call_type: CallTypeName,
  direction: DirectionName,
  status: CallStatusName,
  end_reason: Nullable(OpenEnum(CALL_END_REASONS)),
  disposition: Nullable(OpenEnum(CALL_DISPOSITIONS, 'Of a skipped call the reason, such as `do_not_call`.')),
  from_number: Text,
  to_number: Text,
  dynamic_variables: Type.Record(Type.String(), Type.String()),
  batch_id: Nullable(Id),
  campaign_slug: Text,
  prospect_uuid: Nullable(
    Type.String({ format: 'uuid', description: 'Of calls of a campaign: the prospect it called.' }),
  ),
  external_id: Nullable(Type.String({ description: 'What your system calls it, or the prospect or row it is of.' })),
  metadata: MetadataMap(),
  created_at: Instant,
  updated_at: Type.String({
    format: 'date-time',
    description: 'While it runs, its status alone moves it; afterwards whatever changes.',
    examples: ['2026-01-31T09:00:41.900Z'],
  }),
  answered_at: Nullable(Instant),
  ended_at: Nullable(Instant),
  duration: Nullable(Type.Number({ description: 'Seconds from answer to end.' })),
  transcript: Type.Array(
    Type.Object({
      role: Type.Enum(['user', 'assistant']),
      text: Type.String({ description: 'Of an interrupted turn, the words the caller heard.' }),
      start_ms: Type.Integer({ description: 'Milliseconds from the answer.' }),
      end_ms: Type.Integer(),
      interrupted: Type.Boolean(),
    }),
  ),
  summary: Text,
  recording_url: Text,
  usage: Type.Object({
    llm_input_tokens: Type.Integer(),
    llm_output_tokens: Type.Integer(),
    stt_seconds: Type.Number(),
    tts_characters: Type.Integer(),
    total_tokens: Type.Integer(),
    ...TokenParts,
  }),
  cost: Type.Object({
    ...{ cost_llm: Cost, cost_stt: Cost, cost_tts: Cost, platform_cost: Cost, total_cost: Cost },
    own_keys_cost: Type.Number({ description: 'USD of these that providers bill the workspace’s own accounts.' }),
  }),
  latency: Type.Object({
    turns: Type.Integer(),
    p50_ms: Nullable(Type.Integer()),
    p95_ms: Nullable(Type.Integer()),
  }),
  error: Text,
  answered_by: Nullable(
    Type.Enum(ANSWERERS, {
      description: 'Who picked up an outbound call, as far as one could hear.',
    }),
  ),
  recording_state: RecordingState,
  consent: Nullable(
    Type.Enum(['given', 'refused', 'unanswered'], {
      description: "What the caller said to the agent's consent message.",
    }),
  ),
  carrier: Nullable(
    Type.Object(
      {
        call_id: Type.Optional(Type.String({ description: 'What the carrier calls it; over SIP the Call-ID.' })),
        trunk: Type.Optional(Type.String()),
        sip_status: Type.Optional(Type.Integer({ description: 'The last answer to the INVITE.' })),
        q850: Type.Optional(Type.Integer({ description: 'The cause of the end, ITU-T Q.850.' })),
        released_by: Type.Optional(
          OpenEnum(RELEASERS, 'Who ended it; `carrier`: your trunk, `network`: what lies between.'),
        ),
        cause: Type.Optional(OpenEnum(FAILURE_CAUSES, 'What a call came to that was not answered.')),
        redress: Type.Optional(
          Type.String({ description: 'Where to object to a block, as the blocking network names it (603+, 608).' }),
        ),
        pdd_ms: Type.Optional(Type.Number({ description: 'From dialling to the first sign of ringing.' })),
      },
      { description: 'What the carrier knows of the call.' },
    ),
  ),
  quality: Nullable(
    Type.Object(
      {
        codec: Type.Optional(Type.String()),
        loss: Type.Optional(Type.Number({ description: 'Packets that never came, 0 to 1.' })),
        jitter_ms: Type.Optional(Type.Number()),
        rtt_ms: Type.Optional(Type.Number()),
        mos: Type.Optional(Type.Number({ description: 'ITU-T G.107, 1 to 4.5.' })),
      },
      { description: 'How the line was.' },
    ),
  ),
  analysis: Nullable(
    Type.Object(
      {
        success: Nullable(Type.Boolean()),
        reason: Text,
        data: Nullable(Type.Record(Type.String(), Type.Unknown())),
        disposition: Text,
        error: Nullable(Type.String({ description: 'Why something that was asked for is missing.' })),
      },
      { description: "What the agent's `analysis` asked for, some seconds after the end; null: it is not known yet." },
    ),
  ),
  supervisors: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), joined_at: Instant }), {
    description: 'Who listened to it.',
  }),
  truncated: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'In lists: fields that are not whole here, for they are over 32 KiB; the call itself has all of them.',
    }),
  ),
})

/** Of a filter beside the agent's. */
export const AgentVersionFilter = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Only calls in which this version of the agent talked.',
  }),
)

export const CallFilterQuery = {
  call_type: Type.Optional(
    Type.Enum(CallTypeName.enum, { description: 'Only calls over the phone, or only those of pages.' }),
  ),
  agent_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only calls of this agent.' })),
  agent_version: AgentVersionFilter,
  start_date: Type.Optional(Type.String({ format: 'date-time', description: 'Created then or later.' })),
  end_date: Type.Optional(Type.String({ format: 'date-time', description: 'Created before.' })),
  status: AnyOf(CallStatusName),
  direction: AnyOf(DirectionName),
  number: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Who called or was called: E.164, or at least three digits of it in any spelling.',
    }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Words that were said in one turn of the call: all of them, the last one as it begins; "in quotes" in this order, `-word` not.',
    }),
  ),
  batch_id: AnyOf(Type.String({ maxLength: 100, description: 'Calls of this batch.' })),
  campaign: AnyOf(Type.String({ maxLength: 200, description: 'Calls of the campaign with this slug.' })),
  disposition: AnyOf(Type.String({ maxLength: 100, description: 'What the call came to.' })),
  external_id: AnyOf(Type.String({ maxLength: MAX_EXTERNAL_ID_CHARS, description: 'What your system calls it.' })),
  prospect_uuid: AnyOf(Type.String({ maxLength: 100, description: 'Calls of this prospect.' })),
  metadata: Type.Optional(MetadataMap({ description: 'As `metadata[crm_id]=4711`: calls that have all of these.' })),
  updated_since: UpdatedSince,
}

const CallFilters = Type.Object(CallFilterQuery)
export const CallLogsQuery = Type.Object({
  ...CursorQuery,
  ...CallFilterQuery,
  ...SortQuery(['duration', 'cost']),
})

export const GenerateTokenQuery = Type.Object({
  phone: Type.Optional(PhoneNumberInput('A registered number of the agent.')),
  agent_id: Type.Optional(Type.String({ maxLength: 100, description: 'The agent, instead of a number of it.' })),
  id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Your id of the session; made when left out.' }),
  ),
  record: Type.Optional(
    Type.Boolean({
      description: 'Records the session even if calls are not recorded: for a caller who asks for it.',
    }),
  ),
  external_id: Type.Optional(
    Type.String({ maxLength: MAX_EXTERNAL_ID_CHARS, description: 'What your system calls the session.' }),
  ),
  metadata: Type.Optional(MetadataMap({ description: 'As `metadata[crm_id]=4711`: your own, kept with the call.' })),
  variables: Type.Optional(
    Type.String({
      maxLength: 8_192,
      description: 'The dynamic variables of the session: a JSON object of texts, URL-encoded. At most 200 names.',
      examples: ['{"first_name":"Ada"}'],
    }),
  ),
})

/** How audio of a session may go over WebRTC. */
export const WebRtcTermsBody = Nullable(
  Type.Object(
    {
      transports: Type.Array(Type.Enum(['udp', 'tcp'])),
      ice_servers: Type.Array(
        Type.Object({
          urls: Type.Array(Type.String()),
          username: Type.Optional(Type.String()),
          credential: Type.Optional(Type.String()),
        }),
      ),
    },
    { description: 'How audio may go over WebRTC, with `media=webrtc`; null: over the WebSocket alone.' },
  ),
)

export const SessionTokenBody = Type.Object({
  token: Type.String({ description: 'Opens one session, once, within ten minutes.' }),
  session_id: Type.String(),
  agent_id: Id,
  call_log_id: Id,
  realtime_url: Type.String({ description: 'WebSocket address, token included.' }),
  webrtc: WebRtcTermsBody,
  recorded: Type.Optional(
    Type.Boolean({
      description:
        'Where `record` was given: whether the session is recorded; where the agent asks for consent, once it is given.',
    }),
  ),
  expires_at: Instant,
})

export const callExample: Static<typeof CallBody> = {
  call_log_id: '0197f3a2-7c1e-7000-8000-000000000004',
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  agent_id: '0197f3a2-7c1e-7000-8000-000000000003',
  agent_name: 'Reception',
  agent_version: 3,
  call_type: 'web',
  direction: 'inbound',
  status: 'completed',
  end_reason: 'caller_hangup',
  disposition: 'completed',
  from_number: null,
  to_number: null,
  dynamic_variables: {},
  batch_id: null,
  campaign_slug: null,
  prospect_uuid: null,
  external_id: 'crm-1815',
  metadata: { deal: '4711' },
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T09:00:41.900Z',
  answered_at: '2026-01-31T09:00:01.200Z',
  ended_at: '2026-01-31T09:00:41.700Z',
  duration: 40.5,
  transcript: [
    { role: 'assistant', text: 'Hello, how can I help you?', start_ms: 120, end_ms: 1840, interrupted: false },
    { role: 'user', text: 'When do you open?', start_ms: 2600, end_ms: 3500, interrupted: false },
  ],
  summary: null,
  recording_url: null,
  usage: {
    llm_input_tokens: 210,
    llm_output_tokens: 18,
    stt_seconds: 3.1,
    tts_characters: 64,
    total_tokens: 228,
    ...tokenParts({
      llmInputTokens: 210,
      llmCachedReadTokens: 180,
      llmOutputTokens: 18,
      sttSeconds: 3.1,
      ttsCharacters: 64,
    }),
  },
  cost: { cost_llm: null, cost_stt: null, cost_tts: null, platform_cost: null, total_cost: null, own_keys_cost: 0 },
  latency: { turns: 1, p50_ms: 640, p95_ms: 640 },
  error: null,
  answered_by: null,
  carrier: null,
  quality: null,
  recording_state: 'off',
  consent: null,
  analysis: null,
  supervisors: [],
}

const MIN_PART_DIGITS = 3

/** A whole number, or digits of one as people write them: `5550123`, `(415) 555-0123`. */
function numberFilter(text: string | undefined): Pick<CallFilter, 'number' | 'numberPart'> {
  if (text === undefined) return {}
  const number = readPhoneNumber(text)
  if (number !== undefined) return { number }
  const digits = text.replace(/[\s()./+-]/g, '')
  return /^\d+$/.test(digits) && digits.length >= MIN_PART_DIGITS ? { numberPart: digits } : { number: text }
}

/** The filter of a call log query. An invalid agent id matches no call, like one of another workspace. */
export function callFilter(query: Static<typeof CallFilters>): CallFilter {
  const ofId = (id: string | undefined) => (id === undefined || isUuid(id) ? id : NO_ID)
  return {
    callType: query.call_type,
    agentId: ofId(query.agent_id),
    agentVersion: query.agent_version,
    start: query.start_date === undefined ? undefined : parseInstant(query.start_date),
    end: query.end_date === undefined ? undefined : parseInstant(query.end_date),
    statuses: query.status,
    directions: query.direction,
    ...numberFilter(query.number),
    words: query.q,
    batchIds: query.batch_id?.map((id) => ofId(id) ?? NO_ID),
    campaignSlugs: query.campaign,
    dispositions: query.disposition,
    externalIds: query.external_id,
    prospectIds: query.prospect_uuid?.map((id) => ofId(id) ?? NO_ID),
    metadata: query.metadata,
    updatedSince: instantIn(query.updated_since),
  }
}

/** The nil UUID with a version: never assigned. */
const NO_ID = '00000000-0000-7000-8000-000000000000'

/** A call as callers see it. `publicUrl` begins the address of its recording. */
export function callBody(call: CallWithTurns, publicUrl: string): Static<typeof CallBody> {
  const costs = [call.cost_llm, call.cost_stt, call.cost_tts, call.platform_cost].map(rounded)
  const [cost_llm = null, cost_stt = null, cost_tts = null, platform_cost = null] = costs
  const latencies = [...call.turn_latencies_ms].sort((a, b) => a - b)
  return {
    call_log_id: call.id,
    workspace_id: call.workspace_id,
    agent_id: call.agent_id,
    agent_name: call.agent_name,
    agent_version: call.agent_version,
    call_type: call.call_type,
    direction: call.direction,
    status: call.status,
    end_reason: call.end_reason,
    disposition: call.disposition,
    from_number: call.from_number,
    to_number: call.to_number,
    dynamic_variables: call.dynamic_variables,
    batch_id: call.batch_id,
    campaign_slug: call.campaign_slug,
    prospect_uuid: call.prospect_id,
    external_id: call.external_id,
    metadata: call.metadata,
    created_at: call.created_at.toISOString(),
    updated_at: call.updated_at.toISOString(),
    answered_at: call.answered_at?.toISOString() ?? null,
    ended_at: call.ended_at?.toISOString() ?? null,
    duration: call.duration_ms === null ? null : call.duration_ms / 1000,
    transcript: call.turns.map(({ role, text, start_ms, end_ms, interrupted }) => ({
      role,
      text,
      start_ms,
      end_ms,
      interrupted,
    })),
    summary: call.summary,
    recording_url: call.recording_key === null ? null : `${publicUrl}/calls/${call.id}/recording`,
    usage: {
      llm_input_tokens: call.llm_input_tokens,
      llm_output_tokens: call.llm_output_tokens,
      stt_seconds: call.stt_seconds,
      tts_characters: call.tts_characters,
      total_tokens: call.llm_input_tokens + call.llm_output_tokens,
      ...tokenParts(usageOf(call)),
    },
    cost: {
      cost_llm,
      cost_stt,
      cost_tts,
      platform_cost,
      own_keys_cost: roundUsd(call.cost_own_keys),
      total_cost: costs.includes(null) ? null : roundUsd(costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0)),
    },
    latency: { turns: latencies.length, p50_ms: percentile(latencies, 0.5), p95_ms: percentile(latencies, 0.95) },
    error: call.error,
    answered_by: call.answered_by,
    carrier: call.carrier,
    quality: call.quality,
    recording_state: recordingStateOf(call),
    consent: call.consent,
    analysis: call.analysis,
    supervisors: call.supervisors,
  }
}

const rounded = (usd: number | null): number | null => (usd === null ? null : roundUsd(usd))

/** Nearest rank of an ascending list; null when it is empty. */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
}

/** A call as a list shows it. */
export function listedCallBody(
  call: CallWithTurns & { variables_cut: boolean; turns_cut: boolean },
  publicUrl: string,
): Static<typeof CallBody> {
  const truncated = [...(call.variables_cut ? ['dynamic_variables'] : []), ...(call.turns_cut ? ['transcript'] : [])]
  return { ...callBody(call, publicUrl), ...(truncated.length > 0 && { truncated }) }
}

function usageOf(call: CallWithTurns): Usage {
  const { llm_audio_input_tokens: heard, llm_audio_output_tokens: spoken, llm_cached_audio_tokens: again } = call
  const { llm_cached_read_tokens: read, llm_cache_write_tokens: written, llm_reasoning_tokens: thought } = call
  return {
    llmInputTokens: call.llm_input_tokens,
    llmOutputTokens: call.llm_output_tokens,
    sttSeconds: call.stt_seconds,
    ttsCharacters: call.tts_characters,
    ...(read === null ? {} : { llmCachedReadTokens: read }),
    ...(written === null ? {} : { llmCacheWriteTokens: written }),
    ...(thought === null ? {} : { llmReasoningTokens: thought }),
    ...(heard === null ? {} : { llmAudioInputTokens: heard }),
    ...(spoken === null ? {} : { llmAudioOutputTokens: spoken }),
    ...(again === null ? {} : { llmCachedAudioTokens: again }),
    llmEstimatedTokens: call.llm_estimated_tokens,
  }
}
