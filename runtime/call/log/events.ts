import { type Static, type TProperties, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { stringEnum } from '../../lib/string-enum.ts'
import { MAX_VARIABLES } from '../../lib/variable-bounds.ts'
import { ANSWERERS } from '../../plugin-sdk/telephony/answerer.ts'
import { GUARD_RULES } from '../types/guardrails.ts'
import { RELEASERS } from '../types/leg.ts'

/**
 * What happens in a call: one union, from which come the TypeScript type, the check at both ends of the link, the
 * journal's row, the replay for a worker that takes over, and the body of a live event. The names of fields are those of
 * the API. Each event is written once, by the api node that holds the leg (runtime/call/log/call-log.ts).
 */

/** Where a fault of a call lies. */
export const FAULT_STAGES = ['stt', 'llm', 'tts', 'tool', 'line', 'session'] as const

const text = Type.String({ maxLength: 100_000 })
const name = Type.String({ maxLength: 200 })
const ms = Type.Number()
const amount = Type.Number({ minimum: 0 })

/** Inputs of the caller or a supervisor, by their `seq`, that need not be delivered again. */
const inputs = Type.Optional(Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 256 }))

const event = <const T extends string, P extends TProperties>(type: T, fields: P) =>
  Type.Object({ type: Type.Literal(type), ...fields })

export const GREETING_STEP = stringEnum('notice', 'consent_asked', 'first_message', 'done')
export const CONSENT = stringEnum('given', 'refused', 'unanswered')
export const ANSWERER = stringEnum(...ANSWERERS)
/** What of a conversation the agent knows that it is handed to: all, a summary that the agent before makes, or nothing. */
export const CARRIES = stringEnum('all', 'summary', 'none')

/** Who did something to a call from outside: a user's id and name, or the name of an API key. */
const who = Type.Object({ id: name, name })

/** A provider, and the model or voice of it. */
const SERVED = Type.Object({ provider: name, model: Type.String({ maxLength: 4_000 }) })

/** What an agent uses first of each stage. */
const PROVIDERS = Type.Object({ stt: SERVED, llm: SERVED, tts: SERVED })

/** Names of variables in the agent's texts that have no value in this call. */
const LEFT_OUT = Type.Optional(Type.Array(name, { maxItems: MAX_VARIABLES }))

const LIFE = [
  /** `agent_version`: the one that is to talk; `rollout_id`: the rollout whose split chose it. */
  event('queued', { agent_version: Type.Optional(Type.Integer({ minimum: 1 })), rollout_id: Type.Optional(name) }),
  event('ringing', {}),
  /** The callee picked up while no agent was reserved for the call, and waits for one. */
  event('picked_up', {}),
  /** `providers`: the agent's first choice of each stage; `provider_switched` says when another served. */
  event('answered', { providers: Type.Optional(PROVIDERS), left_out: LEFT_OUT }),
  event('ended', {
    status: stringEnum('completed', 'failed', 'busy', 'no_answer', 'canceled'),
    end_reason: name,
    disposition: name,
    /** What went wrong, for readers of the call log. */
    error: Type.Optional(text),
    /** From the answer. Absent: the node that held the call is lost. */
    duration_ms: Type.Optional(ms),
  }),
  event('worker_taken', { worker: name }),
  event('worker_lost', { worker: name, reason: name }),
  /** Another worker goes on with the conversation. */
  event('resumed', { worker: name }),
] as const

const CALLER = [
  event('speech_started', {}),
  event('speech_ended', {}),
  /** Speech of which no words came, and why. */
  event('not_understood', {
    start_ms: ms,
    end_ms: ms,
    reason: stringEnum('no_words', 'stt_failed', 'unknown_sentence'),
  }),
  /** Words as they are recognised. Those that are not final are shown live and never stored. */
  event('words', { text, start_ms: ms, end_ms: ms, final: Type.Boolean(), language: Type.Optional(name) }),
  /** A turn of the caller that is over. */
  event('turn', { text, start_ms: ms, end_ms: ms, language: Type.Optional(name), inputs }),
  /** A turn of the caller as a speech-to-speech model understood it: these words take the place of the recogniser's. `turn`: its place among the turns, from 0. */
  event('transcribed', { turn: Type.Integer({ minimum: 0 }), text, start_ms: ms, end_ms: ms }),
  event('typed', { text }),
  /** `digit` is `*` where what is keyed is secret. */
  event('key', { digit: Type.String({ maxLength: 1 }) }),
  /** Inputs of the caller or a supervisor that were dealt with otherwise than by a turn or a consent. */
  event('inputs_taken', { inputs: Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 256 }) }),
  event('held', { direction: stringEnum('sendonly', 'recvonly', 'inactive') }),
  event('unheld', {}),
] as const

