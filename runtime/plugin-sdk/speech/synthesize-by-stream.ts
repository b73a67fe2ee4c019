import { type APIConnectOptions, DEFAULT_API_CONNECT_OPTIONS, tts } from '@livekit/agents'
import { boundary } from '../../lib/async/boundary.ts'

/** Speaks one text through the engine's `stream`: for TTS classes to return from `synthesize`. */
export function synthesizeByStream(
  owner: tts.TTS,
  text: string,
  connOptions?: APIConnectOptions,
  abortSignal?: AbortSignal,
): never {
  // Base classes of providers name their own streams, private members included, where any ChunkedStream serves.
  return new ChunksByStream(owner, text, connOptions ?? DEFAULT_API_CONNECT_OPTIONS, abortSignal) as never
}

class ChunksByStream extends tts.ChunkedStream {
  readonly label: string
  readonly #owner: tts.TTS
  readonly #connOptions: APIConnectOptions
  readonly #text: string

  constructor(owner: tts.TTS, text: string, connOptions: APIConnectOptions, abortSignal: AbortSignal | undefined) {
    // The inner stream tries again and tells of failures; to do so twice would be once too often.
    // So for the characters: the inner stream counts them.
    super('', owner, { ...connOptions, maxRetry: 0 }, abortSignal)
    this.label = `${owner.label}.ChunkedStream`
    this.#owner = owner
    this.#text = text
    this.#connOptions = connOptions
  }

  protected override async run(): Promise<void> {
    const stream = this.#owner.stream({ connOptions: this.#connOptions })
    const close = boundary('provider', () => stream.close())
    this.abortSignal.addEventListener('abort', close, { once: true })
    try {
      if (this.abortSignal.aborted) return
      stream.pushText(this.#text)
      stream.endInput()
      for await (const audio of stream) {
        if (typeof audio !== 'symbol' && !this.queue.closed) this.queue.put(audio)
      }
    } finally {
      this.abortSignal.removeEventListener('abort', close)
      close()
    }
  }
}
