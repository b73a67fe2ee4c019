import type { AgentState, AudioFormat } from '../session/leg.ts'
import type { Answerer, Consent, VoicemailBehaviour } from '../telephony/answerer.ts'
import type { AnsweredBy } from '../telephony/carrier.ts'

/**
 * What an api node and a voice worker say to each other. Control messages are JSON; audio of all sessions of a tick
 * travels in one binary message (runtime/link/protocol.ts). A worker dials every api node it is told of; it has no
 * inbound port. `session` is a number the api node chose, unique on that link.
 */

export const LINK_PROTOCOL = 1

/** The agent as the worker needs it, variables already filled in. */
export interface AgentSpec {
  agentId: string
  agentName: string
  systemPrompt: string
  firstMessage: string
  temperature: number
  llm: { provider: string; model: string }
  stt: { provider: string; model: string }
  tts: { provider: string; voice: string }
  /** A language tag, or `multi`: the caller's, from turn to turn. Default: `en`. */
  language?: string
  /** Whether and how soon callers may cut the agent off; default: enabled, normal. */
  interruption?: { enabled: boolean; sensitivity: 'low' | 'normal' | 'high' }
  /** How soon a pause ends the caller's turn; default: balanced. */
  endpointing?: 'eager' | 'balanced' | 'patient'
  /** What is said while an answer is late; no phrases: those of the language. Default: enabled. */
  deadAir?: { enabled: boolean; phrases: readonly string[] }
  /** Names and terms to listen for. */
  keyterms?: readonly string[]
  /** How the voice says words it would say wrong. */
  pronunciation?: readonly { word: string; say: string }[]
  /** Who takes over when a provider fails, in this order. */
  fallbacks?: Fallbacks
  /** What the agent may do besides speaking. */
  tools?: ToolSpec[]
  /** True when the agent has a knowledge base: the worker asks for passages before each reply. */
  hasKnowledge: boolean
  /** Said before everything else and to its end: that the call is recorded. */
  recordingNotice?: string
  /** Asks whether the call may be recorded; the first message follows the answer. */
  consentMessage?: string
  /** What to do about answering machines; absent where none can pick up. An empty message: the first one. */
  voicemail?: { behaviour: VoicemailBehaviour; message: string }
}

export interface Fallbacks {
  llm?: { provider: string; model: string }[]
  stt?: { provider: string; model: string }[]
  tts?: { provider: string; voice: string }[]
}

/** A tool as the language model sees it. Where it leads and with which secrets, only the api node knows. */
export interface ToolSpec {
  name: string
  description: string
  /** JSON Schema of an object. */
  parameters: Record<string, unknown>
  /** `hang_up` is done by the worker itself, once the agent has said goodbye. */
  kind: 'http' | 'transfer' | 'hang_up' | 'send_dtmf' | 'knowledge'
}

export interface Turn {
  role: 'user' | 'assistant'
  text: string
  /** Milliseconds from the moment the call was answered. */
  startMs: number
  endMs: number
  /** The caller cut it off; `text` holds only the words played. */
  interrupted: boolean
}

export interface TurnLatency {
  /** End of the caller's speech in the audio to the first non-silent sample sent back. */
  totalMs: number
  endpointingMs: number
  llmMs: number
  ttsMs: number
}

export interface Usage {
  llmInputTokens: number
  llmOutputTokens: number
  sttSeconds: number
  ttsCharacters: number
}

export interface SessionLimits {
  /** The caller says nothing this long while the agent listens: the call ends with `idle`. */
  idleMs: number
  maxDurationMs: number
}

export type WorkerState = 'ready' | 'draining' | 'overloaded'

export type SessionEndReason = 'idle' | 'max_duration' | 'agent_hangup' | 'voicemail' | 'error' | 'worker_drained'

/** What a worker may ask its api node while a session runs. */
export interface AskMethods {
  knowledge: {
    params: { query: string; topK: number }
    result: { passages: { documentId: string; filename: string; text: string; score: number }[] }
  }
  /** Calls a tool of the agent. What the language model is to read comes back, failures of the tool included. */
  tool: {
    params: { name: string; arguments: Record<string, unknown> }
    result: { output: string }
  }
}
export type AskMethod = keyof AskMethods

export type WorkerMessage =
  | { type: 'hello'; protocol: number; workerId: string; capacity: number; metricsUrl: string }
  | { type: 'heartbeat'; state: WorkerState; activeSessions: number; capacity: number }
  | { type: 'accepted'; session: number }
  | { type: 'rejected'; session: number; reason: 'full' | 'draining' | 'overloaded' | 'bad_agent'; message: string }
  | { type: 'state'; session: number; state: AgentState }
  | { type: 'transcript'; session: number; turn: Turn; final: boolean }
  /** A turn that is over, in the order spoken. `seq` counts from 0 over the whole call, recovery included. */
  | { type: 'turn'; session: number; seq: number; turn: Turn }
  /** The caller's turn is being answered: sent with the first sound, so that it counts whatever becomes of the answer. */
  | { type: 'latency'; session: number; latency: TurnLatency }
  /** What the caller has heard so far of the agent's running turn: kept in case this worker dies in its middle. */
  | { type: 'heard'; session: number; seq: number; turn: Turn }
  | { type: 'clear'; session: number }
  | { type: 'mark'; session: number; id: number }
  /** Who picked up, as far as one can hear; a later word goes before an earlier one. */
  | { type: 'answered_by'; session: number; by: Answerer }
  /** What the caller said to the consent message. */
  | { type: 'consent'; session: number; consent: Consent }
  /** Used since the last `usage` message of the session: the api node adds them up. */
  | { type: 'usage'; session: number; usage: Usage }
  /** A provider failed, and what was done about it: for the call log. */
  | { type: 'fault'; session: number; message: string }
  /** The conversation is over. After `worker_drained` the api node offers the session to another worker. */
  | { type: 'ended'; session: number; reason: SessionEndReason; error?: string }
  /** The last message of the session, whoever ended it: everything it used is reported. */
  | { type: 'closed'; session: number }
  | { type: 'ask'; session: number; id: number; method: AskMethod; params: unknown }

export interface OpenSession {
  session: number
  callId: string
  agent: AgentSpec
  /** The leg's format, both ways. */
  format: AudioFormat
  limits: SessionLimits
  /**
   * Turns of a worker that died, in order; empty on a new call. Not empty: no first message, the conversation goes on:
   * after a user turn the agent answers it, after an interrupted agent turn the agent takes it up again. `seq` of the
   * next turn is `history.length`.
   */
  history: Turn[]
  /** Milliseconds since the call was answered. */
  elapsedMs: number
  /** The seat was taken before somebody picked up: a worker that has become overloaded keeps the promise. */
  reserved?: boolean
}

export type NodeMessage =
  | { type: 'welcome'; nodeId: string }
  /** Answers a heartbeat: the worker knows that the node lives. */
  | { type: 'beat' }
  | ({ type: 'open' } & OpenSession)
  /** Somebody's phone rings for this agent: connections are opened, and used by the session of this call. */
  | { type: 'warm'; callId: string; agent: AgentSpec }
  | { type: 'text'; session: number; text: string }
  | { type: 'dtmf'; session: number; digit: string }
  | { type: 'played'; session: number; id: number }
  /** Who picked up, as the carrier has it. */
  | { type: 'carrier_verdict'; session: number; by: AnsweredBy }
  | { type: 'close'; session: number; reason: string }
  | { type: 'answer'; session: number; id: number; result?: unknown; error?: string }
