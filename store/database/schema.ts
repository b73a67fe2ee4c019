import type { ColumnType, Generated, GeneratedAlways, JSONColumnType, Selectable } from 'kysely'
import type { SlotStrategy } from '../../runtime/admission/slot-claim.ts'
import type { DocumentFormat } from '../../runtime/knowledge/blocks.ts'
import type { LineCodecName } from '../../runtime/media/codecs/line-codec.ts'
import type { Answerer, Consent, VoicemailBehaviour } from '../../runtime/plugin-sdk/telephony/answerer.ts'

import type { TrunkSettings } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import type { WireMessage } from '../../runtime/plugin-sdk/telephony/wire-message.ts'

/**
 * The tables as Kysely types; the truth is store/migrations. Times are `Date`, bigints are numbers, ids are strings.
 * A tenant table has `workspace_id`, which only the tenant handle (store/database/tenant.ts) writes and compares.
 */

type CreatedAt = ColumnType<Date, Date | undefined, never>
/** Set by the tenant handle alone. */
type BoundWorkspace = ColumnType<string, never, never>

export type WorkspaceRole = 'member' | 'developer' | 'admin'

export interface UsersTable {
  id: string
  name: string
  email: string
  password_hash: string
  phone_number: string
  current_workspace_id: string | null
  created_at: CreatedAt
  /** Tokens that name no session and were made before are void. */
  signed_out_at: Date | null
  email_verified_at: Date | null
  is_operator: Generated<boolean>
}

/** One login: the family of its refresh tokens has the same id, and its access tokens name it. */
export interface SessionsTable {
  id: string
  user_id: string
  created_at: CreatedAt
  used_at: Date
  expires_at: Date
  address: string
  user_agent: string
  ended_at: Date | null
}

/** The highest number that was given to a slug of this base. */
export interface SlugNumbersTable {
  base: string
  last: number
}

export interface RefreshTokensTable {
  id: string
  family_id: string
  user_id: string
  token_hash: Buffer
  created_at: CreatedAt
  expires_at: Date
  rotated_at: Date | null
  revoked_at: Date | null
}

export interface WorkspacesTable {
  id: string
  name: string
  type: string
  slug: string
  /** Phone calls it may have at once; null: any number. */
  max_concurrent_calls: Generated<number | null>
  /** Allowed destinations, within the operator's; null: no limit of its own. */
  dial_countries: Generated<string[] | null>
  dial_number_types: Generated<string[] | null>
  created_at: CreatedAt
  deleted_at: Date | null
  suspended_at: Date | null
  suspended_reason: string | null
}

export interface MembershipsTable {
  workspace_id: string
  user_id: string
  role: WorkspaceRole
  joined_at: Generated<Date>
}

export type SignupMode = 'open' | 'invitation' | 'closed'

/** One row. */
export interface InstanceSettingsTable {
  one_row: Generated<boolean>
  /** null: what the configuration says. */
  signup: SignupMode | null
  updated_at: Generated<Date>
}

/** null: no limit, every provider. */
export interface WorkspaceQuotasTable {
  workspace_id: string
  calls_at_once: number | null
  web_sessions_at_once: number | null
  agents: number | null
  documents: number | null
  storage_bytes: number | null
  minutes_a_month: number | null
  cost_usd_a_month: number | null
  purchases: Generated<boolean>
  /** Bought numbers it may have at once. */
  bought_numbers: number | null
  providers: string[] | null
  /** On accounts of the operator null is the country of the calling number; `*`: all. */
  dial_countries: string[] | null
  dial_number_types: string[] | null
}

/** A host of trunks that the operator approved for a workspace. */
export interface TrunkHostsTable {
  id: string
  host: string
  workspace_id: string
  approved_by: string | null
  created_at: CreatedAt
}

/** An address or a range that a trunk of a workspace has. */
export interface TrunkAddressesTable {
  trunk_id: string
  workspace_id: string
  address: string
  listed: boolean
  seen_at: CreatedAt
}

export type LinkKind = 'password_reset' | 'verify_email' | 'signup'

export interface OneTimeLinksTable {
  id: string
  kind: LinkKind
  token_hash: Buffer
  user_id: string | null
  email: string
  created_by: string | null
  created_at: CreatedAt
  expires_at: Date
  used_at: Date | null
}

