import type { SttEvent } from '../../packages/plugin/mod.ts'
import type { SpeakRequest } from './model.ts'

/** What the process and the thread of a model say to each other. */
export type ToThread =
  | { type: 'hear'; session: number }
  | { type: 'speak'; session: number; request: SpeakRequest }
  | { type: 'audio'; session: number; samples: Int16Array }
  | { type: 'end'; session: number }
  | { type: 'cancel'; session: number }
  | { type: 'ping' }

export type FromThread =
  /** The model is loaded. */
  | { type: 'ready'; sampleRateHz: number | undefined }
  | { type: 'broken'; reason: string }
  | { type: 'heard'; session: number; event: SttEvent }
  | { type: 'sound'; session: number; samples: Int16Array }
  | { type: 'done'; session: number }
  | { type: 'failed'; session: number; reason: string; isBusy?: boolean }
  | { type: 'pong' }
