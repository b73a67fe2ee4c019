import type { ChatRequest, Failure, LlmEvent, Options, SttEvent } from '../../../packages/plugin/mod.ts'

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
  /** There is no more audio. */
  | { type: 'end'; session: number }
  | { type: 'cancel'; session: number }
  | { type: 'beat'; at: number }

export type Use =
  | { kind: 'stt' }
  | { kind: 'tts'; text: string }
  | { kind: 'llm'; request: ChatRequest }
  | { kind: 'embedding'; texts: readonly string[] }
  | { kind: 'describe'; of: 'stt' | 'tts' | 'embedding' }
  | { kind: 'vectorstore'; act: VectorAct }
  | { kind: 'check' }

/** One call of a vector store: its arguments but the signal. */
export interface VectorAct {
  name: 'upsert' | 'search' | 'remove' | 'removeAll'
  args: readonly unknown[]
}

/** What `describe` answers. */
export interface Description {
  sampleRateHz?: number
  dimensions?: number
}

export type FromPlugin =
  /** The plugin is loaded: it has factories of these names. */
  | { type: 'ready'; factories: string[] }
  | { type: 'broken'; reason: string }
  | { type: 'event'; session: number; event: SttEvent | LlmEvent }
  | { type: 'done'; session: number }
  | { type: 'failed'; session: number; message: string; failure?: Failure }
  | { type: 'beat'; at: number }
  | { type: 'log'; level: 'debug' | 'info' | 'warn' | 'error'; message: string }
