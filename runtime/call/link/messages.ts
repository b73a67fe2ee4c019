import { type Static, type TProperties, Type } from 'typebox'
import { oneOf } from '../../lib/string-enum.ts'
import { CALL_EVENT, CALL_EVENT_IN_PLACE } from '../log/events.ts'
import { RESUME } from '../log/resume.ts'

/**
 * What an api node and a voice worker say to each other, each message said once: as a schema, from which come its type and
 * the check at both ends. Control messages are JSON; audio of all sessions of a tick travels in one binary message
 * (runtime/call/link/protocol.ts). A worker dials every api node it is told of; it has no inbound port. `session` is a number the
 * api node chose, unique on that link. What happens in a call travels as its events (runtime/call/log/events.ts).
 */

export const LINK_PROTOCOL = 2

const session = Type.Integer({ minimum: 0, maximum: 0xffffffff })
const id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const ms = Type.Number()
const text = Type.String({ maxLength: 100_000 })

const message = <const T extends string, P extends TProperties>(type: T, fields: P) =>
  Type.Object({ type: Type.Literal(type), ...fields })

const model = Type.Object({ provider: Type.String(), model: Type.String() })
const voice = Type.Object({ provider: Type.String(), voice: Type.String() })

/** Who takes over when a provider fails, in this order. */
const FALLBACKS = Type.Object({
  llm: Type.Optional(Type.Array(model)),
  stt: Type.Optional(Type.Array(model)),
  tts: Type.Optional(Type.Array(voice)),
})
export type Fallbacks = Static<typeof FALLBACKS>

/** A tool as the language model sees it. Where it leads and with which secrets, only the api node knows. */
const TOOL_SPEC = Type.Object({
  name: Type.String(),
  description: Type.String(),
  /** JSON Schema of an object. */
  parameters: Type.Record(Type.String(), Type.Unknown()),
  /** `hang_up` is done by the worker itself, once the agent has said goodbye. */
  kind: oneOf('http', 'client', 'transfer', 'hang_up', 'send_dtmf', 'knowledge', 'mcp'),
})
export type ToolSpec = Static<typeof TOOL_SPEC>

/** The agent as the worker needs it, variables already filled in. */
const AGENT_SPEC = Type.Object({
  agentId: Type.String(),
  agentName: Type.String(),
  systemPrompt: Type.String(),
  firstMessage: Type.String(),
  temperature: Type.Number(),
  llm: model,
  stt: model,
  tts: voice,
  /** A language tag, or `multi`: the caller's, from turn to turn. Default: `en`. */
  language: Type.Optional(Type.String()),
  /** Whether and how soon callers may cut the agent off; default: enabled, normal. */
  interruption: Type.Optional(Type.Object({ enabled: Type.Boolean(), sensitivity: oneOf('low', 'normal', 'high') })),
  /** How soon a pause ends the caller's turn; default: balanced. */
  endpointing: Type.Optional(oneOf('eager', 'balanced', 'patient')),
  /** What is said while an answer is late; no phrases: those of the language. Default: enabled. */
  deadAir: Type.Optional(Type.Object({ enabled: Type.Boolean(), phrases: Type.Array(Type.String()) })),
  /** Names and terms to listen for. */
  keyterms: Type.Optional(Type.Array(Type.String())),
  /** How the voice says words it would say wrong. */
  pronunciation: Type.Optional(Type.Array(Type.Object({ word: Type.String(), say: Type.String() }))),
  fallbacks: Type.Optional(FALLBACKS),
  /** What the agent may do besides speaking. */
  tools: Type.Optional(Type.Array(TOOL_SPEC)),
  /** True when the agent has a knowledge base: the worker asks for passages before each reply. */
  hasKnowledge: Type.Boolean(),
  /** Said before everything else and to its end: that the call is recorded. */
  recordingNotice: Type.Optional(Type.String()),
  /** Asks whether the call may be recorded; the first message follows the answer. */
  consentMessage: Type.Optional(Type.String()),
  /** What to do about answering machines; absent where none can pick up. An empty message: the first one. */
  voicemail: Type.Optional(
    Type.Object({ behaviour: oneOf('hang_up', 'leave_message', 'continue'), message: Type.String() }),
  ),
})
export type AgentSpec = Static<typeof AGENT_SPEC>

const SESSION_LIMITS = Type.Object({
  /** The caller says nothing this long while the agent listens: the call ends with `idle`. */
  idleMs: ms,
  maxDurationMs: ms,
})
export type SessionLimits = Static<typeof SESSION_LIMITS>

