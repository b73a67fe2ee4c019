import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { bytesOf } from '../../runtime/plugin-sdk/speech/pcm.ts'
import { ProviderSTT } from '../../runtime/plugin-sdk/speech/provider-stt.ts'
import type { SocketAddress } from '../../runtime/plugin-sdk/speech/socket.ts'
import type { Hearing, RecognitionProtocol } from '../../runtime/plugin-sdk/speech/socket-speech-stream.ts'
import { ELEVENLABS, endpointOf, failureOf, socketUrl } from './endpoint.ts'

const SAMPLE_RATE_HZ = 16_000
const DEFAULT_MODEL = 'scribe_v2_realtime'
const DEFAULT_ENDPOINTING_MS = 400
/** Of one session, and letters of one, as the API takes them. */
const MAX_KEYTERMS = 50
const MAX_KEYTERM_CHARS = 20
/** Wait after the last audio: the protocol doesn't say whether words of an earlier part are still pending. */
const LAST_WORDS_MS = 400

export function makeStt(host: PluginHost, options: SpeechOptions): ProviderSTT {
  const { model = DEFAULT_MODEL, language = 'en', keyterms = [], settings } = options
  const { base, headers } = endpointOf(host)
  const { endpointingMs = DEFAULT_ENDPOINTING_MS, enableLogging } = settings
  const terms = keyterms.filter((term) => term.length <= MAX_KEYTERM_CHARS).slice(0, MAX_KEYTERMS)
  const url = socketUrl(base, '/v1/speech-to-text/realtime', {
    model_id: model,
    audio_format: `pcm_${SAMPLE_RATE_HZ}`,
    commit_strategy: 'vad',
    vad_silence_threshold_secs: Number(endpointingMs) / 1000,
    include_timestamps: true,
    // Without a language it tells it from the sound.
    include_language_detection: language === 'multi' ? true : undefined,
    language_code: language === 'multi' ? undefined : language.split('-')[0],
    keyterms: terms.length > 0 ? terms : undefined,
    enable_logging: enableLogging,
  })
  const protocol = () => scribe({ url, headers })
  return new ProviderSTT({ provider: 'elevenlabs', identity: ELEVENLABS, model, language, protocol })
}

interface ScribeMessage {
  message_type: string
  text?: string
  language_code?: string | null
  words?: { start?: number; end?: number; logprob?: number; type?: string }[] | null
  error?: string
}

/** The error for committing a part without speech. */
const NOTHING_LEFT = new Set(['commit_throttled', 'insufficient_audio_activity'])
const SILENT = new Set(['session_started', 'committed_transcript', 'committed_transcript_entities', 'warning'])

/** Scribe in real time: elevenlabs.io/docs/api-reference/speech-to-text/v-1-speech-to-text-realtime. */
function scribe(address: SocketAddress): RecognitionProtocol {
  let finishing = false
  let open = false
  const chunk = (bytes: Uint8Array, commit: boolean): string =>
    JSON.stringify({
      message_type: 'input_audio_chunk',
      audio_base_64: Buffer.from(bytes).toString('base64'),
      sample_rate: SAMPLE_RATE_HZ,
      commit,
    })
  const soonDone = (hearing: Hearing): void => {
    const done = boundary('provider', () => hearing.done())
    setTimeout(done, LAST_WORDS_MS).unref()
  }
  return {
    address,
    sampleRateHz: SAMPLE_RATE_HZ,
    audio: (samples) => chunk(bytesOf(samples), false),
    finish() {
      finishing = true
      return [chunk(new Uint8Array(), true)]
    },
    read(text, hearing) {
      const { message_type: type, error, ...message } = JSON.parse(text) as ScribeMessage
      switch (type) {
        case 'partial_transcript':
          open = (message.text ?? '') !== ''
          return hearing.interim({ text: message.text ?? '' })
        case 'committed_transcript_with_timestamps': {
          open = false
          const words = (message.words ?? []).filter((word) => word.type !== 'spacing')
          hearing.final({
            text: message.text ?? '',
            startS: words[0]?.start,
            endS: words.at(-1)?.end,
            language: message.language_code ?? undefined,
          })
          hearing.ended()
          if (finishing) soonDone(hearing)
          return
        }
        default:
          if (finishing && NOTHING_LEFT.has(type)) return open ? undefined : soonDone(hearing)
          if (NOTHING_LEFT.has(type) || SILENT.has(type) || error === undefined) return
          return hearing.failed(failureOf(type, error))
      }
    },
  }
}
