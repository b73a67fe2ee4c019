import type { APIConnectOptions } from '@livekit/agents'
import * as cartesia from '@livekit/agents-plugin-cartesia'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { explainFailure } from '../../runtime/plugin-sdk/provider-error.ts'
import { judgeErrors } from '../../runtime/plugin-sdk/speech/api-error.ts'
import { bytesOf } from '../../runtime/plugin-sdk/speech/pcm.ts'
import type { HeardWords } from '../../runtime/plugin-sdk/speech/recognition-stream.ts'
import type { SocketAddress } from '../../runtime/plugin-sdk/speech/socket.ts'
import {
  type Hearing,
  type RecognitionProtocol,
  SocketSpeechStream,
} from '../../runtime/plugin-sdk/speech/socket-speech-stream.ts'
import { CARTESIA, endpointOf, LISTEN_VERSION } from './endpoint.ts'

const SAMPLE_RATE_HZ = 16_000
const DEFAULT_MODEL = 'ink-2'
const WHISPER = 'ink-whisper'
/** Of one session, and letters of all of them, as the API takes them: npm @cartesia/cartesia-js 4.2.0. */
const MAX_KEYTERMS = 100
const MAX_KEYTERM_CHARS = 1_200

export function makeStt(host: PluginHost, options: SpeechOptions): CartesiaSTT {
  const { model = DEFAULT_MODEL, language = 'en', keyterms = [] } = options
  const { base, socketBase, key, headers } = endpointOf(host)
  const query = new URLSearchParams({ model, sample_rate: String(SAMPLE_RATE_HZ), encoding: 'pcm_s16le' })
  // Only ink-2 tells turns; ink-whisper hears many languages, and wants to know which.
  const tellsTurns = model !== WHISPER
  if (tellsTurns) for (const term of fittingTerms(keyterms)) query.append('keyterm', term)
  else query.set('language', language.split('-')[0] ?? language)
  const path = tellsTurns ? '/stt/turns/websocket' : '/stt/websocket'
  const address = { url: `${socketBase}${path}?${query}`, headers: headers(LISTEN_VERSION) }
  const protocol = () => (tellsTurns ? turns(address) : transcripts(address))
  return new CartesiaSTT({ apiKey: key, model, language, baseUrl: base }, protocol, language)
}

/** The terms Cartesia takes, the first ones first: too many would have it refuse the whole call. */
function fittingTerms(terms: readonly string[]): string[] {
  let leftChars = MAX_KEYTERM_CHARS
  const fitting = terms.filter((term) => {
    if (term.length > leftChars) return false
    leftChars -= term.length
    return true
  })
  return fitting.slice(0, MAX_KEYTERMS)
}

/** LiveKit's recogniser with a stream of ours: its own passes over refusals of the server, and reports only part of its use. */
class CartesiaSTT extends cartesia.STT {
  readonly #protocol: () => RecognitionProtocol
  readonly #language: string

  constructor(options: Partial<cartesia.STTOptions>, protocol: () => RecognitionProtocol, language: string) {
    super(options)
    judgeErrors(this, CARTESIA)
    this.#protocol = protocol
    this.#language = language
  }

  override stream({ connOptions }: { connOptions?: APIConnectOptions } = {}): never {
    const stream = new SocketSpeechStream(this, {
      provider: CARTESIA,
      protocol: this.#protocol,
      language: this.#language,
      connOptions,
    })
    // The base class names its own stream, private members included, where any SpeechStream serves.
    return stream as never
  }
}

interface TurnMessage {
  type: 'connected' | 'turn.start' | 'turn.update' | 'turn.eager_end' | 'turn.resume' | 'turn.end' | 'error'
  transcript?: string
  status_code?: number
  error_code?: string
  title?: string
  message?: string
}

/** Recognition turn by turn: docs.cartesia.ai/api-reference/stt/turns/websocket. Messages carry no times. */
function turns(address: SocketAddress): RecognitionProtocol {
  let givenSamples = 0
  let startS = 0
  let transcript = ''
  return {
    address,
    sampleRateHz: SAMPLE_RATE_HZ,
    audio(samples) {
      givenSamples += samples.length
      return bytesOf(samples)
    },
    finish: () => ['{"type":"close"}'],
    read(text, hearing) {
      const message = JSON.parse(text) as TurnMessage
      const nowS = givenSamples / SAMPLE_RATE_HZ
      // A turn that goes on is told without its words.
      transcript = message.type === 'turn.start' ? '' : (message.transcript ?? transcript)
      const words = { text: transcript, startS, endS: nowS }
      switch (message.type) {
        case 'turn.start':
          startS = nowS
          return hearing.started()
        case 'turn.update':
          return hearing.interim(words)
        case 'turn.eager_end':
          return hearing.eagerEnd(words)
        case 'turn.resume':
          return hearing.resumed(words)
        case 'turn.end':
          return hearing.turnEnd(words)
        case 'error': {
          const { status_code: status, error_code: code, message: said, title } = message
          return hearing.failed(explainFailure(CARTESIA, { status, code, message: said ?? title }))
        }
        default:
      }
    },
  }
}

interface TranscriptMessage {
  type: 'transcript' | 'flush_done' | 'done' | 'error'
  text?: string
  is_final?: boolean
  language?: string
  words?: { start: number; end: number }[]
  status_code?: number
  error_code?: string
  title?: string
  message?: string
}

/** The rest of a word comes at once, if it comes: no longer than this is waited for it. */
const REST_OF_WORD_MS = 100
/** Behind these there is no more of the word. */
const COMPLETE = /[\s\p{Sentence_Terminal}]$/u

/**
 * Recognition as it goes: docs.cartesia.ai/api-reference/stt/websocket. Each final text continues the last one letter by letter, be it
 * in the midst of a word, with the white space there is between them (npm @cartesia/cartesia-js 4.2.0, manual-finalize.d.ts).
 */
function transcripts(address: SocketAddress): RecognitionProtocol {
  let kept: HeardWords | undefined
  let timer: NodeJS.Timeout | undefined
  const release = (hearing: Hearing): void => {
    clearTimeout(timer)
    if (kept === undefined) return
    hearing.final(kept)
    hearing.ended()
    kept = undefined
  }
  const withKept = (words: HeardWords): HeardWords =>
    kept === undefined ? words : { ...words, text: kept.text + words.text, startS: kept.startS }
  return {
    address,
    sampleRateHz: SAMPLE_RATE_HZ,
    audio: bytesOf,
    finish: () => ['finalize', 'close'],
    closing: release,
    read(text, hearing) {
      const message = JSON.parse(text) as TranscriptMessage
      switch (message.type) {
        case 'transcript': {
          const { text: heard = '', words = [], language } = message
          if (/^\s/.test(heard)) release(hearing)
          const all = withKept({ text: heard, startS: words[0]?.start, endS: words.at(-1)?.end, language })
          if (message.is_final !== true) return hearing.interim(all)
          kept = all
          if (COMPLETE.test(all.text)) return release(hearing)
          hearing.interim(all)
          clearTimeout(timer)
          timer = setTimeout(
            boundary('provider', () => release(hearing)),
            REST_OF_WORD_MS,
          ).unref()
          return
        }
        case 'flush_done':
          return release(hearing)
        case 'done':
          release(hearing)
          return hearing.done()
        case 'error': {
          const { status_code: status, error_code: code, message: said, title } = message
          return hearing.failed(explainFailure(CARTESIA, { status, code, message: said ?? title }))
        }
        default:
      }
    },
  }
}