export interface InvitationsTable {
  id: string
  workspace_id: string
  user_id: string
  role: WorkspaceRole
  invited_by: string | null
  created_at: CreatedAt
}

/** Days; null: for ever. */
export interface WorkspaceRetentionTable {
  workspace_id: string
  recordings_days: number | null
  transcripts_days: number | null
  chats_days: number | null
  logs_days: number | null
}

export interface AuditLogTable {
  id: string
  at: CreatedAt
  workspace: string | null
  actor_kind: 'user' | 'key' | 'shell'
  actor_id: string | null
  actor_name: string
  /** Method and path of the endpoint, or the command. */
  action: string
  resource: string
  detail: JSONColumnType<Record<string, unknown>, string, never>
  address: string
  request_id: string
}

export interface SecurityLogTable {
  id: string
  at: CreatedAt
  kind: string
  user_id: string | null
  /** E-mail address of the account; empty for an unknown account. */
  account: string
  workspace: string | null
  detail: JSONColumnType<Record<string, unknown>, string, never>
  address: string
  request_id: string
}

export interface ApiKeysTable {
  id: string
  workspace_id: BoundWorkspace
  name: string
  prefix: string
  key_hash: Buffer
  created_at: CreatedAt
  last_used_at: Date | null
  scopes: Generated<KeyScope[]>
  expires_at: Date | null
  /** The user who made it. */
  created_by: string | null
}

