import type { ColumnType, Generated, JSONColumnType, Selectable } from 'kysely'
import type { Answerer, Consent } from '../../runtime/plugin-sdk/telephony/answerer.ts'
import type { WireMessage } from '../../runtime/plugin-sdk/telephony/wire-message.ts'
import type { BoundWorkspace, CreatedAt } from '../database/tables.ts'

interface CallLaddersTable {
  call_id: string
  leg: number
  workspace_id: BoundWorkspace
  messages: JSONColumnType<WireMessage[], string, string>
  created_at: CreatedAt
}

interface RefusedCallsTable {
  id: string
  workspace_id: BoundWorkspace
  at: Date
  trunk: string | null
  reason: string
  detail: string
  from_number: string | null
  to_number: string | null
  address: string
  sip_call_id: string
  sip_status: number
}

export type CallType = 'phone' | 'web'
export type CallStatus =
  | 'queued'
  | 'ringing'
  | 'in_progress'
  | 'completed'
  | 'failed'
  | 'busy'
  | 'no_answer'
  | 'canceled'

/** As the API shows them. */
export interface CallCarrier {
  call_id?: string
  trunk?: string
  sip_status?: number
  q850?: number
  released_by?: string
  cause?: string
  redress?: string
  pdd_ms?: number
}
export interface CallQuality {
  codec?: string
  loss?: number
  jitter_ms?: number
  rtt_ms?: number
  mos?: number
}

export interface CallAnalysis {
  success: boolean | null
  reason: string | null
  data: Record<string, unknown> | null
  disposition: string | null
  error: string | null
}

/** Calls that wait to be analysed. */
interface CallAnalysesTable {
  workspace_id: BoundWorkspace
  call_id: string
  attempts: Generated<number>
  next_attempt_at: Generated<Date>
}

export interface CallsTable {
  id: string
  workspace_id: BoundWorkspace
  /** Stays when the agent is deleted. */
  agent_id: string
  agent_name: string
  /** The version that talks; null: none was chosen yet, or the call is older than versions. */
  agent_version: ColumnType<number | null, never, never>
  /** The rollout whose split chose the version. */
  rollout_id: ColumnType<string | null, never, never>
  call_type: CallType
  direction: 'inbound' | 'outbound'
  status: CallStatus
  end_reason: string | null
  disposition: string | null
  from_number: string | null
  to_number: string | null
  dynamic_variables: JSONColumnType<Record<string, string>, string | undefined, string>
  session_id: string | null
  batch_id: string | null
  campaign_slug: string | null
  /** What the system of another calls it. */
  external_id: string | null
  metadata: JSONColumnType<Record<string, string>, string | undefined, string>
  /** Written by a claim alone. */
  prospect_id: ColumnType<string | null, never, never>
  /** While it runs, its status alone moves it. */
  updated_at: ColumnType<Date, never, never>
  /** When the carrier was asked to dial; such a call is never dialled again. */
  placed_at: Date | null
  created_at: CreatedAt
  answered_at: Date | null
  ended_at: Date | null
  duration_ms: number | null
  summary: string | null
  recording_key: string | null
  /** Answered without one (`off`), begun, or deleted since; null: not answered, or older than this column. */
  recording: 'off' | 'begun' | 'deleted' | null
  llm_input_tokens: Generated<number>
  llm_output_tokens: Generated<number>
  /** Parts of the tokens; null where no provider said anything of them. */
  llm_cached_read_tokens: number | null
  llm_cache_write_tokens: number | null
  llm_reasoning_tokens: number | null
  llm_audio_input_tokens: number | null
  llm_audio_output_tokens: number | null
  llm_cached_audio_tokens: number | null
  llm_estimated_tokens: Generated<number>
  stt_seconds: Generated<number>
  tts_characters: Generated<number>
  cost_llm: number | null
  cost_stt: number | null
  cost_tts: number | null
  platform_cost: number | null
  /** What of the stages' costs is billed to the workspace's own accounts. */
  cost_own_keys: Generated<number>
  turn_latencies_ms: Generated<number[]>
  error: string | null
  /** What the carrier calls it. */
  carrier_call_id: string | null
  /** What the carrier knows of it, and how the line was; null: nothing, or no line of a carrier. */
  carrier: JSONColumnType<CallCarrier, string | undefined, string> | null
  quality: JSONColumnType<CallQuality, string | undefined, string> | null
  /** Who picked up an outbound call; null: not detected. */
  answered_by: Answerer | null
  /** What the caller said to the agent's consent message; null: there was none. */
  consent: Consent | null
  /** The analysis the agent asks for; null: not requested, or not done yet. */
  analysis: JSONColumnType<CallAnalysis, string | undefined, string> | null
  /** Who listened to it. */
  supervisors: JSONColumnType<{ id: string; name: string; joined_at: string }[], string | undefined, string>
  /** Dialled without a seat: its share of a seat until the callee picks up. Null: it has its own seat. */
  seat_share: number | null
  /** Since when the callee of such a call waits for an agent. */
  picked_up_at: Date | null
  /** The called prospect; null: a test call, or no campaign's call. Written by a claim alone. */
  campaign_id: ColumnType<string | null, never, never>
}

interface CallTurnsTable {
  workspace_id: BoundWorkspace
  call_id: string
  seq: number
  role: 'user' | 'assistant'
  text: string
  start_ms: number
  end_ms: number
  interrupted: Generated<boolean>
}

/** One row for the events of a call that were written together. */
interface CallEventsTable {
  workspace_id: BoundWorkspace
  call_id: string
  first_seq: number
  last_seq: number
  at: Date
  events: JSONColumnType<unknown[], string, never>
}

/** What of a call's use is an agent's that the call was handed to. */
interface CallSharesTable {
  workspace_id: BoundWorkspace
  call_id: string
  agent_id: string
  tokens: Generated<number>
  /** Null: a price is not known. */
  cost_llm: number | null
  cost_stt: number | null
  cost_tts: number | null
  cost_own_keys: Generated<number>
}

export type Call = Selectable<CallsTable>

export type CallTurn = Selectable<CallTurnsTable>

export type RefusedCallRow = Selectable<RefusedCallsTable>

/** Of a workspace. */
export interface TenantCallTables {
  call_ladders: CallLaddersTable
  refused_calls: RefusedCallsTable
  calls: CallsTable
  call_turns: CallTurnsTable
  call_events: CallEventsTable
  call_shares: CallSharesTable
  call_analyses: CallAnalysesTable
}
