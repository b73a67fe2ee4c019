import { type Static, type TProperties, Type } from 'typebox'
import { stringEnum } from '../../lib/string-enum.ts'
import { CALL_EVENT, CALL_EVENT_IN_PLACE } from '../log/events.ts'
import { RESUME } from '../log/resume.ts'
import { AGENT_SPEC, SESSION_LIMITS } from '../types/agent-spec.ts'
import { SESSION_END_REASON } from '../types/outcome.ts'

/**
 * What an api node and a voice worker say to each other, each message said once: as a schema, from which come its type and
 * the check at both ends. Control messages are JSON; audio of all sessions of a tick travels in one binary message
 * (runtime/call/link/protocol.ts). A worker dials every api node announced to it; it has no inbound port. `session` is a number the
 * api node chose, unique on that link. What happens in a call travels as its events (runtime/call/log/events.ts).
 */

export const LINK_PROTOCOL = 2

/** Why a session is closed whose slot the next one takes: the worker has room for it at once. */
export const HANDED_OFF = 'handed_off'

const session = Type.Integer({ minimum: 0, maximum: 0xffffffff })
const id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const ms = Type.Number()
const text = Type.String({ maxLength: 100_000 })

const message = <const T extends string, P extends TProperties>(type: T, fields: P) =>
  Type.Object({ type: Type.Literal(type), ...fields })

/** Of providers, by variable. */
const KEYS = Type.Record(Type.String(), Type.Record(Type.String(), Type.String()))

const OPEN_SESSION = {
  session,
  callId: Type.String(),
  agent: AGENT_SPEC,
  /** Of the workspace's own accounts at the agent's providers; absent: it has none. */
  keys: Type.Optional(KEYS),
  /** The leg's format, both ways. */
  format: Type.Object({
    encoding: stringEnum('pcm_s16le', 'pcmu', 'pcma', 'opus'),
    sampleRateHz: Type.Integer({ minimum: 8000, maximum: 48_000 }),
  }),
  limits: SESSION_LIMITS,
  /** State from the previous worker of the call; absent: this worker is the first. */
  resume: Type.Optional(RESUME),
  /** Milliseconds since the call was answered. */
  elapsedMs: ms,
  /** The slot was reserved before the callee picked up: a worker that has become overloaded still accepts. */
  reserved: Type.Optional(Type.Boolean()),
  /** The first message is said and the call ends; it takes no seat. */
  announcement: Type.Optional(Type.Boolean()),
}
const openSession = Type.Object(OPEN_SESSION)
export type OpenSession = Static<typeof openSession>

const WORKER_STATE = stringEnum('ready', 'draining', 'overloaded')
export type WorkerState = Static<typeof WORKER_STATE>

/** `bad_agent`: no worker can run this agent; `failed`: this one could not, another one may. */
const REJECTION = stringEnum('full', 'draining', 'overloaded', 'bad_agent', 'failed')

export const KNOWLEDGE_ASK = Type.Object({ query: text, topK: Type.Integer({ minimum: 1, maximum: 20 }) })
/** `id` is new in the call for each call of a tool: who asks again with the same one gets the same result. */
export const TOOL_ASK = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  name: Type.String({ maxLength: 200 }),
  arguments: Type.Record(Type.String(), Type.Unknown()),
})

/** The call goes to the agent that the tool call of this id named: what was to be said before is said. */
export const HAND_OFF_ASK = Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) })
/** A collected value that is for tools alone; the api node keeps it as long as the call lasts. */
export const SECRET_ASK = Type.Object({
  name: Type.String({ maxLength: 200 }),
  value: Type.String({ maxLength: 4_000 }),
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
  hand_off: { params: Static<typeof HAND_OFF_ASK>; result: Record<string, never> }
  secret: {
    params: Static<typeof SECRET_ASK>
    result: Record<string, never>
  }
}
export type AskMethod = keyof AskMethods

/** What requests to providers that are under way will have cost, about. */
const OWED = Type.Object({
  input_tokens: Type.Integer({ minimum: 0 }),
  output_tokens: Type.Integer({ minimum: 0 }),
  characters: Type.Integer({ minimum: 0 }),
})
export type Owed = Static<typeof OWED>

/** Of the caller's sound, by the timestamps of its packets: from a sample to the one behind another. */
const SOUND_SPAN = Type.Object({ from: Type.Number(), to: Type.Number() })
export type SoundSpan = Static<typeof SOUND_SPAN>

export const WORKER_MESSAGE = Type.Union([
  message('hello', {
    protocol: Type.Integer(),
    workerId: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }),
    capacity: Type.Integer({ minimum: 0, maximum: 1000 }),
    metricsUrl: Type.String({ maxLength: 2000 }),
    /** Which calls it serves; absent or empty: those without a pool. */
    pool: Type.Optional(Type.String({ pattern: '^[a-z0-9-]{0,32}$' })),
    /** It understands `reload`. */
    reloads: Type.Optional(Type.Boolean()),
    /** It understands `keys`. */
    takesKeys: Type.Optional(Type.Boolean()),
  }),
  message('heartbeat', {
    state: WORKER_STATE,
    activeSessions: Type.Integer({ minimum: 0, maximum: 10_000 }),
    capacity: Type.Integer({ minimum: 0, maximum: 1000 }),
  }),
  message('accepted', { session }),
  message('rejected', { session, reason: REJECTION, message: text }),
  message('state', { session, state: stringEnum('listening', 'thinking', 'speaking') }),
  /** Something happened; the api node writes it into the call's log. `sound`: what of the caller's it is about. */
  message('event', { session, event: CALL_EVENT, sound: Type.Optional(SOUND_SPAN) }),
  /** Sent before a provider is asked, to a node that takes it: a worker that is lost can't tell what that cost. Counts all under way. */
  message('owes', { session, owed: OWED }),
  message('clear', { session }),
  message('mark', { session, id }),
  /** The conversation is over. After `worker_drained` the api node offers the session to another worker. */
  message('ended', { session, reason: SESSION_END_REASON, error: Type.Optional(text) }),
  /** The last message of the session, whichever side ended it. */
  message('closed', { session }),
  message('ask', {
    session,
    id,
    method: stringEnum('knowledge', 'tool', 'hand_off', 'secret'),
    params: Type.Unknown(),
  }),
])
export type WorkerMessage = Static<typeof WORKER_MESSAGE>

export const NODE_MESSAGE = Type.Union([
  message('welcome', {
    nodeId: Type.String(),
    /** It understands `owes`. */
    takesOwed: Type.Optional(Type.Boolean()),
  }),
  /** Answers a heartbeat: the worker knows that the node lives. */
  message('beat', {}),
  message('open', OPEN_SESSION),
  /** A phone rings for this agent: provider connections are opened, for use by the session of this call. */
  message('warm', { callId: Type.String(), agent: AGENT_SPEC, keys: Type.Optional(KEYS) }),
  /** An operator wants the worker gone: it takes nothing new, and ends once its calls are over. */
  message('drain', {}),
  /** An operator wants settings read anew. */
  message('reload', {}),
  /** The keys of providers that an operator stored, by variable: all of them, in place of what was sent before. */
  message('keys', { keys: KEYS }),
  /** What the caller, the carrier or a supervisor did, in its place in the call's log. */
  message('event', { session, event: CALL_EVENT_IN_PLACE }),
  message('played', { session, id }),
  message('close', { session, reason: Type.String() }),
  message('answer', { session, id, result: Type.Optional(Type.Unknown()), error: Type.Optional(Type.String()) }),
])
export type NodeMessage = Static<typeof NODE_MESSAGE>
