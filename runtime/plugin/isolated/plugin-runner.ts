import type { Failure, LlmEvent, Options, SttEvent } from '../../../packages/plugin/mod.ts'
import type { RealtimeNews, Use } from './messages.ts'
import type { RealtimeInput } from './realtime-inputs.ts'

/** What one session hears. After `done` or `failed` nothing follows. */
export interface SessionEvents {
  event?(event: SttEvent | LlmEvent | RealtimeNews): void
  audio?(samples: Int16Array): void
  result?(result: unknown): void
  /** Asks for a piece of what is to be kept. */
  need?(start: number, end: number): void
  /** A piece of an object, as it was asked for. */
  bytes?(piece: Uint8Array): void
  done(): void
  failed(error: IsolatedFault): void
}

/** What went wrong in a session of a plugin's process. */
export class IsolatedFault extends Error {
  override readonly name = 'IsolatedFault'
  /** The plugin judged its provider's failure itself. */
  readonly failure: Failure | undefined

  constructor(message: string, failure?: Failure, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}

export interface IsolatedSession {
  audio(samples: Int16Array): void
  /** Of a session with a speech-to-speech model. */
  give(input: RealtimeInput): void
  /** There is no more audio. */
  end(): void
  /** The piece that was needed. */
  bytes(piece: Uint8Array): void
  /** Asks for the next piece of an object. */
  more(): void
  cancel(): void
}

/** Where a plugin written with `@patchbay/plugin` runs. */
export interface PluginRunner {
  /** The names of its factories, once it is loaded. Throws `plugin` when it can't be. */
  ready(): Promise<readonly string[]>
  /** Begins one use. Its events may come before this returns. */
  open(use: Use, options: Options, events: SessionEvents): IsolatedSession
  /** The call or chat of this id is over: what was made for it is let go. */
  dispose(sessionId: string): void
}