const OPEN_SESSION = {
  session,
  callId: Type.String(),
  agent: AGENT_SPEC,
  /** The leg's format, both ways. */
  format: Type.Object({
    encoding: oneOf('pcm_s16le', 'pcmu', 'pcma', 'opus'),
    sampleRateHz: Type.Integer({ minimum: 8000, maximum: 48_000 }),
  }),
  limits: SESSION_LIMITS,
  /** What happened before, where another worker had the call; absent: the call is new to everybody. */
  resume: Type.Optional(RESUME),
  /** Milliseconds since the call was answered. */
  elapsedMs: ms,
  /** The seat was taken before somebody picked up: a worker that has become overloaded keeps the promise. */
  reserved: Type.Optional(Type.Boolean()),
  /** The first message is said and the call ends; it takes no seat. */
  announcement: Type.Optional(Type.Boolean()),
}
const openSession = Type.Object(OPEN_SESSION)
export type OpenSession = Static<typeof openSession>

const WORKER_STATE = oneOf('ready', 'draining', 'overloaded')
export type WorkerState = Static<typeof WORKER_STATE>

const SESSION_END_REASON = oneOf('idle', 'max_duration', 'agent_hangup', 'voicemail', 'error', 'worker_drained')
export type SessionEndReason = Static<typeof SESSION_END_REASON>

/** `bad_agent`: no worker can run this agent; `failed`: this one could not, another one may. */
const REJECTION = oneOf('full', 'draining', 'overloaded', 'bad_agent', 'failed')

export const KNOWLEDGE_ASK = Type.Object({ query: text, topK: Type.Integer({ minimum: 1, maximum: 20 }) })
/** `id` is new in the call for each call of a tool: who asks again with the same one gets the same result. */
export const TOOL_ASK = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  name: Type.String({ maxLength: 200 }),
  arguments: Type.Record(Type.String(), Type.Unknown()),
})

/** What a worker may ask its api node while a session runs. */
export interface AskMethods {
  knowledge: {
    params: Static<typeof KNOWLEDGE_ASK>
    result: { passages: { documentId: string; filename: string; text: string; score: number }[] }
  }
  /** Calls a tool of the agent. What the language model is to read comes back, failures of the tool included. */
  tool: {
    params: Static<typeof TOOL_ASK>
    result: { output: string }
  }
}
export type AskMethod = keyof AskMethods

/** Of the caller's sound, by the timestamps of its packets: from a sample to the one behind another. */
const SOUND_SPAN = Type.Object({ from: Type.Number(), to: Type.Number() })
export type SoundSpan = Static<typeof SOUND_SPAN>

export const WORKER_MESSAGE = Type.Union([
  message('hello', {
    protocol: Type.Integer(),
    workerId: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }),
    capacity: Type.Integer({ minimum: 0, maximum: 1000 }),
    metricsUrl: Type.String({ maxLength: 2000 }),
  }),
  message('heartbeat', {
    state: WORKER_STATE,
    activeSessions: Type.Integer({ minimum: 0, maximum: 10_000 }),
    capacity: Type.Integer({ minimum: 0, maximum: 1000 }),
  }),
  message('accepted', { session }),
  message('rejected', { session, reason: REJECTION, message: text }),
  message('state', { session, state: oneOf('listening', 'thinking', 'speaking') }),
  /** Something happened; the api node writes it into the call's log. `sound`: what of the caller's it is about. */
  message('event', { session, event: CALL_EVENT, sound: Type.Optional(SOUND_SPAN) }),
  message('clear', { session }),
  message('mark', { session, id }),
  /** The conversation is over. After `worker_drained` the api node offers the session to another worker. */
  message('ended', { session, reason: SESSION_END_REASON, error: Type.Optional(text) }),
  /** The last message of the session, whoever ended it: everything of it is told. */
  message('closed', { session }),
  message('ask', { session, id, method: oneOf('knowledge', 'tool'), params: Type.Unknown() }),
])
export type WorkerMessage = Static<typeof WORKER_MESSAGE>

export const NODE_MESSAGE = Type.Union([
  message('welcome', { nodeId: Type.String() }),
  /** Answers a heartbeat: the worker knows that the node lives. */
  message('beat', {}),
  message('open', OPEN_SESSION),
  /** Somebody's phone rings for this agent: connections are opened, and used by the session of this call. */
  message('warm', { callId: Type.String(), agent: AGENT_SPEC }),
  /** An operator wants the worker gone: it takes nothing new, and ends once its calls are over. */
  message('drain', {}),
  /** What the caller, the carrier or a supervisor did, in its place in the call's log. */
  message('event', { session, event: CALL_EVENT_IN_PLACE }),
  message('played', { session, id }),
  message('close', { session, reason: Type.String() }),
  message('answer', { session, id, result: Type.Optional(Type.Unknown()), error: Type.Optional(Type.String()) }),
])
export type NodeMessage = Static<typeof NODE_MESSAGE>

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
