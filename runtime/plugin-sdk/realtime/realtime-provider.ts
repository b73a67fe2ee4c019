import type { ProviderFailure } from '../provider-error.ts'

/**
 * How a speech-to-speech model is spoken to: functions without I/O. The core owns the socket, the clock, what is played and what
 * was heard; it alone says when the model answers.
 */
export interface RealtimeProvider {
  readonly capabilities: RealtimeCapabilities
  /** One session: where it is, what is said first, and both directions of its messages, in order. It may keep the state of one. */
  session(config: RealtimeConfig): RealtimeSession
}

export interface RealtimeCapabilities {
  /** Mono 16-bit samples at this rate, in both directions. */
  sampleRateHz: number
  /** It answers in sound; otherwise in text, which the agent's voice speaks. */
  speaks: boolean
  /** How long a session lasts at most. */
  maxSessionMs: number
}

export interface RealtimeConfig {
  instructions: string
  tools: readonly RealtimeTool[]
}

export interface RealtimeTool {
  name: string
  description: string
  /** JSON Schema of an object. */
  parameters: Readonly<Record<string, unknown>>
}

export interface RealtimeSession {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly hello: readonly string[]
  /** Understands one message. What it throws is the message's fault: it is skipped. */
  parse(raw: string): readonly ServerEvent[]
  serialise(event: ClientEvent): readonly string[]
}

/** A part of the conversation as the session holds it. */
export type RealtimeItem =
  | { type: 'message'; id: string; role: 'system' | 'user' | 'assistant'; text: string }
  | { type: 'function_call'; id: string; callId: string; name: string; arguments: string }
  | { type: 'function_call_output'; id: string; callId: string; name: string; output: string }

export type ClientEvent =
  | { type: 'configure'; config: RealtimeConfig }
  | { type: 'audio'; samples: Int16Array }
  /** What was sent of the caller's sound becomes an item; answered by `committed`. */
  | { type: 'commit' }
  /** What was sent and not committed is forgotten. */
  | { type: 'clear' }
  | { type: 'create'; item: RealtimeItem }
  | { type: 'delete'; itemId: string }
  /** The caller heard no more of the item than this. */
  | { type: 'truncate'; itemId: string; endMs: number }
  | { type: 'respond'; mayCallTools: boolean }
  | { type: 'cancel'; responseId: string }

export interface RealtimeUsage {
  /** All of the input and all of the output; the others are parts of them. */
  inputTokens: number
  outputTokens: number
  audioInputTokens?: number
  audioOutputTokens?: number
  cachedInputTokens?: number
  cachedAudioTokens?: number
  raw?: Readonly<Record<string, unknown>>
}

export type ServerEvent =
  | { type: 'committed'; itemId: string }
  | { type: 'response_started'; responseId: string }
  | { type: 'audio'; responseId: string; itemId: string; bytes: Uint8Array }
  | { type: 'text'; responseId: string; itemId: string; text: string }
  | { type: 'tool_call'; responseId: string; itemId: string; callId: string; name: string; arguments: string }
  | {
      type: 'response_done'
      responseId: string
      status: 'completed' | 'cancelled' | 'incomplete' | 'failed'
      /** Of one that is incomplete or failed. */
      failure?: ProviderFailure
      usage?: RealtimeUsage
    }
  /** Another response runs still: this one was not begun. */
  | { type: 'response_refused' }
  /** The session is of no use any more. */
  | { type: 'failed'; failure: ProviderFailure }
  /** The session ends soon. */
  | { type: 'going_away' }
