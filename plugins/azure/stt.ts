import { randomUUID } from 'node:crypto'
import type { PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { explainFailure } from '../../runtime/plugin-sdk/provider-error.ts'
import { bytesOf } from '../../runtime/plugin-sdk/speech/pcm.ts'
import { ProviderSTT } from '../../runtime/plugin-sdk/speech/provider-stt.ts'
import type { SocketAddress } from '../../runtime/plugin-sdk/speech/socket.ts'
import type { RecognitionProtocol } from '../../runtime/plugin-sdk/speech/socket-speech-stream.ts'
import { AZURE, endpointOf, localeOf } from './endpoint.ts'
import { audioMessage, readMessage, textMessage, wavHeader } from './messages.ts'

const SAMPLE_RATE_HZ = 16_000
/** By version; the SDK speaks to the second, at containers to the first: npm microsoft-cognitiveservices-speech-sdk 1.52.0, SpeechConfig.js. */
const PATHS = { 1: '/speech/recognition/conversation/cognitiveservices/v1', 2: '/stt/speech/universal/v2' }
/** Ticks of 100 ns in the service's times. */
const TICKS_PER_S = 10_000_000
/** Of one phrase list, as the service takes them. */
const MAX_PHRASES = 500

export function makeStt(host: PluginHost, options: SpeechOptions): ProviderSTT {
  const { model = 'conversation', language = 'en', keyterms = [], settings } = options
  const { listen, headers } = endpointOf(host)
  const version = settings.sttEndpoint ?? 1
  const locale = localeOf(language)
  const url = new URL(`${listen.replace(/^http/, 'ws')}${version === 1 ? PATHS[1] : PATHS[2]}`)
  url.searchParams.set('language', locale)
  url.searchParams.set('format', 'detailed')
  const context = { ...(version === 1 ? {} : universalContext(locale)), ...phrasesOf(keyterms) }
  const protocol = () => {
    const connectionId = randomUUID().replaceAll('-', '')
    return conversation({ url: url.href, headers: { ...headers, 'x-connectionid': connectionId } }, context)
  }
  return new ProviderSTT({ provider: 'azure', identity: AZURE, model, language, protocol })
}

interface PhraseMessage {
  /** Of a hypothesis. */
  Text?: string
  DisplayText?: string
  RecognitionStatus?: string
  Offset?: number
  Duration?: number
  NBest?: { Confidence?: number; Display?: string }[]
}

/** What the first endpoint reads from its address alone: ServiceRecognizerBase.js, setLanguageJson and setOutputDetailLevelJson. */
function universalContext(language: string): object {
  return {
    phraseDetection: { mode: 'Conversation', language },
    phraseOutput: { format: 'Detailed', detailed: { options: [] } },
  }
}

/** As the SDK writes a phrase list: npm microsoft-cognitiveservices-speech-sdk 1.52.0, DynamicGrammarBuilder.js. */
function phrasesOf(keyterms: readonly string[]): object {
  const items = keyterms.slice(0, MAX_PHRASES).map((text) => ({ text }))
  return items.length === 0 ? {} : { dgi: { groups: [{ type: 'Generic', items }] } }
}

/**
 * Recognition of conversations as Microsoft's open Speech SDK speaks it: text messages with headers, audio in binary ones. The
 * service ends a turn now and then, after long silence for example; the next audio begins another.
 */
function conversation(address: SocketAddress, context: object): RecognitionProtocol {
  let requestId = randomUUID().replaceAll('-', '')
  let begun = false
  let finishing = false
  /** Samples given before the turn under way. */
  let offsetSamples = 0
  let givenSamples = 0
  /** Goes before the audio of the next turn, which knows nothing of the last one's phrases. */
  let pending: string[] = []
  const system = { name: 'Patchbay', version: '1' }
  const config = { context: { system, audio: { source: { type: 'Stream' } } }, recognition: 'conversation' }
  return {
    address,
    sampleRateHz: SAMPLE_RATE_HZ,
    beforeAudio: () => pending.splice(0),
    hello: [textMessage('speech.config', requestId, config), textMessage('speech.context', requestId, context)],
    audio(samples) {
      const head = begun ? new Uint8Array() : wavHeader(SAMPLE_RATE_HZ)
      if (!begun) offsetSamples = givenSamples
      begun = true
      givenSamples += samples.length
      return audioMessage(requestId, Buffer.concat([head, bytesOf(samples)]))
    },
    finish() {
      finishing = true
      return [audioMessage(requestId, begun ? new Uint8Array() : wavHeader(SAMPLE_RATE_HZ))]
    },
    read(text, hearing) {
      const { path, body } = readMessage(text)
      const message = (body === '' ? {} : JSON.parse(body)) as PhraseMessage
      const { Offset = 0, Duration = 0, NBest, RecognitionStatus } = message
      const fromS = offsetSamples / SAMPLE_RATE_HZ
      const times = { startS: fromS + Offset / TICKS_PER_S, endS: fromS + (Offset + Duration) / TICKS_PER_S }
      switch (path) {
        case 'speech.startDetected':
          return hearing.started()
        case 'speech.hypothesis':
          return hearing.interim({ text: message.Text ?? '', ...times })
        case 'speech.phrase': {
          if (RecognitionStatus === 'Error' || RecognitionStatus === 'TooManyRequests') {
            const status = RecognitionStatus === 'Error' ? 500 : 429
            return hearing.failed(explainFailure(AZURE, { status, message: RecognitionStatus }))
          }
          const [best] = NBest ?? []
          const words = message.DisplayText ?? best?.Display ?? ''
          if (RecognitionStatus === 'Success' && words !== '') {
            hearing.final({ text: words, confidence: best?.Confidence, ...times })
          }
          return hearing.ended()
        }
        case 'turn.end':
          if (finishing) return hearing.done()
          requestId = randomUUID().replaceAll('-', '')
          begun = false
          pending = [textMessage('speech.context', requestId, context)]
          return
        default:
      }
    },
    closed: (code, reason) => {
      if (code === 1007 || code === 1002) return explainFailure(AZURE, { status: 400, message: reason })
      if (code === 1008) return explainFailure(AZURE, { status: 401, message: reason })
      return undefined
    },
  }
}
