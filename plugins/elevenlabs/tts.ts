import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { CharTimings } from '../../runtime/plugin-sdk/speech/char-timings.ts'
import { ProviderTTS } from '../../runtime/plugin-sdk/speech/provider-tts.ts'
import type { Speaking, SpeechProtocol } from '../../runtime/plugin-sdk/speech/socket-synthesize-stream.ts'
import { ELEVENLABS, endpointOf, failureOf, socketUrl } from './endpoint.ts'

const SAMPLE_RATE_HZ = 24_000
const BYTES_PER_S = SAMPLE_RATE_HZ * 2
/** Sarah, available to every account. */
const DEFAULT_VOICE = 'EXAVITQu4vr4xnSDxMaL'
const DEFAULT_MODEL = 'eleven_flash_v2_5'
/** Longest silence of ours that the server keeps a connection over; the most it takes. */
const INACTIVITY_S = 180

/** Those of the dialogue socket, which the other one refuses. */
const DIALOGUE_MODEL = /^eleven_v[34]/
/** A context of a dialogue ends after 20 s in which we say nothing. */
const KEEP_ALIVE_MS = 10_000

export function makeTts(host: PluginHost, options: SpeechOptions): ProviderTTS {
  const { voice = DEFAULT_VOICE, language, settings } = options
  const { base, headers } = endpointOf(host)
  const { ttsModel, stability = 0.5, similarityBoost = 0.75, ttsSpeed, enableLogging } = settings
  const model = typeof ttsModel === 'string' ? ttsModel : DEFAULT_MODEL
  const code = language?.split('-')[0]
  const isDialogue = DIALOGUE_MODEL.test(model)
  const query = {
    model_id: model,
    output_format: `pcm_${SAMPLE_RATE_HZ}`,
    // None where the agent speaks as the caller does: the model would read everything in that one.
    // Older models detect the language from the text, and refuse the parameter.
    language_code: isDialogue || /_v2_5$/.test(model) ? code : undefined,
    sync_alignment: true,
    enable_logging: enableLogging,
  }
  const url = isDialogue
    ? socketUrl(base, '/v1/text-to-dialogue/multi-stream-input', query)
    : socketUrl(base, `/v1/text-to-speech/${encodeURIComponent(voice)}/multi-stream-input`, {
        ...query,
        // Sentences come whole: there is nothing to wait for.
        auto_mode: true,
        inactivity_timeout: INACTIVITY_S,
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
    protocol: () => (isDialogue ? dialogue(voice, { stability }) : contexts(voice_settings)),
  })
}

/** Of both sockets. The first writes in camel case, but some voices' context; that of dialogues writes in snake case. */
interface SpeechMessage {
  audio?: string | null
  contextId?: string
  context_id?: string
  isFinal?: boolean | null
  is_final?: boolean
  alignment?: Alignment | null
  error?: string
  message?: string
}

/** Times in milliseconds from the first sample of the message's own audio. */
interface Alignment {
  chars?: string[]
  charStartTimesMs?: number[]
  charDurationsMs?: number[]
  char_start_times_ms?: number[]
  char_durations_ms?: number[]
}

const send = (message: object) => JSON.stringify(message)

/** Contexts on one socket, each an utterance: elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input. */
function contexts(voice_settings: object): SpeechProtocol {
  const utterances = new Utterances()
  return {
    sampleRateHz: SAMPLE_RATE_HZ,
    begin(id) {
      utterances.begin(id)
      return send({ text: ' ', voice_settings, context_id: id })
    },
    say: (id, sentence) => send({ text: `${sentence} `, context_id: id }),
    finish: (id) => [send({ text: '', context_id: id, flush: true }), send({ context_id: id, close_context: true })],
    cancel(id) {
      utterances.end(id)
      return send({ context_id: id, close_context: true })
    },
    read: (data, _isBinary, id, speaking) => utterances.read(data, id, speaking),
  }
}

/**
 * The same of a dialogue with one voice: npm @elevenlabs/elevenlabs-js 2.73.0, TextToDialogueWebsocketClientMessageMulti.d.ts. There is
 * no way to cancel: a context that is closed speaks what it was given to its end, and holds its place meanwhile.
 */
function dialogue(voice_id: string, voice_settings: object): SpeechProtocol {
  const utterances = new Utterances()
  return {
    sampleRateHz: SAMPLE_RATE_HZ,
    begin(id) {
      utterances.begin(id)
      return send({ context_id: id, voices: [voice_id], voice_settings })
    },
    // Without the flush, a short sentence would wait for the next one.
    say: (id, sentence) => send({ context_id: id, inputs: [{ text: `${sentence} `, voice_id }], flush: true }),
    finish: (id) => send({ context_id: id, close_context: true }),
    keepAlive: { everyMs: KEEP_ALIVE_MS, message: (id) => send({ context_id: id, keep_alive: true }) },
    read: (data, _isBinary, id, speaking) => utterances.read(data, id, speaking),
  }
}

/** What the contexts of a socket say. */
class Utterances {
  readonly #open = new Map<string, { bytes: number; timings: CharTimings }>()

  begin(id: string): void {
    this.#open.set(id, { bytes: 0, timings: new CharTimings() })
  }

  end(id: string): void {
    this.#open.delete(id)
  }

  read(data: Buffer, id: string, speaking: Speaking) {
    const message = JSON.parse(String(data)) as SpeechMessage
    const { audio, alignment, error } = message
    const contextId = message.contextId ?? message.context_id
    // The rest of an utterance that was cancelled may still come.
    if (contextId === undefined ? error === undefined && this.#open.size > 1 : contextId !== id) return
    if (error !== undefined) return speaking.failed(failureOf(error, message.message))
    const utterance = this.#open.get(id)
    if (utterance === undefined) return
    if (alignment) speaking.words(utterance.timings.push(charsOf(alignment, utterance.bytes / BYTES_PER_S)))
    if (audio) {
      const bytes = Buffer.from(audio, 'base64')
      utterance.bytes += bytes.length
      speaking.audio(bytes)
    }
    if (message.isFinal !== true && message.is_final !== true) return
    this.end(id)
    speaking.words(utterance.timings.flush())
    speaking.done()
  }
}

function charsOf({ chars = [], ...times }: Alignment, fromS: number) {
  const startsMs = times.charStartTimesMs ?? times.char_start_times_ms ?? []
  const durationsMs = times.charDurationsMs ?? times.char_durations_ms ?? []
  return chars.map((char, i) => {
    const startS = fromS + (startsMs[i] ?? 0) / 1000
    return { char, startS, endS: startS + (durationsMs[i] ?? 0) / 1000 }
  })
}
