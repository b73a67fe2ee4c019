import type { APIConnectOptions } from '@livekit/agents'
import * as deepgram from '@livekit/agents-plugin-deepgram'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { judgeErrors } from '../../runtime/plugin-sdk/speech/api-error.ts'
import { type RecognitionProtocol, SocketSpeechStream } from '../../runtime/plugin-sdk/speech/socket-speech-stream.ts'
import { DEEPGRAM, endpointOf, HEARING_RATE_HZ, REFUSAL_HEADER, socketUrl } from './endpoint.ts'
import { flux } from './flux.ts'
import { listen } from './listen.ts'

const DEFAULT_MODEL = 'nova-3'
/** Of all terms of one request; Deepgram takes 500, and counts them by a tokenizer of its own. */
const MAX_KEYTERM_TOKENS = 450
/** Of a turn's end, unless the operator chooses another. */
const DEFAULT_EOT = 0.7

export function makeStt(host: PluginHost, options: SpeechOptions): DeepgramSTT {
  const { model = DEFAULT_MODEL, language = 'en', keyterms = [], settings } = options
  const { base, key, headers } = endpointOf(host)
  const { keyterms: always = [], smartFormat = true, endpointingMs = 25, mipOptOut, eagerEotThreshold = 0.5 } = settings
  const { eotThreshold = DEFAULT_EOT, eotTimeoutMs } = settings
  const common = {
    model,
    encoding: 'linear16',
    sample_rate: HEARING_RATE_HZ,
    // Older models call such hints by another name and weigh them differently.
    ...(/^(nova-3|flux)/.test(model) ? { keyterm: fittingTerms([...(always as string[]), ...keyterms], host) } : {}),
    mip_opt_out: mipOptOut,
  }
  const isFlux = model.startsWith('flux')
  const url = isFlux
    ? socketUrl(base, '/v2/listen', {
        ...common,
        // Without it no eager end of turn is reported.
        eager_eot_threshold: eagerEotThreshold,
        // Deepgram refuses an eager end that is surer than the end.
        eot_threshold: Math.max(Number(eotThreshold), Number(eagerEotThreshold)),
        eot_timeout_ms: eotTimeoutMs,
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

/** The terms Deepgram takes, the first ones first: too many would have it refuse the whole call. */
function fittingTerms(terms: readonly string[], host: PluginHost): string[] {
  let tokens = 0
  const fitting = terms.filter((term) => {
    // A token is four letters at most in English, and one in most other scripts.
    const cost = [...term].reduce((sum, char) => sum + (char.charCodeAt(0) < 128 ? 0.25 : 1), 0)
    tokens += Math.ceil(cost) + 1
    return tokens <= MAX_KEYTERM_TOKENS
  })
  const left = terms.length - fitting.length
  if (left > 0) host.log.warn(`${left} of ${terms.length} key terms are left out: Deepgram takes about 500 tokens`)
  return fitting
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
