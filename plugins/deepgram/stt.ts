import type { APIConnectOptions } from '@livekit/agents'
import * as deepgram from '@livekit/agents-plugin-deepgram'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { judgeErrors } from '../../runtime/plugin-sdk/speech/api-error.ts'
import { type RecognitionProtocol, SocketSpeechStream } from '../../runtime/plugin-sdk/speech/socket-stt.ts'
import { DEEPGRAM, endpointOf, HEARING_RATE_HZ, REFUSAL_HEADER, socketUrl } from './endpoint.ts'
import { flux } from './flux.ts'
import { listen } from './listen.ts'

const DEFAULT_MODEL = 'nova-3'
/** Of one request, as Deepgram takes them. */
const MAX_KEYTERMS = 100

export function makeStt(host: PluginHost, options: SpeechOptions): DeepgramSTT {
  const { model = DEFAULT_MODEL, language = 'en', keyterms = [], settings } = options
  const { base, key, headers } = endpointOf(host)
  const { keyterms: always = [], smartFormat = true, endpointingMs = 25, mipOptOut, eagerEotThreshold = 0.5 } = settings
  const common = {
    model,
    encoding: 'linear16',
    sample_rate: HEARING_RATE_HZ,
    // Older models call such hints by another name and weigh them differently.
    ...(/^(nova-3|flux)/.test(model) ? { keyterm: [...(always as string[]), ...keyterms].slice(0, MAX_KEYTERMS) } : {}),
    mip_opt_out: mipOptOut,
  }
  const isFlux = model.startsWith('flux')
  const url = isFlux
    ? socketUrl(base, '/v2/listen', {
        ...common,
        // Without it no eager end of turn is reported.
        eager_eot_threshold: eagerEotThreshold,
        language_hint: model === 'flux-general-multi' && language !== 'multi' ? language : undefined,
      })
    : socketUrl(base, '/v1/listen', {
        ...common,
        language,
        channels: 1,
        interim_results: true,
        punctuate: true,
        smart_format: smartFormat,
        no_delay: true,
        vad_events: true,
        endpointing: endpointingMs,
      })
  const address = { url, headers, refusalHeader: REFUSAL_HEADER }
  const protocol = () => (isFlux ? flux(address) : listen(address))
  return new DeepgramSTT({ apiKey: key, model, language, baseUrl: base.replace(/^http/, 'ws') }, protocol, language)
}

/**
 * LiveKit's recogniser with a stream of ours: its own goes on silently when the connection is lost in the middle of a call,
 * and waits up to ten seconds before it tries again.
 */
class DeepgramSTT extends deepgram.STT {
  readonly #protocol: () => RecognitionProtocol
  readonly #language: string

  constructor(options: Partial<deepgram.STTOptions>, protocol: () => RecognitionProtocol, language: string) {
    super(options)
    judgeErrors(this, DEEPGRAM)
    this.#protocol = protocol
    this.#language = language
  }

  override stream({ connOptions }: { connOptions?: APIConnectOptions } = {}): never {
    const stream = new SocketSpeechStream(this, {
      provider: DEEPGRAM,
      protocol: this.#protocol,
      language: this.#language,
      connOptions,
    })
    // The base class names its own stream, private members included, where any SpeechStream serves.
    return stream as never
  }
}
