import { type APIConnectOptions, stt } from '@livekit/agents'
import type { Stt } from '../../../packages/plugin/mod.ts'
import type { ProviderIdentity } from '../provider-error.ts'
import { EventSpeechStream } from './event-speech-stream.ts'
import { type RecognitionProtocol, SocketSpeechStream } from './socket-speech-stream.ts'

interface RecogniserNames {
  /** The plugin. */
  provider: string
  identity: ProviderIdentity
  model: string
  language: string
}

/** A recogniser by its WebSocket protocol, one for each connection, or by the plugin contract. */
type ProviderRecogniser = RecogniserNames & ({ protocol: () => RecognitionProtocol } | Stt)

/** A recogniser as the conversation uses it. */
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
    const options = { ...this.#source, provider: this.#source.identity, connOptions }
    return 'protocol' in options ? new SocketSpeechStream(this, options) : new EventSpeechStream(this, options)
  }

  override async close(): Promise<void> {
    if ('recognise' in this.#source) await this.#source.dispose?.()
    await super.close()
  }
}
