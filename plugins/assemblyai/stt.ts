import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { explainFailure, type ProviderFailure } from '../../runtime/plugin-sdk/provider-error.ts'
import { bytesOf } from '../../runtime/plugin-sdk/speech/pcm.ts'
import { ProviderSTT } from '../../runtime/plugin-sdk/speech/provider-stt.ts'
import type { HeardWords } from '../../runtime/plugin-sdk/speech/recognition-stream.ts'
import type { SocketAddress } from '../../runtime/plugin-sdk/speech/socket.ts'
import type { RecognitionProtocol } from '../../runtime/plugin-sdk/speech/socket-speech-stream.ts'
import { ASSEMBLYAI, endpointOf } from './endpoint.ts'

const SAMPLE_RATE_HZ = 16_000
const DEFAULT_MODEL = 'universal-streaming-english'
/** Of one session, and letters of one, as the API takes them. */
const MAX_KEYTERMS = 100
const MAX_KEYTERM_CHARS = 50

export function makeStt(host: PluginHost, options: SpeechOptions): ProviderSTT {
  const { model = DEFAULT_MODEL, language = 'en', keyterms = [], settings } = options
  const { base, headers } = endpointOf(host)
  const { formatTurns = true, endOfTurnConfidence, maxTurnSilenceMs } = settings
  const url = new URL(`${base.replace(/^http/, 'ws')}/v3/ws`)
  const set = (name: string, value: unknown): void => {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  set('speech_model', model)
  set('sample_rate', SAMPLE_RATE_HZ)
  set('encoding', 'pcm_s16le')
  // Of the others every word is formatted from the beginning.
  const isUniversal = model.startsWith('universal-streaming')
  if (isUniversal) set('format_turns', formatTurns)
  set('end_of_turn_confidence_threshold', endOfTurnConfidence)
  set('max_turn_silence', maxTurnSilenceMs)
  if (language === 'multi') set('language_detection', true)
  // These follow any language they know unless they are told which to expect.
  else if (model.startsWith('universal-3')) set('language_codes', JSON.stringify([language.split('-')[0]]))
  const terms = keyterms.filter((term) => term.length <= MAX_KEYTERM_CHARS).slice(0, MAX_KEYTERMS)
  if (terms.length > 0) set('keyterms_prompt', JSON.stringify(terms))
  const waitsForFormat = isUniversal && formatTurns === true
  const protocol = () => turns({ url: url.href, headers }, waitsForFormat)
  return new ProviderSTT({ provider: 'assemblyai', identity: ASSEMBLYAI, model, language, protocol })
}

interface StreamingMessage {
  type: string
  end_of_turn?: boolean
  turn_is_formatted?: boolean
  transcript?: string
  /** Times in milliseconds. */
  words?: { text: string; start?: number; end?: number; confidence?: number; word_is_final?: boolean }[]
  language_code?: string
  error_code?: number
  error?: string
}

/** Recognition turn by turn: assemblyai.com/docs/api-reference/streaming-api/universal-streaming. */
function turns(address: SocketAddress, waitsForFormat: boolean): RecognitionProtocol {
  return {
    address,
    sampleRateHz: SAMPLE_RATE_HZ,
    audio: bytesOf,
    finish: () => ['{"type":"Terminate"}'],
    closed: failureOfClose,
    read(text, hearing) {
      const message = JSON.parse(text) as StreamingMessage
      switch (message.type) {
        case 'SpeechStarted':
          return hearing.started()
        case 'Turn': {
          const words = wordsOf(message)
          if (message.end_of_turn !== true) return hearing.interim(words)
          if (waitsForFormat && message.turn_is_formatted !== true) return hearing.eagerEnd(words)
          return hearing.turnEnd(words)
        }
        case 'Termination':
          return hearing.done()
        case 'Error':
          return hearing.failed(failureOf(message.error_code, message.error))
        default:
      }
    },
  }
}

/** While a turn goes on, its transcript lacks the words that may still change. */
function wordsOf({ transcript = '', words = [], end_of_turn, language_code }: StreamingMessage): HeardWords {
  return {
    text: end_of_turn === true ? transcript : words.map(({ text }) => text).join(' ') || transcript,
    startS: seconds(words[0]?.start),
    endS: seconds(words.at(-1)?.end),
    confidence: words.length === 0 ? undefined : Math.min(...words.map(({ confidence = 1 }) => confidence)),
    language: language_code,
  }
}

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000)

/** Its own codes, by the HTTP status they stand for: assemblyai.com/docs/streaming/common-session-errors-and-closures. */
const STATUS_OF: Readonly<Record<number, number>> = {
  1008: 401,
  3005: 500,
  3006: 400,
  3007: 400,
  3008: 503,
  3009: 429,
  4001: 401,
  4002: 402,
  4003: 402,
  4008: 503,
  4029: 429,
  4031: 503,
  4101: 400,
  4102: 429,
}

function failureOf(code: number | undefined, message: string | undefined): ProviderFailure {
  return explainFailure(ASSEMBLYAI, { status: STATUS_OF[code ?? 0], message })
}

function failureOfClose(code: number, reason: string): ProviderFailure | undefined {
  // 1008 covers all policy violations; the reason's text says which.
  if (code === 1008 && /balance|funds|credit/i.test(reason)) return explainFailure(ASSEMBLYAI, { status: 402 })
  if (code === 1008 && /concurren|too many/i.test(reason)) return explainFailure(ASSEMBLYAI, { status: 429 })
  return STATUS_OF[code] === undefined ? undefined : failureOf(code, reason)
}
