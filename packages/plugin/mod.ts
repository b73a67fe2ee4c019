/**
 * What a plugin that runs in a process of its own is written with. Plain async code and the platform's `fetch` and
 * `WebSocket`; the process may reach what the operator granted, and nothing else.
 *
 *     import { definePlugin } from '@patchbay/plugin'
 *
 *     export default definePlugin({
 *       llm: (host, { model }) => ({
 *         async *chat({ messages }, signal) {
 *           const question = messages.findLast(({ role }) => role === 'user')?.content ?? ''
 *           yield { type: 'text', text: `You said: ${question}` }
 *         },
 *       }),
 *     })
 */

export type { ObjectSource, ObjectStore, StoredObject } from './object-store.ts'
export { type Failure, ProviderError } from './provider-error.ts'
export type {
  Realtime,
  RealtimeCapabilities,
  RealtimeClientEvent,
  RealtimeConfig,
  RealtimeFault,
  RealtimeItem,
  RealtimeServerEvent,
  RealtimeSession,
  RealtimeTool,
  RealtimeTranscription,
  RealtimeUsage,
} from './realtime.ts'
export { readSamples } from './samples.ts'
export { readEvents, readServerEvents, type ServerEvent } from './server-sent-events.ts'
export { openSocket, type Socket, type SocketOptions } from './socket.ts'
export type {
  AnsweredBy,
  CarrierCallState,
  CarrierNews,
  CarrierOrder,
  CarrierRequest,
  DialFailure,
  DialNews,
  StreamDoor,
  StreamShape,
  Telephony,
} from './telephony.ts'
export type { Toolbox, ToolCall } from './toolbox.ts'
export type { Terms, VectorMatch, VectorPoint, VectorQuery, VectorScope, VectorStore } from './vector-store.ts'

import type { ObjectStore } from './object-store.ts'
import type { Realtime } from './realtime.ts'
import type { Telephony } from './telephony.ts'
import type { Toolbox } from './toolbox.ts'
import type { VectorStore } from './vector-store.ts'

/** The plugin's door to its operator. */
export interface Host {
  /** Name of the plugin. */
  readonly plugin: string
  readonly env: {
    /** A granted variable; undefined when it isn't set. Throws for one that was not granted, with the cure. */
    get(name: string): string | undefined
  }
  /** Where the models are that the operator downloaded for it, each in a folder of its name; of plugins that name models alone. */
  readonly modelsDir?: string
  readonly log: Readonly<Record<'debug' | 'info' | 'warn' | 'error', (message: string) => void>>
  /** Aborts when the process is asked to end. */
  readonly signal: AbortSignal
}

/** What the agent and the operator chose. */
export interface Options {
  /** Of speech and language models: of the call or chat that the instance is made for. All it says and hears has the same. */
  readonly sessionId?: string
  readonly model?: string
  readonly voice?: string
  /** BCP 47, or `multi`. */
  readonly language?: string
  readonly keyterms?: readonly string[]
  /** Of a vector store: whose dense vectors come; absent where none do. */
  readonly embedding?: { readonly model: string; readonly dimensions: number }
  /** The operator's options of the plugin, as plugin.json describes them. */
  readonly settings: Readonly<Record<string, unknown>>
}

/** Words of the caller. Times in seconds from the first sample of the session. */
export interface Words {
  readonly text: string
  readonly startS?: number
  readonly endS?: number
  /** 0 to 1. */
  readonly confidence?: number
  readonly language?: string
}

export type SttEvent = ({ readonly type: 'interim' } & Words) | ({ readonly type: 'final' } & Words)

export interface Stt {
  /** Rate of the audio it takes: 16-bit mono. */
  readonly sampleRateHz: number
  /** Recognises one caller until the audio ends or the signal aborts. Each utterance ends with a `final`. */
  recognise(audio: AsyncIterable<Int16Array>, signal: AbortSignal): AsyncIterable<SttEvent>
  /** The call is over: closes what the instance holds open, such as a socket. */
  dispose?(): void | Promise<void>
}

export interface Tts {
  /** Rate of the audio it makes: 16-bit mono. */
  readonly sampleRateHz: number
  /** Speaks one sentence. */
  speak(text: string, signal: AbortSignal): AsyncIterable<Int16Array>
  /** The call is over: closes what the instance holds open, such as a socket. */
  dispose?(): void | Promise<void>
}

export type Message =
  | { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }
  | { readonly role: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly role: 'tool_result'; readonly id: string; readonly name: string; readonly content: string }

export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface ChatRequest {
  readonly messages: readonly Message[]
  /** Empty: the agent has none. */
  readonly tools: readonly Tool[]
  readonly temperature?: number
}

export type LlmEvent =
  | { readonly type: 'text'; readonly text: string }
  /** `arguments` is JSON. */
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: 'usage'
      /** All of the prompt, with what was read from a cache and written to one. */
      readonly inputTokens: number
      /** All of the answer, with what the model thought. */
      readonly outputTokens: number
      /** Left out where the provider doesn't say. */
      readonly cachedInputTokens?: number
      readonly cacheWriteTokens?: number
      readonly reasoningTokens?: number
      /** The provider's own words about it. */
      readonly raw?: Readonly<Record<string, unknown>>
    }
  /** The model is at work on what nobody hears: it has not fallen silent. */
  | { readonly type: 'thinking' }
  /** Why an answer ended before it was whole, or what is wrong with it. An answer that ended by itself has none. */
  | {
      readonly type: 'stop'
      readonly reason: 'length' | 'refusal' | 'safety' | 'tool_call' | 'thoughts' | 'call_in_words'
      /** The provider's own name for it. */
      readonly detail?: string
    }

export interface Llm {
  chat(request: ChatRequest, signal: AbortSignal): AsyncIterable<LlmEvent>
  /** The call or chat is over: closes what the instance holds open. */
  dispose?(): void | Promise<void>
}

export interface Embedding {
  readonly dimensions: number
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>
}

/** A factory is called once for each call or chat (stt, tts, llm, realtime), or once for the process (the other kinds). */
export interface Factories {
  readonly stt?: (host: Host, options: Options) => Stt | Promise<Stt>
  readonly tts?: (host: Host, options: Options) => Tts | Promise<Tts>
  readonly llm?: (host: Host, options: Options) => Llm | Promise<Llm>
  readonly realtime?: (host: Host, options: Options) => Realtime | Promise<Realtime>
  readonly embedding?: (host: Host, options: Options) => Embedding | Promise<Embedding>
  readonly vectorstore?: (host: Host, options: Options) => VectorStore | Promise<VectorStore>
  readonly objectstore?: (host: Host, options: Options) => ObjectStore | Promise<ObjectStore>
  readonly tools?: (host: Host, options: Options) => Toolbox | Promise<Toolbox>
  readonly telephony?: (host: Host, options: Options) => Telephony | Promise<Telephony>
  /** Asks the provider for something that costs nothing and needs the key; throws ProviderError when it refuses. */
  readonly check?: (host: Host, options: Options, signal: AbortSignal) => Promise<void>
}

/** Marks the factories of a plugin. Does no work: importing a plugin has no side effect. */
export function definePlugin(factories: Factories): Factories {
  return factories
}
