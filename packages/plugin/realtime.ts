/**
 * How a speech-to-speech model is spoken to: functions without I/O. The core owns the socket, the clock, what is played and what
 * was heard; it alone says when the model answers.
 */
export interface Realtime {
  readonly capabilities: RealtimeCapabilities
  /** One session: where it is, what is said first, and both directions of its messages, in order. It may keep the state of one. */
  session(config: RealtimeConfig): RealtimeSession
}

export interface RealtimeCapabilities {
  /** Mono 16-bit samples: the caller's, and the model's. */
  readonly inputRateHz: number
  readonly outputRateHz: number
  /** It answers in sound; otherwise in text, which the agent's voice speaks. */
  readonly speaks: boolean
  /**
   * What a session holds can be cut, deleted and cancelled. Where it can't, `clear`, `delete`, `truncate` and `cancel` are never
   * told: another session that is given the conversation as it was heard takes its place.
   */
  readonly edits: boolean
  /** How long a session lasts at most. */
  readonly maxSessionMs: number
}

export interface RealtimeConfig {
  readonly instructions: string
  readonly tools: readonly RealtimeTool[]
  /** The words of the caller's sound are wanted (`transcribed`), beside the answers; absent: they are not. Of a session, for its whole time. */
  readonly transcribe?: RealtimeTranscription
}

/** What the caller is expected to say. */
export interface RealtimeTranscription {
  /** A language tag; absent: any language. */
  readonly language?: string
  /** Names and terms. */
  readonly keyterms: readonly string[]
}

export interface RealtimeTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface RealtimeSession {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent first. Nothing else is before the session is `ready`. */
  readonly hello: readonly string[]
  /** Understands one message. What it throws is the message's fault: it is skipped. */
  parse(raw: string): readonly RealtimeServerEvent[]
  serialise(event: RealtimeClientEvent): readonly string[]
  /** What a closed connection means, where the provider says it with the code. */
  closed?(code: number, reason: string): RealtimeFault
}

/** What a provider said went wrong, in its own words: the core judges it. */
export interface RealtimeFault {
  /** As of HTTP: 401 for a refused key, 429 for a limit, 400 for what no other attempt can cure. Left out: it may pass. */
  readonly status?: number
  readonly code?: string
  readonly message?: string
}

/** A part of the conversation as the session holds it. */
export type RealtimeItem =
  | {
      readonly type: 'message'
      readonly id: string
      readonly role: 'system' | 'user' | 'assistant'
      readonly text: string
    }
  | {
      readonly type: 'function_call'
      readonly id: string
      readonly callId: string
      readonly name: string
      readonly arguments: string
    }
  | {
      readonly type: 'function_call_output'
      readonly id: string
      readonly callId: string
      readonly name: string
      readonly output: string
    }

export type RealtimeClientEvent =
  | { readonly type: 'configure'; readonly config: RealtimeConfig }
  | { readonly type: 'audio'; readonly samples: Int16Array }
  /** What was sent of the caller's sound becomes an item; answered by `committed`. */
  | { readonly type: 'commit' }
  /** What was sent and not committed is forgotten. */
  | { readonly type: 'clear' }
  | { readonly type: 'create'; readonly item: RealtimeItem }
  | { readonly type: 'delete'; readonly itemId: string }
  /** The caller heard no more of the item than this. */
  | { readonly type: 'truncate'; readonly itemId: string; readonly endMs: number }
  | { readonly type: 'respond'; readonly mayCallTools: boolean }
  | { readonly type: 'cancel'; readonly responseId: string }

export interface RealtimeUsage {
  /** All of the input and all of the output; the others are parts of them. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly audioInputTokens?: number
  readonly audioOutputTokens?: number
  readonly cachedInputTokens?: number
  readonly cachedAudioTokens?: number
  readonly raw?: Readonly<Record<string, unknown>>
}

export type RealtimeServerEvent =
  /** The session takes what it is told. */
  | { readonly type: 'ready' }
  | { readonly type: 'committed'; readonly itemId: string }
  /**
   * The caller's words in an item, whenever they are known; without `itemId` in the sound that was committed last. Words that are told
   * again take the place of the earlier ones.
   */
  | {
      readonly type: 'transcribed'
      readonly itemId?: string
      readonly text: string
      /** Of another model, which wrote them and is billed apart by the length of the sound. */
      readonly usage?: { readonly model: string; readonly seconds: number }
    }
  | { readonly type: 'response_started'; readonly responseId: string }
  | { readonly type: 'audio'; readonly responseId: string; readonly itemId: string; readonly bytes: Uint8Array }
  | { readonly type: 'text'; readonly responseId: string; readonly itemId: string; readonly text: string }
  | {
      readonly type: 'tool_call'
      readonly responseId: string
      readonly itemId: string
      readonly callId: string
      readonly name: string
      readonly arguments: string
    }
  /** No more sound of it comes; words and usage may. */
  | { readonly type: 'audio_done'; readonly responseId: string }
  | {
      readonly type: 'response_done'
      readonly responseId: string
      readonly status: 'completed' | 'cancelled' | 'incomplete' | 'failed'
      /** Of one that is incomplete or failed. */
      readonly fault?: RealtimeFault
      readonly usage?: RealtimeUsage
    }
  /** Another response runs still: this one was not begun. */
  | { readonly type: 'response_refused' }
  /** The session is of no use any more. */
  | { readonly type: 'failed'; readonly fault: RealtimeFault }
  /** The session ends soon. */
  | { readonly type: 'going_away' }
