import type { APIConnectOptions } from '@livekit/agents'
import * as deepgram from '@livekit/agents-plugin-deepgram'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { explainFailure } from '../../runtime/plugin-sdk/provider-error.ts'
import { judgeErrors } from '../../runtime/plugin-sdk/speech/api-error.ts'
import { SocketPool } from '../../runtime/plugin-sdk/speech/socket-pool.ts'
import {
  SocketSynthesizeStream,
  type SpeechProtocol,
} from '../../runtime/plugin-sdk/speech/socket-synthesize-stream.ts'
import { synthesizeByStream } from '../../runtime/plugin-sdk/speech/synthesize-by-stream.ts'
import { DEEPGRAM, endpointOf, REFUSAL_HEADER, socketUrl } from './endpoint.ts'

const SAMPLE_RATE_HZ = 24_000
const DEFAULT_VOICE = 'aura-2-thalia-en'

export function makeTts(host: PluginHost, { voice = DEFAULT_VOICE, settings }: SpeechOptions): DeepgramTTS {
  const { base, key, headers } = endpointOf(host)
  const { ttsSpeed, mipOptOut } = settings
  const url = socketUrl(base, '/v1/speak', {
    model: voice,
    encoding: 'linear16',
    sample_rate: SAMPLE_RATE_HZ,
    speed: ttsSpeed,
    mip_opt_out: mipOptOut,
  })
  return new DeepgramTTS(
    { apiKey: key, model: voice, baseUrl: base, sampleRate: SAMPLE_RATE_HZ },
    new SocketPool(DEEPGRAM, { url, headers, refusalHeader: REFUSAL_HEADER }),
  )
}

/**
 * LiveKit's voice with streams of ours: its own opens a connection for each answer and keeps it, and what it costs, until
 * the last word of an answer the caller has cut off.
 */
class DeepgramTTS extends deepgram.TTS {
  readonly #pool: SocketPool
  readonly #language: string

  constructor(options: Partial<deepgram.TTSOptions>, pool: SocketPool) {
    super(options)
    judgeErrors(this, DEEPGRAM)
    this.#pool = pool
    this.#language = options.model?.split('-').at(-1) ?? 'en'
  }

  /** Opens the connection of the first answer beforehand. */
  prewarm(): void {
    this.#pool.prewarm()
  }

  override stream({ connOptions }: { connOptions?: APIConnectOptions } = {}): SocketSynthesizeStream {
    return new SocketSynthesizeStream(this, {
      provider: DEEPGRAM,
      protocol: SPEAK,
      pool: this.#pool,
      language: this.#language,
      connOptions,
    })
  }

  override synthesize(text: string, connOptions?: APIConnectOptions, abortSignal?: AbortSignal) {
    return synthesizeByStream(this, text, connOptions, abortSignal)
  }

  override async close(): Promise<void> {
    this.#pool.close()
    await super.close()
  }
}

/** Streaming speech, /v1/speak: developers.deepgram.com/reference/text-to-speech/speak-streaming. */
const SPEAK: SpeechProtocol = {
  sampleRateHz: SAMPLE_RATE_HZ,
  say: (_id, sentence) => JSON.stringify({ type: 'Speak', text: `${sentence} ` }),
  finish: () => '{"type":"Flush"}',
  read(data, isBinary, _id, speaking) {
    if (isBinary) return speaking.audio(data)
    const message = JSON.parse(String(data)) as { type: string; description?: string; err_msg?: string; code?: string }
    if (message.type === 'Flushed') speaking.done()
    else if (message.type === 'Error') {
      const words = message.description ?? message.err_msg
      speaking.failed(explainFailure(DEEPGRAM, { message: words, code: message.code }))
    }
  },
}