/** What an API key may do. */
export const KEY_SCOPES = ['read', 'calls', 'agents', 'batches', 'numbers', 'campaigns'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

export interface IdempotencyKeysTable {
  workspace_id: BoundWorkspace
  key: string
  request_hash: Buffer
  /** The answer's JSON; null while its effect, outside the database, is under way or was broken off. */
  answer: string | null
  /** What the request makes will have this id. */
  effect_id: string | null
  created_at: CreatedAt
}

/** From where, and how often, strangers may talk to an agent. */
export interface PublicAccess {
  /** Origins of pages, such as `https://example.com`; `*`: any. */
  origins: string[]
  /** Web calls of the agent at once. */
  max_calls: number
  /** Sessions that one address may open within an hour. */
  per_address_per_hour: number
}

export interface AgentsTable {
  id: string
  workspace_id: BoundWorkspace
  agent_name: string
  llm_provider: string
  llm_model: string
  temperature: number
  system_prompt: string
  first_message: string
  stt_provider: string
  stt_model: string
  tts_provider: string
  tts_voice: string
  tools: JSONColumnType<unknown[], string | undefined, string>
  fallbacks: JSONColumnType<Record<string, unknown>, string | undefined, string>
  voicemail: Generated<VoicemailBehaviour>
  voicemail_message: Generated<string>
  recording_notice: Generated<string>
  consent_message: Generated<string>
  language: Generated<string>
  interruption: JSONColumnType<Record<string, unknown>, string | undefined, string>
  timezone: Generated<string>
  endpointing: Generated<'eager' | 'balanced' | 'patient'>
  dead_air: JSONColumnType<Record<string, unknown>, string | undefined, string>
  max_duration_s: Generated<number | null>
  idle_timeout_s: Generated<number | null>
  keyterms: JSONColumnType<string[], string | undefined, string>
  pronunciation: JSONColumnType<{ word: string; say: string }[], string | undefined, string>
  /** Public access without an account; null: none. */
  public_access: ColumnType<PublicAccess | null, string | null | undefined, string | null>
  /** What is found out of its calls after their end. */
  analysis: JSONColumnType<Record<string, unknown>, string | undefined, string>
  /** Counts the changes of what retrieval may find. */
  knowledge_version: Generated<number>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export interface PhoneNumbersTable {
  phone_number: string
  workspace_id: BoundWorkspace
  agent_id: string | null
  provider: string
  trunk: string | null
  /** Calls it may have at once; null: any number. */
  max_concurrent_calls: Generated<number | null>
  /** Asked before a call is answered. */
  inbound_webhook: ColumnType<string | null, string | null | undefined, string | null>
  /** Sealed. */
  inbound_webhook_secret: ColumnType<string | null, string | null | undefined, string | null>
  /** Null: it is not known; the carrier tells. */
  bought: Generated<boolean | null>
  /** What the carrier had for it before its calls were delivered here. */
  delivery_before: JSONColumnType<Record<string, string> | null, string | null | undefined, string | null>
  created_at: CreatedAt
}

/** A number of an account of the operator's carriers, and whose it is. */
export interface CarrierNumbersTable {
  provider: string
  phone_number: string
  workspace_id: string
  assigned_by: string | null
  created_at: CreatedAt
}

export interface TrunksTable {
  id: string
  workspace_id: BoundWorkspace
  name: string
  host: string
  transport: 'udp' | 'tcp' | 'tls'
  /** PEM. */
  tls_ca: string | null
  register: boolean
  username: string | null
  /** Sealed. */
  password: string | null
  allowed_addresses: JSONColumnType<string[], string, string>
  codecs: JSONColumnType<LineCodecName[], string, string>
  max_concurrent_calls: number
  max_calls_per_second: number
  countries: JSONColumnType<string[], string, string>
  settings: JSONColumnType<Partial<TrunkSettings>, string | undefined, string>
  /** Sealed. */
  tls_key: string | null
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export interface ExtensionsTable {
  id: string
  workspace_id: BoundWorkspace
  name: string
  display_name: string | null
  /** Unique on the installation. */
  username: string
  /** Sealed. */
  password: string
  agent_id: string | null
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export interface CallLaddersTable {
  call_id: string
  leg: number
  workspace_id: BoundWorkspace
  messages: JSONColumnType<WireMessage[], string, string>
  created_at: CreatedAt
}

export interface RefusedCallsTable {
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
export interface CallAnalysesTable {
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
  /** When the carrier was asked to dial; such a call is never dialled again. */
  placed_at: Date | null
  created_at: CreatedAt
  answered_at: Date | null
  ended_at: Date | null
  duration_ms: number | null
  summary: string | null
  recording_key: string | null
  llm_input_tokens: Generated<number>
  llm_output_tokens: Generated<number>
  /** Parts of the tokens; null where no provider said anything of them. */
  llm_cached_read_tokens: number | null
  llm_cache_write_tokens: number | null
  llm_reasoning_tokens: number | null
  llm_estimated_tokens: Generated<number>
  stt_seconds: Generated<number>
  tts_characters: Generated<number>
  cost_llm: number | null
  cost_stt: number | null
  cost_tts: number | null
  platform_cost: number | null
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

export interface CallTurnsTable {
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
export interface CallEventsTable {
  workspace_id: BoundWorkspace
  call_id: string
  first_seq: number
  last_seq: number
  at: Date
  events: JSONColumnType<unknown[], string, never>
}

/** Written by triggers on `calls` alone. */
export type DocumentStatus = 'processing' | 'ready' | 'failed'

export interface DocumentsTable {
  id: string
  workspace_id: BoundWorkspace
  agent_id: string
  filename: string
  format: DocumentFormat | 'unsupported'
  size_bytes: number
  status: DocumentStatus
  chunk_count: Generated<number>
  error: string | null
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export interface UploadsTable {
  id: string
  workspace_id: BoundWorkspace
  agent_id: string
  created_at: CreatedAt
}

export interface UploadPartsTable {
  upload_id: string
  workspace_id: BoundWorkspace
  seq: number
  bytes: Buffer
}

export interface ChunksTable {
  document_id: string
  workspace_id: BoundWorkspace
  seq: number
  text: string
}

export interface VectorSegmentsTable {
  id: GeneratedAlways<number>
  document_id: string
  workspace_id: BoundWorkspace
  agent_id: string
  first_chunk: number
  bytes: Buffer
}

export interface ChatsTable {
  id: string
  workspace_id: BoundWorkspace
  agent_id: string
  session_id: string
  message_count: Generated<number>
  last_message: Generated<string>
  dynamic_variables: JSONColumnType<Record<string, string>, string | undefined, string>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export interface ChatMessagesTable {
  chat_id: string
  workspace_id: BoundWorkspace
  seq: number
  role: 'user' | 'assistant'
  content: string
  llm_input_tokens: Generated<number>
  llm_output_tokens: Generated<number>
  /** Of the model's call that made the message; null where it isn't known. */
  cost_llm: number | null
  created_at: CreatedAt
}

/** What chats cost in a month (UTC), by its first day. */
export interface ChatSpendingTable {
  workspace_id: BoundWorkspace
  month: ColumnType<Date, string, never>
  cost_usd: number
}

export type BatchStatus = 'pending' | 'scheduled' | 'running' | 'paused' | 'completed' | 'canceled'

export interface BatchesTable {
  id: string
  workspace_id: BoundWorkspace
  name: string
  agent_id: string | null
  agent_phone_number: string
  status: BatchStatus
  scheduled_time: Date | null
  timezone: string
  columns: JSONColumnType<string[], string, string>
  total: number
  invalid: number
  duplicates: number
  /** Rows the runner has gone past. */
  taken: number
  completed: number
  failed: number
  created_at: CreatedAt
  started_at: Date | null
  finished_at: Date | null
}

export interface BatchItemsTable {
  batch_id: string
  workspace_id: BoundWorkspace
  seq: number
  call_id: string
  /** `waiting`: to be called again; the call is still that of the try before. */
  status: 'waiting' | 'in_progress' | 'completed' | 'failed'
  error: string | null
}

/** Of a batch, in one row of batch_rows. */
export const ROWS_PER_BLOCK = 32

/** Written by COPY alone; without workspace, so reached only by way of its batch. */
export interface BatchRowsTable {
  batch_id: string
  block: number
  rows: string
}

export type QueueStrategy = SlotStrategy

type Json<T extends object> = JSONColumnType<T, string, string>

export interface CampaignsTable {
  id: string
  workspace_id: BoundWorkspace
  slug: string
  name: string
  agent_id: string | null
  email: string | null
  locale_name: string
  active: boolean
  call_ratio: number
  dialer_interval: number
  max_active_calls: number
  max_number_calls: number
  min_time_between_calls: number
  dupe_days: number
  expire_days: number
  earliest_prospect_time: string
  latest_prospect_time: string
  ignore_states: string
  filter_holidays: boolean
  max_wait_time: number
  queue_strategy: QueueStrategy
  wrap_up_time: number
  paused: boolean
  pause_reason: string | null
  from_numbers: Json<string[]>
  max_calls_per_number_per_day: number
  retry: Json<Record<string, { after_minutes: number; other_part_of_day?: boolean }>>
  voicemail_resolves: boolean
  consent_required: boolean
  holidays: Json<string[]>
  calling_days: Json<number[]>
  budget: number | null
  stop_when: JSONColumnType<{ failure_rate: number; window: number }, string | null, string | null> | null
  webhook_before_dial: string | null
  agent_tools: Json<('do_not_call' | 'call_back')[]>
  abandoned_message: string
  version: Generated<number>
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}

export interface CampaignRunsTable {
  campaign_id: string
  workspace_id: BoundWorkspace
  next_tick_at: Date
  resumed_at: Date
  last_tick: JSONColumnType<Record<string, unknown>, string | null, string | null> | null
  /** Since when no prospect is left to call. */
  completed_at: Date | null
}

export interface CampaignDaysTable {
  campaign_id: string
  workspace_id: BoundWorkspace
  day: string
  attempts: Generated<number>
  answered: Generated<number>
  humans: Generated<number>
  machines: Generated<number>
  abandoned: Generated<number>
  faults: Generated<number>
  cost: Generated<number>
}

export interface ProspectListsTable {
  id: string
  workspace_id: BoundWorkspace
  campaign_id: string
  slug: string
  name: string
  active: Generated<boolean>
  created_at: Date
  deleted_at: Date | null
}

export interface ProspectUploadsTable {
  id: string
  workspace_id: BoundWorkspace
  campaign_id: string
  list_id: string
  filename: string
  dedupe: boolean
  columns: Json<string[]>
  /** What columns are, where their own names don't say it. */
  mapping: ColumnType<Record<string, string>, string | undefined, never>
  /** Who confirmed that everyone in the file agreed to be called, and when. */
  attested_by: Generated<string | null>
  attested_at: Generated<Date | null>
  status: 'loading' | 'completed' | 'failed'
  total: Generated<number>
  loaded: Generated<number>
  duplicates: Generated<number>
  invalid: Generated<number>
  do_not_call: Generated<number>
  batches_total: Generated<number>
  batches_done: Generated<number>
  error: string | null
  created_at: Date
  finished_at: Date | null
}

export interface ProspectRejectsTable {
  upload_id: string
  workspace_id: BoundWorkspace
  line: number
  reason: string
  /** JSON: the cells of the row. */
  cells: string
}

export type ProspectStatus = 'waiting' | 'calling' | 'resolved'

export interface ProspectsTable {
  id: string
  workspace_id: BoundWorkspace
  campaign_id: string
  list_id: string
  phone: string
  first_name: Generated<string>
  last_name: Generated<string>
  email: Generated<string>
  state: Generated<string>
  postal_code: Generated<string>
  timezone: Generated<string>
  external_id: Generated<string>
  variables: JSONColumnType<Record<string, string>, string | undefined, string>
  consent_at: Date | null
  window_group: number
  status: Generated<ProspectStatus>
  resolution: string | null
  disposition: string | null
  attempts: Generated<number>
  attempt_seq: Generated<number>
  faults_in_row: Generated<number>
  parts_tried: Generated<string[]>
  from_number: string | null
  last_attempt_at: Date | null
  next_attempt_at: Date | null
  call_back_at: Date | null
  /** Since when it is known that the call back wasn't made in time. */
  call_back_missed_at: Date | null
  held_reason: string | null
  held_sentence: string | null
  expires_at: Date | null
  created_at: Date
}

/** Written by triggers on `prospects` alone. */
export interface ProspectCountsTable {
  campaign_id: ColumnType<string, never, never>
  workspace_id: BoundWorkspace
  list_id: ColumnType<string, never, never>
  window_group: ColumnType<number, never, never>
  bucket: ColumnType<string, never, never>
  n: ColumnType<number, never, never>
}

/** Written by triggers on `calls` alone, and added up by `foldCallCounts`. A state has several rows; they count together. */
export interface CampaignCallCountsTable {
  campaign_id: ColumnType<string, never, never>
  workspace_id: BoundWorkspace
  state: ColumnType<'queued' | 'ringing' | 'waiting' | 'in_progress', never, never>
  n: ColumnType<number, never, never>
  seats: ColumnType<string, never, never>
}

export interface ProspectAttemptsTable {
  id: string
  workspace_id: BoundWorkspace
  campaign_id: string | null
  prospect_id: string | null
  n: number
  phone: string
  from_number: string
  call_id: string
  created_at: Date
  ended_at: Date | null
  outcome: string | null
  charged: Generated<boolean>
  skipped_for: string | null
  skipped_sentence: string | null
  answered_by: string | null
  cost: number | null
  checks: Json<Record<string, string>>
}

export interface DoNotCallTable {
  workspace_id: BoundWorkspace
  phone: string
  reason: Generated<string>
  source: 'api' | 'upload' | 'call'
  call_id: string | null
  words: string | null
  created_at: Date
}

/** Sets of zones and states whose hours must all be open; the same for all workspaces. */
export interface WindowGroupsTable {
  id: Generated<number>
  key: string
  zones: string[]
  regions: string[]
}

/** Written by COPY alone; without workspace, so reached only by way of its upload. */
export interface ProspectUploadRowsTable {
  upload_id: string
  block: number
  rows: string
}

/** Written by triggers, and by store/events/workspace-events.ts. `(transaction, seq)` is its place among all events. */
export interface WorkspaceEventsTable {
  id: Generated<string>
  workspace_id: BoundWorkspace
  transaction: Generated<string>
  seq: Generated<number>
  type: string
  /** What the event goes away with. */
  subject: string | null
  agent_id: string | null
  data: JSONColumnType<Record<string, unknown>, string, never>
  created_at: CreatedAt
}

export interface WebhooksTable {
  id: string
  workspace_id: BoundWorkspace
  url: string
  types: string[]
  description: string
  agent_id: string | null
  /** Sealed. */
  secret: string
  /** Sealed; signs beside the new one until then. */
  old_secret: string | null
  old_secret_until: Date | null
  enabled: Generated<boolean>
  disabled_reason: string | null
  disabled_at: Date | null
  /** Since when every attempt failed. */
  failing_since: Date | null
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed'

export interface WebhookDeliveriesTable {
  id: Generated<string>
  workspace_id: BoundWorkspace
  webhook_id: string
  event_id: string
  event_at: Date
  type: string
  status: Generated<DeliveryStatus>
  attempts: Generated<number>
  next_attempt_at: Generated<Date>
  last_attempt_at: Date | null
  duration_ms: number | null
  response_status: number | null
  response_body: string | null
  error: string | null
  created_at: CreatedAt
}

export interface ToldWorkersTable {
  worker_id: string
  capacity: number
  told_at: CreatedAt
}

/** Tables of no single workspace: any code may query them. */
export interface GlobalTables {
  users: UsersTable
  sessions: SessionsTable
  slug_numbers: SlugNumbersTable
  instance_settings: InstanceSettingsTable
  workspace_quotas: WorkspaceQuotasTable
  workspace_retention: WorkspaceRetentionTable
  trunk_hosts: TrunkHostsTable
  trunk_addresses: TrunkAddressesTable
  carrier_numbers: CarrierNumbersTable
  one_time_links: OneTimeLinksTable
  invitations: InvitationsTable
  audit_log: AuditLogTable
  security_log: SecurityLogTable
  refresh_tokens: RefreshTokensTable
  workspaces: WorkspacesTable
  memberships: MembershipsTable
  batch_rows: BatchRowsTable
  window_groups: WindowGroupsTable
  prospect_upload_rows: ProspectUploadRowsTable
  told_workers: ToldWorkersTable
}

/** Tables of a workspace. Add a name here and to TENANT_TABLES in store/database/tenant.ts; a type error says when one is missing. */
export interface TenantTables {
  campaigns: CampaignsTable
  campaign_runs: CampaignRunsTable
  campaign_days: CampaignDaysTable
  prospect_lists: ProspectListsTable
  prospect_uploads: ProspectUploadsTable
  prospect_rejects: ProspectRejectsTable
  prospects: ProspectsTable
  prospect_counts: ProspectCountsTable
  campaign_call_counts: CampaignCallCountsTable
  prospect_attempts: ProspectAttemptsTable
  do_not_call: DoNotCallTable
  batches: BatchesTable
  batch_items: BatchItemsTable
  api_keys: ApiKeysTable
  idempotency_keys: IdempotencyKeysTable
  agents: AgentsTable
  phone_numbers: PhoneNumbersTable
  trunks: TrunksTable
  extensions: ExtensionsTable
  call_ladders: CallLaddersTable
  refused_calls: RefusedCallsTable
  calls: CallsTable
  call_turns: CallTurnsTable
  call_events: CallEventsTable
  documents: DocumentsTable
  uploads: UploadsTable
  upload_parts: UploadPartsTable
  chunks: ChunksTable
  vector_segments: VectorSegmentsTable
  chats: ChatsTable
  chat_messages: ChatMessagesTable
  chat_spending: ChatSpendingTable
  workspace_events: WorkspaceEventsTable
  webhooks: WebhooksTable
  webhook_deliveries: WebhookDeliveriesTable
  call_analyses: CallAnalysesTable
}

export type AllTables = GlobalTables & TenantTables

export type User = Selectable<UsersTable>
export type Workspace = Selectable<WorkspacesTable>
export type Agent = Selectable<AgentsTable>
export type Call = Selectable<CallsTable>
export type CallTurn = Selectable<CallTurnsTable>
export type ApiKey = Selectable<ApiKeysTable>
export type Document = Selectable<DocumentsTable>
export type Chat = Selectable<ChatsTable>
export type ChatMessage = Selectable<ChatMessagesTable>
export type RefusedCallRow = Selectable<RefusedCallsTable>
export type ExtensionRow = Selectable<ExtensionsTable>
export type PhoneNumberRow = Selectable<PhoneNumbersTable>
export type TrunkRow = Selectable<TrunksTable>
export type Batch = Selectable<BatchesTable>
export type Campaign = Selectable<CampaignsTable>
export type ProspectList = Selectable<ProspectListsTable>
export type ProspectUpload = Selectable<ProspectUploadsTable>
export type Prospect = Selectable<ProspectsTable>
export type ProspectAttempt = Selectable<ProspectAttemptsTable>
export type DoNotCall = Selectable<DoNotCallTable>
export type ProspectReject = Selectable<ProspectRejectsTable>
export type WorkspaceEvent = Selectable<WorkspaceEventsTable>
export type Webhook = Selectable<WebhooksTable>
export type WebhookDelivery = Selectable<WebhookDeliveriesTable>
