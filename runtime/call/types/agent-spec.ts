import { type Static, Type } from 'typebox'
import { stringEnum } from '../../lib/string-enum.ts'
import { MAX_VARIABLES } from '../../lib/variable-bounds.ts'
import { COLLECT_ITEM } from './collect-item.ts'
import { GUARDRAILS } from './guardrails.ts'
import { PROCEDURE } from './procedure.ts'

const ms = Type.Number()

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
  kind: stringEnum('http', 'client', 'transfer', 'hang_up', 'send_dtmf', 'knowledge', 'mcp', 'handoff', 'procedure'),
  /** What the agent says before it hands the caller off, where its model says nothing. */
  says: Type.Optional(Type.String()),
})
export type ToolSpec = Static<typeof TOOL_SPEC>

/** The agent as the worker needs it, variables already filled in. */
export const AGENT_SPEC = Type.Object({
  agentId: Type.String(),
  agentName: Type.String(),
  /** Whose keys of providers go before those of the installation; absent: nobody's. */
  workspaceId: Type.Optional(Type.String()),
  /** Absent: the draft. */
  agentVersion: Type.Optional(Type.Integer()),
  /** The rollout whose split chose the version. */
  rolloutId: Type.Optional(Type.String()),
  systemPrompt: Type.String(),
  firstMessage: Type.String(),
  temperature: Type.Number(),
  llm: model,
  stt: model,
  tts: voice,
  /** A language tag, or `multi`: the caller's, from turn to turn. Default: `en`. */
  language: Type.Optional(Type.String()),
  /** On what terms the agent is with callers; default: formal. */
  register: Type.Optional(stringEnum('formal', 'informal')),
  /** Its own sentences in place of the language's, by name (runtime/conversation/languages/phrases.ts). */
  phrases: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** When the agent says that it is an AI: before everything else or after the first message; absent: not by itself. */
  aiDisclosure: Type.Optional(stringEnum('before', 'after')),
  /** Whether and how soon callers may cut the agent off; default: enabled, normal. */
  interruption: Type.Optional(
    Type.Object({ enabled: Type.Boolean(), sensitivity: stringEnum('low', 'normal', 'high') }),
  ),
  /** How soon a pause ends the caller's turn; default: balanced. */
  endpointing: Type.Optional(stringEnum('eager', 'balanced', 'patient')),
  /** What is said while an answer is late; no phrases: those of the language. Default: enabled. */
  deadAir: Type.Optional(Type.Object({ enabled: Type.Boolean(), phrases: Type.Array(Type.String()) })),
  /** Names and terms to listen for. */
  keyterms: Type.Optional(Type.Array(Type.String())),
  /** Whose words of the caller a call keeps where the model hears sound: the recogniser's, which is the default, or its own. */
  transcribe: Type.Optional(stringEnum('own', 'model')),
  /** How the voice says words it would say wrong. */
  pronunciation: Type.Optional(Type.Array(Type.Object({ word: Type.String(), say: Type.String() }))),
  fallbacks: Type.Optional(FALLBACKS),
  /** What the agent may do besides speaking. */
  tools: Type.Optional(Type.Array(TOOL_SPEC)),
  /** What it collects from callers, each by a tool of its own (runtime/call/log/collect-output.ts). */
  collect: Type.Optional(Type.Array(COLLECT_ITEM)),
  /** What its answers are checked for before they are said. */
  guardrails: Type.Optional(GUARDRAILS),
  /** IANA; absent: UTC. */
  timeZone: Type.Optional(Type.String()),
  /** The other side's telephone number. */
  callerNumber: Type.Optional(Type.String()),
  /** Names in its texts that have no value in this call. */
  leftOut: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: MAX_VARIABLES })),
  /** Instructions for single matters; absent: none. */
  procedures: Type.Optional(Type.Array(PROCEDURE)),
  /** True when the agent has a knowledge base: the worker asks for passages before each reply. */
  hasKnowledge: Type.Boolean(),
  /** Said before everything else and to its end: that the call is recorded. */
  recordingNotice: Type.Optional(Type.String()),
  /** Asks whether the call may be recorded; the first message follows the answer. */
  consentMessage: Type.Optional(Type.String()),
  /** Whether its calls are recorded; absent: as the installation says. */
  recording: Type.Optional(stringEnum('on', 'off')),
  /** What to do about answering machines; absent where none can pick up. An empty message: the first one. */
  voicemail: Type.Optional(
    Type.Object({ behaviour: stringEnum('hang_up', 'leave_message', 'continue'), message: Type.String() }),
  ),
})
export type AgentSpec = Static<typeof AGENT_SPEC>

export const SESSION_LIMITS = Type.Object({
  /** The caller says nothing this long while the agent listens: the call ends with `idle`. */
  idleMs: ms,
  maxDurationMs: ms,
})
export type SessionLimits = Static<typeof SESSION_LIMITS>
