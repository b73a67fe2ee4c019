import type { APIConnectOptions, stt } from '@livekit/agents'
import * as openai from '@livekit/agents-plugin-openai'
import { OpenAI } from 'openai'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { judgeErrors } from '../../runtime/plugin-sdk/speech/api-error.ts'
import { SegmentedSpeechStream } from '../../runtime/plugin-sdk/speech/segmented-speech-stream.ts'
import { SocketSpeechStream } from '../../runtime/plugin-sdk/speech/socket-speech-stream.ts'
import { type Endpoint, endpointOf } from './endpoint.ts'
import { realtimeTranscription } from './realtime-transcription.ts'
import { promptOf } from './transcription-of.ts'

const DEFAULT_MODEL = 'gpt-transcribe'

/** OpenAI's recognisers: over its realtime socket, or utterance by utterance over HTTP. */
export function makeStt(
  host: PluginHost,
  { model = DEFAULT_MODEL, language = 'en', keyterms = [], settings }: SpeechOptions,
): OpenAISTT {
  const endpoint = endpointOf(host)
  const realtime = (settings.sttApi ?? (endpoint.isOpenAI ? 'realtime' : 'transcriptions')) === 'realtime'
  return new OpenAISTT(host, endpoint, { model, language, keyterms, realtime })
}

interface Choice {
  model: string
  /** `multi`: any. */
  language: string
  keyterms: readonly string[]
  realtime: boolean
}

/**
 * LiveKit's recogniser with streams of ours: its own drops the last words when the audio ends, can't stream over HTTP, and
 * raises failures that say nothing about their kind.
 */
class OpenAISTT extends openai.STT {
  readonly #endpoint: Endpoint
  readonly #choice: Choice

  constructor(host: PluginHost, endpoint: Endpoint, choice: Choice) {
    const prompt = promptOf(choice.model, choice.keyterms)
    super({
      apiKey: endpoint.key,
      baseURL: endpoint.base,
      model: choice.model,
      language: choice.language === 'multi' ? '' : choice.language,
      detectLanguage: choice.language === 'multi',
      ...(prompt === undefined ? {} : { prompt }),
      useRealtime: false,
      client: new OpenAI({
        apiKey: endpoint.key,
        baseURL: endpoint.base,
        maxRetries: 0,
        fetch: (url, init) => host.net.fetch(url instanceof Request ? url.url : url, init),
      }),
    })
    this.updateCapabilities({ streaming: true, interimResults: choice.realtime })
    judgeErrors(this, endpoint.provider)
    this.#endpoint = endpoint
    this.#choice = choice
  }

  override stream({ connOptions }: { connOptions?: APIConnectOptions } = {}): never {
    const { provider } = this.#endpoint
    const { language, realtime } = this.#choice
    const stream: stt.SpeechStream = realtime
      ? new SocketSpeechStream(this, {
          provider,
          language,
          connOptions,
          protocol: () => realtimeTranscription(this.#endpoint, this.#choice),
        })
      : new SegmentedSpeechStream(this, {
          provider,
          connOptions,
          recognise: (utterance, signal) => this._recognize(utterance, signal),
        })
    // The base class names its own stream, private members included, where any SpeechStream serves.
    return stream as never
  }
}