const AGENT = [
  event('thinking', {}),
  /** This step of the agent's greeting begins; `done`: the first message was said. */
  event('greeting', { step: GREETING_STEP }),
  /** What is to be spoken. */
  event('said', { text, instructions: Type.Optional(Type.Boolean()) }),
  /** What was heard of it. One that is not final is shown live, and counts when the worker dies. */
  event('heard', { text, start_ms: ms, end_ms: ms, interrupted: Type.Boolean(), final: Type.Boolean() }),
  event('filler', { text }),
  /** From the end of the caller's speech in the audio to the first sound of the answer, by stage. */
  event('latency', { endpointing_ms: ms, stt_ms: ms, llm_ms: ms, tts_ms: ms, total_ms: ms }),
  /** The agent stops listening: a machine answered the call. */
  event('muted', {}),
  /**
   * The agent `to` has the call from here on. `carries`: what it knows of the conversation before, beside `reason`; `said`: what the
   * caller heard last.
   */
  event('handed_off', {
    from: name,
    to: name,
    from_name: name,
    to_name: name,
    to_version: Type.Optional(Type.Integer({ minimum: 1 })),
    reason: text,
    carries: CARRIES,
    summary: Type.Optional(text),
    said: Type.Optional(text),
    providers: Type.Optional(PROVIDERS),
    left_out: LEFT_OUT,
    /** The agent `from` could not take the call, which is back with `to`. */
    failed: Type.Optional(Type.Boolean()),
  }),
] as const

const TOOLS = [
  event('tool_called', { id: name, name, arguments: Type.Record(Type.String(), Type.Unknown()) }),
  event('tool_returned', { id: name, result: text, ms: amount, error: Type.Optional(text) }),
  event('knowledge_looked_up', {
    query: text,
    hits: Type.Array(Type.Object({ document_id: name, filename: text, score: Type.Number() }), { maxItems: 32 }),
    ms: amount,
  }),
] as const

const COLLECTED = [
  /** The agent asks for a value, or reads one back; `id` is the tool's call. Of a secret no value is told. */
  event('collecting', {
    id: name,
    name,
    secret: Type.Boolean(),
    phase: stringEnum('asking', 'confirming'),
    attempts: Type.Integer({ minimum: 1 }),
    value: Type.Optional(text),
    confidence: Type.Optional(amount),
  }),
  /** What came of it; `not_answered`: the caller asked something else. Of a secret neither value nor words are told. */
  event('collected', {
    id: name,
    name,
    secret: Type.Boolean(),
    status: stringEnum('collected', 'gave_up', 'not_answered'),
    attempts: Type.Integer({ minimum: 1 }),
    value: Type.Optional(text),
    confidence: Type.Optional(amount),
    heard: Type.Optional(text),
  }),
  /** A sentence was not said: the answer was made once more, a set phrase was said, or the rest was left out. */
  event('guarded', {
    rule: stringEnum(...GUARD_RULES),
    action: stringEnum('regenerated', 'phrase', 'cut'),
    sentence: text,
    found: text,
  }),
] as const

const PROCEDURES = [
  /** The model began it by the tool call of that `id`. Its fixed steps follow, without the model. */
  event('procedure_begun', { id: name, name }),
  /** A fixed step is done: `result` is the caller's answer, or what came of the tool. */
  event('procedure_step', { name, step: Type.Integer({ minimum: 0 }), result: Type.Optional(text) }),
  /** All fixed steps are done. */
  event('procedure_ended', { name }),
] as const

const LINE = [
  event('answered_by', {
    by: ANSWERER,
    source: stringEnum('agent', 'carrier'),
  }),
  event('consent', { consent: CONSENT, inputs }),
  /** Absent: from the event on. */
  event('recording_started', { start_ms: Type.Optional(ms) }),
  event('recording_stopped', {}),
  /** `who`: a supervisor did it, not the agent. */
  event('transfer_started', { to: name, mode: stringEnum('blind', 'warm'), who: Type.Optional(who) }),
  event('transfer_done', { to: name }),
  event('transfer_failed', { to: name, reason: text }),
  event('media', {
    codec: Type.Optional(name),
    loss: Type.Optional(amount),
    jitter_ms: Type.Optional(amount),
    rtt_ms: Type.Optional(amount),
    mos: Type.Optional(amount),
    packets: Type.Optional(amount),
    /** One side hears nothing: we of the caller, or the caller of us. */
    one_way: Type.Optional(stringEnum('nothing_heard', 'not_heard')),
    /** Packets that came too late, and those dropped because a way was full. */
    late: Type.Optional(amount),
    dropped: Type.Optional(amount),
    /** Losses that come together, and those between (RFC 3611, section 4.7.2): shares 0 to 1, mean lengths. */
    burst_density: Type.Optional(amount),
    burst_ms: Type.Optional(amount),
    gap_density: Type.Optional(amount),
    gap_ms: Type.Optional(amount),
  }),
  event('carrier', {
    call_id: Type.Optional(name),
    trunk: Type.Optional(name),
    sip_status: Type.Optional(Type.Integer()),
    q850: Type.Optional(Type.Integer()),
    released_by: Type.Optional(stringEnum(...RELEASERS)),
    /** What an unanswered call came to. */
    cause: Type.Optional(name),
    /** Where one objects to a block. */
    redress: Type.Optional(text),
    pdd_ms: Type.Optional(amount),
  }),
] as const

