import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { CharTimings } from '../../runtime/plugin-sdk/speech/char-timings.ts'
import { ProviderTTS } from '../../runtime/plugin-sdk/speech/provider-tts.ts'
import type { SpeechProtocol } from '../../runtime/plugin-sdk/speech/socket-synthesize-stream.ts'
import { ELEVENLABS, endpointOf, failureOf, socketUrl } from './endpoint.ts'

const SAMPLE_RATE_HZ = 24_000
const BYTES_PER_S = SAMPLE_RATE_HZ * 2
/** Sarah, available to every account. */
const DEFAULT_VOICE = 'EXAVITQu4vr4xnSDxMaL'
const DEFAULT_MODEL = 'eleven_flash_v2_5'
/** Longest silence of ours that the server keeps a connection over; the most it takes. */
const INACTIVITY_S = 180

export function makeTts(host: PluginHost, options: SpeechOptions): ProviderTTS {
  const { voice = DEFAULT_VOICE, language, settings } = options
  const { base, headers } = endpointOf(host)
  const { ttsModel, stability = 0.5, similarityBoost = 0.75, ttsSpeed, enableLogging } = settings
  const model = typeof ttsModel === 'string' ? ttsModel : DEFAULT_MODEL
  const code = language?.split('-')[0]
  const url = socketUrl(base, `/v1/text-to-speech/${encodeURIComponent(voice)}/multi-stream-input`, {
    model_id: model,
    output_format: `pcm_${SAMPLE_RATE_HZ}`,
    // None where the agent speaks as the caller does: the model would read everything in that one.
    // Older models detect the language from the text, and refuse the parameter.
    language_code: /_v2_5$/.test(model) ? code : undefined,
    sync_alignment: true,
    // Sentences come whole: there is nothing to wait for.
    auto_mode: true,
    inactivity_timeout: INACTIVITY_S,
    enable_logging: enableLogging,
  })
  const voice_settings = {
    stability,
    similarity_boost: similarityBoost,
    ...(typeof ttsSpeed === 'number' ? { speed: ttsSpeed } : {}),
  }
  return new ProviderTTS({
    provider: 'elevenlabs',
    identity: ELEVENLABS,
    model: voice,
    language: code ?? 'en',
    address: { url, headers },
    timesWords: true,
    sampleRateHz: SAMPLE_RATE_HZ,
    protocol: () => contexts(voice_settings),
  })
}

interface SpeechMessage {
  audio?: string | null
  /** Which of the two spellings comes depends on the voice and the account. */
  contextId?: string
  context_id?: string
  isFinal?: boolean | null
  alignment?: Alignment | null
  error?: string
  message?: string
}

/** Times in milliseconds from the first sample of the message's own audio. */
interface Alignment {
  chars?: string[]
  charStartTimesMs?: number[]
  charDurationsMs?: number[]
}

/** Contexts on one socket, each an utterance: elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input. */
function contexts(voice_settings: object): SpeechProtocol {
  const utterances = new Map<string, { bytes: number; timings: CharTimings }>()
  const send = (message: object) => JSON.stringify(message)
  return {
    sampleRateHz: SAMPLE_RATE_HZ,
    begin(id) {
      utterances.set(id, { bytes: 0, timings: new CharTimings() })
      return send({ text: ' ', voice_settings, context_id: id })
    },
    say: (id, sentence) => send({ text: `${sentence} `, context_id: id }),
    finish: (id) => [send({ text: '', context_id: id, flush: true }), send({ context_id: id, close_context: true })],
    cancel(id) {
      utterances.delete(id)
      return send({ context_id: id, close_context: true })
    },
    read(data, _isBinary, id, speaking) {
      const message = JSON.parse(String(data)) as SpeechMessage
      const { audio, alignment, error } = message
      const contextId = message.contextId ?? message.context_id
      // The rest of an utterance that was cancelled may still come.
      if (contextId === undefined ? error === undefined && utterances.size > 1 : contextId !== id) return
      if (error !== undefined) return speaking.failed(failureOf(error, message.message))
      const utterance = utterances.get(id)
      if (utterance === undefined) return
      if (alignment) speaking.words(utterance.timings.push(charsOf(alignment, utterance.bytes / BYTES_PER_S)))
      if (audio) {
        const bytes = Buffer.from(audio, 'base64')
        utterance.bytes += bytes.length
        speaking.audio(bytes)
      }
      if (message.isFinal !== true) return
      utterances.delete(id)
      speaking.words(utterance.timings.flush())
      speaking.done()
    },
  }
}

function charsOf({ chars = [], charStartTimesMs = [], charDurationsMs = [] }: Alignment, fromS: number) {
  return chars.map((char, i) => {
    const startS = fromS + (charStartTimesMs[i] ?? 0) / 1000
    return { char, startS, endS: startS + (charDurationsMs[i] ?? 0) / 1000 }
  })
}
