import { type APIConnectOptions, tts } from '@livekit/agents'
import type { SpeaksLanguages } from '../../plugin/contract.ts'
import type { ProviderIdentity } from '../provider-error.ts'
import type { SocketAddress } from './socket.ts'
import { SocketPool } from './socket-pool.ts'
import { SocketSynthesizeStream, type SpeechProtocol } from './socket-synthesize-stream.ts'
import { synthesizeByStream } from './synthesize-by-stream.ts'

interface ProviderVoice {
  /** The plugin. */
  provider: string
  identity: ProviderIdentity
  model: string
  language: string
  address: SocketAddress
  /** Whether the protocol tells when words are said. */
  timesWords: boolean
  sampleRateHz: number
  /** A protocol for each stream: it may keep the state of one. */
  protocol: () => SpeechProtocol
}

/** A voice whose provider is spoken to over a WebSocket that serves one utterance after the other. */
export class ProviderTTS extends tts.TTS implements SpeaksLanguages {
  readonly label: string
  readonly #source: ProviderVoice
  readonly #pool: SocketPool
  #language: string

  constructor(source: ProviderVoice) {
    super(source.sampleRateHz, 1, { streaming: true, alignedTranscript: source.timesWords })
    this.label = `${source.provider}.TTS`
    this.#source = source
    this.#language = source.language
    this.#pool = new SocketPool(source.identity, source.address)
  }

  override get model(): string {
    return this.#source.model
  }

  override get provider(): string {
    return this.#source.provider
  }

  /** How sentences are split; the voice detects the language from the text. */
  speakIn(language: string): void {
    this.#language = language.split('-')[0] ?? language
  }

  /** Opens the connection of the first answer beforehand. */
  prewarm(): void {
    this.#pool.prewarm()
  }

  override stream({ connOptions }: { connOptions?: APIConnectOptions } = {}): tts.SynthesizeStream {
    const { identity, protocol } = this.#source
    return new SocketSynthesizeStream(this, {
      provider: identity,
      protocol: protocol(),
      pool: this.#pool,
      language: this.#language,
      connOptions,
    })
  }

  override synthesize(text: string, connOptions?: APIConnectOptions, abortSignal?: AbortSignal): tts.ChunkedStream {
    return synthesizeByStream(this, text, connOptions, abortSignal)
  }

  override async close(): Promise<void> {
    this.#pool.close()
    await super.close()
  }
}
