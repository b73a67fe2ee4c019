import type { APIConnectOptions } from '@livekit/agents'
import * as cartesia from '@livekit/agents-plugin-cartesia'
import type { PluginHost, SpeaksLanguages, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { explainFailure } from '../../runtime/plugin-sdk/provider-error.ts'
import { judgeErrors } from '../../runtime/plugin-sdk/speech/api-error.ts'
import { SocketPool } from '../../runtime/plugin-sdk/speech/socket-pool.ts'
import {
  SocketSynthesizeStream,
  type SpeechProtocol,
  type TimedWord,
} from '../../runtime/plugin-sdk/speech/socket-synthesize-stream.ts'
import { synthesizeByStream } from '../../runtime/plugin-sdk/speech/synthesize-by-stream.ts'
import { CARTESIA, endpointOf, SPEAK_VERSION } from './endpoint.ts'

const SAMPLE_RATE_HZ = 24_000
const DEFAULT_VOICE = 'f786b574-daa5-4673-aa0c-cbe3e8534c02'
const DEFAULT_MODEL = 'sonic-3'

export function makeTts(host: PluginHost, options: SpeechOptions): CartesiaTTS {
  const { voice = DEFAULT_VOICE, language = 'en', settings } = options
  const { base, socketBase, key, headers } = endpointOf(host)
  const { ttsModel, ttsSpeed, ttsEmotion } = settings
  const model = typeof ttsModel === 'string' ? ttsModel : DEFAULT_MODEL
  const base_language = language.split('-')[0] ?? 'en'
  const generation = { ...(ttsSpeed ? { speed: ttsSpeed } : {}), ...(ttsEmotion ? { emotion: ttsEmotion } : {}) }
  const request = {
    model_id: model,
    voice: { mode: 'id', id: voice },
    output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: SAMPLE_RATE_HZ },
    add_timestamps: true,
    // Sentences come whole: there is nothing to wait for.
    max_buffer_delay_ms: 0,
    ...(Object.keys(generation).length > 0 ? { generation_config: generation } : {}),
  }
  return new CartesiaTTS(
    { apiKey: key, model, voice, language: base_language, baseUrl: base, sampleRate: SAMPLE_RATE_HZ },
    (language) => speakWith({ ...request, language }),
    new SocketPool(CARTESIA, { url: `${socketBase}/tts/websocket`, headers: headers(SPEAK_VERSION) }),
  )
}

/**
 * LiveKit's voice with streams of ours: its own takes a refusal such as an empty account for an answer without words, and
 * lets the server keep synthesizing after the caller interrupts.
 */
class CartesiaTTS extends cartesia.TTS implements SpeaksLanguages {
  readonly #protocol: (language: string) => SpeechProtocol
  readonly #pool: SocketPool
  #language: string

  constructor(options: Partial<cartesia.TTSOptions>, protocol: (language: string) => SpeechProtocol, pool: SocketPool) {
    super({ ...options, wordTimestamps: true })
    judgeErrors(this, CARTESIA)
    this.#protocol = protocol
    this.#pool = pool
    this.#language = options.language ?? 'en'
  }

  speakIn(language: string): void {
    this.#language = language.split('-')[0] ?? language
  }

  /** Opens the connection of the first answer beforehand. */
  override prewarm(): void {
    this.#pool.prewarm()
  }

  override stream({ connOptions }: { connOptions?: APIConnectOptions } = {}): never {
    const stream = new SocketSynthesizeStream(this, {
      provider: CARTESIA,
      protocol: this.#protocol(this.#language),
      pool: this.#pool,
      language: this.#language,
      connOptions,
    })
    // The base class names its own stream, private members included, where any SynthesizeStream serves.
    return stream as never
  }

  override synthesize(text: string, connOptions?: APIConnectOptions, abortSignal?: AbortSignal) {
    return synthesizeByStream(this, text, connOptions, abortSignal)
  }

  override async close(): Promise<void> {
    this.#pool.close()
    await super.close()
  }
}

interface SpeechMessage {
  type: 'chunk' | 'done' | 'error' | 'timestamps' | 'flush_done'
  context_id?: string
  data?: string
  word_timestamps?: { words: string[]; start: number[]; end: number[] }
  status_code?: number
  error?: string
  error_code?: string
  title?: string
  message?: string
}

/** Contexts on one socket, each an utterance: docs.cartesia.ai/api-reference/tts/websocket. */
function speakWith(request: object): SpeechProtocol {
  return {
    sampleRateHz: SAMPLE_RATE_HZ,
    say: (id, sentence) => JSON.stringify({ ...request, context_id: id, transcript: `${sentence} `, continue: true }),
    finish: (id) => JSON.stringify({ ...request, context_id: id, transcript: '', continue: false }),
    cancel: (id) => JSON.stringify({ context_id: id, cancel: true }),
    read(data, _isBinary, id, speaking) {
      const message = JSON.parse(String(data)) as SpeechMessage
      // The rest of an utterance that was cancelled may still come.
      if (message.context_id !== undefined && message.context_id !== id) return
      if (message.type === 'chunk') speaking.audio(Buffer.from(message.data ?? '', 'base64'))
      else if (message.type === 'timestamps') speaking.words(timedWords(message))
      else if (message.type === 'done') speaking.done()
      else if (message.type === 'error') {
        const { status_code: status, error_code: code } = message
        const words = message.message ?? message.error ?? message.title
        speaking.failed(explainFailure(CARTESIA, { status, code, message: words }))
      }
    },
  }
}

function timedWords({ word_timestamps }: SpeechMessage): TimedWord[] {
  const { words = [], start = [], end = [] } = word_timestamps ?? {}
  return words.map((text, i) => ({ text, startS: start[i] ?? 0, endS: end[i] ?? start[i] ?? 0 }))
}
