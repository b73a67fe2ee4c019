import type { ColumnType, Generated, GeneratedAlways, JSONColumnType, Selectable } from 'kysely'
import type { VoicemailBehaviour } from '../../runtime/plugin-sdk/telephony/answerer.ts'
import type { RolloutPlan } from '../../runtime/rollouts/choose-version.ts'
import type { BoundWorkspace, CreatedAt } from '../database/tables.ts'

/** From where, and how often, strangers may talk to an agent. */
export interface PublicAccess {
  /** Origins of pages, such as `https://example.com`; `*`: any. */
  origins: string[]
  /** Web calls of the agent at once. */
  max_calls: number
  /** Sessions that one address may open within an hour. */
  per_address_per_hour: number
  look?: PublicLook
}

/** How the agent looks to them. */
export interface PublicLook {
  /** `#rrggbb`; null: the default. */
  color: string | null
  /** A `data:` URL; null: none. */
  avatar: string | null
  greeting: string
  corner: 'bottom_right' | 'bottom_left'
  theme: 'auto' | 'light' | 'dark'
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
  /** Instructions for single matters, loaded when they fit. */
  procedures: JSONColumnType<unknown[], string | undefined, string>
  voicemail: Generated<VoicemailBehaviour>
  voicemail_message: Generated<string>
  recording_notice: Generated<string>
  consent_message: Generated<string>
  /** Whether its calls are recorded; `default`: as the installation says. */
  recording: Generated<'default' | 'on' | 'off'>
  language: Generated<string>
  interruption: JSONColumnType<Record<string, unknown>, string | undefined, string>
  timezone: Generated<string>
  endpointing: Generated<'eager' | 'balanced' | 'patient'>
  dead_air: JSONColumnType<Record<string, unknown>, string | undefined, string>
  max_duration_s: Generated<number | null>
  idle_timeout_s: Generated<number | null>
  keyterms: JSONColumnType<string[], string | undefined, string>
  pronunciation: JSONColumnType<{ word: string; say: string }[], string | undefined, string>
  ai_disclosure: Generated<'auto' | 'before' | 'after' | 'off'>
  register: Generated<'formal' | 'informal'>
  /** Whose words for what callers say are kept where the model hears sound. */
  transcribe: Generated<'own' | 'model'>
  /** Its own sentences, by name. */
  phrases: JSONColumnType<Record<string, string>, string | undefined, string>
  /** Public access without an account; null: none. */
  public_access: ColumnType<PublicAccess | null, string | null | undefined, string | null>
  /** Whether a change is live at once, or when it is published. */
  publishing: Generated<'immediate' | 'manual'>
  /** The version that calls get, and its digest; null: none was published yet. */
  live_version: ColumnType<number | null, never, never>
  live_digest: ColumnType<string | null, never, never>
  /** The row is not as its live version. */
  unpublished: ColumnType<boolean, never, never>
  /** The last rollout; null: none, or it was ended. */
  rollout: ColumnType<AgentRollout | null, string | null | undefined, string | null>
  /** What is found out of its calls after their end. */
  analysis: JSONColumnType<Record<string, unknown>, string | undefined, string>
  /** What it collects from callers. */
  collect: JSONColumnType<Record<string, unknown>[], string | undefined, string>
  /** What its answers are checked for. */
  guardrails: JSONColumnType<Record<string, unknown>, string | undefined, string>
  /** Counts the changes of what retrieval may find. */
  knowledge_version: Generated<number>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export type GuardFigure = 'success' | 'latency_p95' | 'faults' | 'cost' | `disposition:${string}`

/** What a guard found, and what calls get since. */
export interface RolloutStop {
  /** ISO 8601. */
  at: string
  /** The version that is worse, and the one that all calls get. */
  version: number
  serves: number
  /** The live version then: another one that is published ends this. */
  live: number | null
  figure: GuardFigure
  z: number
  boundary: number
  compared: { version: number; calls: number; mean: number }[]
}

export interface AgentRollout extends RolloutPlan {
  id: string
  guard: { figure: GuardFigure; min_calls: number; planned_calls: number; stop_when: 'worse' } | null
  status: 'running' | 'stopped'
  /** ISO 8601. */
  started_at: string
  started_by: { id: string; name: string }
  stopped?: RolloutStop
}

/** What a version of an agent holds: the columns of VERSIONED_COLUMNS by their names, and the documents that were ready. */
export interface AgentContent extends Record<string, unknown> {
  documents: { id: string; filename: string }[]
}

/** A version never changes, but for its deletion. */
interface AgentVersionsTable {
  id: GeneratedAlways<string>
  agent_id: string
  workspace_id: BoundWorkspace
  number: number
  content: JSONColumnType<AgentContent, never, never>
  digest: ColumnType<string, never, never>
  note: ColumnType<string, never, never>
  /** Null: Patchbay itself, when documents were added or removed. */
  published_by: JSONColumnType<{ id: string; name: string }, never, never> | null
  created_at: CreatedAt
  deleted_at: Date | null
}

/** Where a chat stands. */
export interface ChatState {
  /** It was handed to its present agent, which knows the messages from that place on, and the note. */
  handoff?: { fromSeq: number; note: string }
  procedures?: ChatProcedureState
}

/** The procedures that the present agent has begun in a chat. */
export interface ChatProcedureState {
  begun: string[]
  /** What came of their fixed steps, for the model. */
  notes: string[]
  /** The next fixed step; `waits`: for the person's answer. */
  running?: { name: string; step: number; waits?: true }
}

interface ChatsTable {
  id: string
  workspace_id: BoundWorkspace
  agent_id: string
  session_id: string
  message_count: Generated<number>
  /** The version of the agent that answered last. */
  agent_version: number | null
  last_message: Generated<string>
  dynamic_variables: JSONColumnType<Record<string, string>, string | undefined, string>
  /** The agent that the chat was handed to; null: it is its own. */
  present_agent_id: string | null
  state: JSONColumnType<ChatState, string | undefined, string>
  /** What was collected in it, and what is being. */
  collected: JSONColumnType<Record<string, unknown>, string | undefined, string>
  created_at: CreatedAt
  updated_at: Generated<Date>
}

interface ChatMessagesTable {
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
interface ChatSpendingTable {
  workspace_id: BoundWorkspace
  month: ColumnType<Date, string, never>
  cost_usd: number
}

export type Agent = Selectable<AgentsTable>

export type AgentVersion = Selectable<AgentVersionsTable>

export type Chat = Selectable<ChatsTable>

export type ChatMessage = Selectable<ChatMessagesTable>

/** Of a workspace. */
export interface TenantAgentTables {
  agents: AgentsTable
  agent_versions: AgentVersionsTable
  chats: ChatsTable
  chat_messages: ChatMessagesTable
  chat_spending: ChatSpendingTable
}
