import { type APIConnectOptions, stt } from '@livekit/agents'
import type { ProviderIdentity } from '../provider-error.ts'
import { type RecognitionProtocol, SocketSpeechStream } from './socket-speech-stream.ts'

interface ProviderRecogniser {
  /** The plugin. */
  provider: string
  identity: ProviderIdentity
  model: string
  language: string
  /** A protocol for each connection. */
  protocol: () => RecognitionProtocol
}

/** A recogniser whose provider is spoken to over a WebSocket. */
export class ProviderSTT extends stt.STT {
  readonly label: string
  readonly #source: ProviderRecogniser

  constructor(source: ProviderRecogniser) {
    super({ streaming: true, interimResults: true })
    this.label = `${source.provider}.STT`
    this.#source = source
  }

  override get model(): string {
    return this.#source.model
  }

  override get provider(): string {
    return this.#source.provider
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    throw new Error('It recognises streams')
  }

  override stream({ connOptions }: { connOptions?: APIConnectOptions } = {}): stt.SpeechStream {
    const { identity: provider, protocol, language } = this.#source
    return new SocketSpeechStream(this, { provider, protocol, language, connOptions })
  }
}