const MONEY = [
  /** Used since the last such event of the stage. */
  event('usage', {
    stage: stringEnum('stt', 'llm', 'tts'),
    /** Of an agent that has handed the call off since; absent: the agent that has it. */
    agent_id: Type.Optional(name),
    seconds: Type.Optional(amount),
    /** Of another than the agent's of that stage, which it is priced by. */
    served_by: Type.Optional(SERVED),
    input_tokens: Type.Optional(amount),
    output_tokens: Type.Optional(amount),
    /** Parts of the tokens; absent where the provider says nothing of them. */
    cached_read_tokens: Type.Optional(amount),
    cache_write_tokens: Type.Optional(amount),
    reasoning_tokens: Type.Optional(amount),
    /** Of speech-to-speech models: the tokens that are sound. */
    audio_input_tokens: Type.Optional(amount),
    audio_output_tokens: Type.Optional(amount),
    cached_audio_tokens: Type.Optional(amount),
    /** Of the tokens, so many are estimated: of answers that were cut off or thrown away. */
    estimated_tokens: Type.Optional(amount),
    characters: Type.Optional(amount),
  }),
  event('fault', {
    stage: stringEnum(...FAULT_STAGES),
    provider: Type.Optional(name),
    code: Type.Optional(name),
    sentence: text,
  }),
  event('provider_switched', { stage: stringEnum('stt', 'llm', 'tts'), from: name, to: name }),
] as const

const PEOPLE = [
  event('supervisor_joined', { who }),
  /** The agent receives the text; the caller does not hear it. */
  event('whispered', { who, text }),
  /** The supervisor has the agent say it. */
  event('supervisor_said', { who, text }),
  /** The agent is silent from here on and doesn't answer. */
  event('took_over', { who }),
  /** The agent goes on. */
  event('gave_back', { who, summary: Type.Optional(text) }),
  event('left', { who }),
  /** The call was ended over the API. */
  event('hung_up', { who }),
] as const

export const CALL_EVENT = Type.Union([
  ...LIFE,
  ...CALLER,
  ...AGENT,
  ...TOOLS,
  ...COLLECTED,
  ...PROCEDURES,
  ...LINE,
  ...MONEY,
  ...PEOPLE,
])

/** An event in its place, as it travels. */
export const CALL_EVENT_IN_PLACE = Type.Intersect([
  CALL_EVENT,
  Type.Object({ seq: Type.Integer({ minimum: 0 }), at: Type.Number() }),
])

/** What happened, without its place in the call. */
export type CallEventBody = Static<typeof CALL_EVENT>
export type CallEventType = CallEventBody['type']
export type EventOf<T extends CallEventType> = Extract<CallEventBody, { type: T }>

/** What a supervisor may do to a call that talks. `hung_up` is written when the call is ended, by who ended it. */
export type SupervisorEvent = EventOf<
  'supervisor_joined' | 'whispered' | 'supervisor_said' | 'took_over' | 'gave_back' | 'left'
>

/** An event in its place: `seq` counts from 0 over what is kept of the call, without gaps; `at` is the time of the api node, in ms since 1970. */
export type CallEvent = CallEventBody & { readonly seq: number; readonly at: number }

const check = Compile(CALL_EVENT)

/** Whether a value from the wire or the journal is an event. */
export const isCallEvent = (value: unknown): value is CallEventBody => check.Check(value)

/** What is known of a call only after its end: a bill, and what a tool did that was running then. */
export function mayComeLate(type: CallEventBody['type']): boolean {
  return type === 'usage' || type === 'media' || type === 'tool_returned'
}

/** Shown live and never stored: what a later event says better. */
export function isPassing(event: CallEventBody): boolean {
  return (event.type === 'words' || event.type === 'heard') && !event.final
}
