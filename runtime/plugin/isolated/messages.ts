import type { ChatRequest, Failure, LlmEvent, Options, SttEvent, ToolCall } from '../../../packages/plugin/mod.ts'
import type {
  RealtimeCapabilities,
  RealtimeClientEvent,
  RealtimeConfig,
  RealtimeFault,
  RealtimeServerEvent,
} from '../../../packages/plugin/realtime.ts'
import type { CarrierOrder } from '../../../packages/plugin/telephony.ts'

/**
 * What a role and the process of a plugin say to each other. A session is one use: a caller who is recognised, a sentence
 * that is spoken, an answer of a model. The role numbers them.
 */

export type ToPlugin =
  | {
      type: 'init'
      plugin: string
      module: string
      env: Record<string, string>
      granted: string[]
      modelsDir?: string | undefined
    }
  /** What comes next for the session depends on its kind: audio for `stt`, nothing for the others. */
  | { type: 'open'; session: number; use: Use; options: Options }
  /** Of a session with a speech-to-speech model; the caller's sound comes as audio. */
  | { type: 'tell'; session: number; event: RealtimeClientEvent }
  /** What its provider sent. */
  | { type: 'receive'; session: number; raw: string }
  /** Its connection closed. */
  | { type: 'closed'; session: number; code: number; reason: string }
  /** There is no more audio. */
  | { type: 'end'; session: number }
  | { type: 'cancel'; session: number }
  /** A call or chat is over. */
  | { type: 'dispose'; sessionId: string }
  /** The next piece of an object, please. */
  | { type: 'more'; session: number }
  | { type: 'beat'; at: number }

export type Use =
  | { kind: 'stt' }
  | { kind: 'tts'; text: string }
  | { kind: 'llm'; request: ChatRequest }
  | { kind: 'realtime'; config: RealtimeConfig }
  | { kind: 'embedding'; texts: readonly string[] }
  | { kind: 'describe'; of: 'stt' | 'tts' | 'realtime' | 'embedding' | 'telephony' }
  | { kind: 'vectorstore'; act: VectorAct }
  | { kind: 'objectstore'; act: ObjectAct }
  | { kind: 'tools'; act: 'list' | ToolCall }
  | { kind: 'telephony'; act: TelephonyAct }
  | { kind: 'check' }
  /** Has the plugin pass the suite of its author's tests. */
  | { kind: 'conformance'; byKind: Readonly<Record<string, Partial<Options>>> }

/** One call of a vector store: its arguments but the signal. */
export interface VectorAct {
  name: 'upsert' | 'search' | 'remove' | 'removeAll'
  args: readonly unknown[]
}

/** One call of an object store. Its bytes come and go in pieces, each when it is asked for. */
export type ObjectAct =
  | { name: 'put'; key: string; size: number; contentType: string }
  | { name: 'get'; key: string; range?: { start: number; end: number } }
  | { name: 'url'; key: string; link: { expiresInS: number; filename: string } }
  | { name: 'remove'; key: string }

/** A request of a carrier, with the headers that its plugin looks at. */
export interface SentRequest {
  method: string
  event: string
  target: string
  query: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** What a StreamDoor answers for one call. */
export interface SentDoor {
  streamUrl: string
  /** Ends with a slash: an event follows. */
  callbacks: string
}

/** One call of a carrier's method. */
export type TelephonyAct =
  | { name: 'verify'; request: SentRequest; urls: readonly string[] }
  | { name: 'read'; request: SentRequest }
  | { name: 'join'; call: { callId: string; token: string }; door: SentDoor }
  | { name: 'reject'; as: 'busy' | 'rejected' }
  | { name: 'hangup' }
  | { name: 'command'; carrierId: string; document: string }
  | { name: 'create'; order: CarrierOrder; token: string; door: SentDoor }
  | { name: 'end' | 'state'; carrierId: string }
  | { name: 'transfer'; call: { carrierId: string; to: string; from: string }; door: SentDoor }

/** What comes of a session with a speech-to-speech model. Behind `send` and `sound` the bytes follow. */
export type RealtimeNews =
  | { type: 'send' }
  | { type: 'sound'; responseId: string; itemId: string }
  | { type: 'happened'; event: Exclude<RealtimeServerEvent, { type: 'audio' }> }
  | { type: 'malformed' }
  | { type: 'closed'; fault?: RealtimeFault }

/** What `describe` answers. */
export interface Description {
  sampleRateHz?: number
  dimensions?: number
  capabilities?: RealtimeCapabilities
}

/** A permission that the plugin's code used without a grant. */
export interface RefusedByDeno {
  permission: string
  target: string
  /** The role refused it itself. */
  isCounted: boolean
}

export type FromPlugin =
  /** The plugin is loaded: it has factories of these names. */
  | { type: 'ready'; factories: string[] }
  | { type: 'broken'; reason: string }
  | { type: 'event'; session: number; event: SttEvent | LlmEvent | RealtimeNews }
  /** Asks for a piece of what is to be kept. */
  | { type: 'need'; session: number; start: number; end: number }
  | { type: 'done'; session: number }
  | { type: 'failed'; session: number; message: string; failure?: Failure; refused?: RefusedByDeno }
  | { type: 'beat'; at: number }
  | { type: 'log'; level: 'debug' | 'info' | 'warn' | 'error'; message: string }
