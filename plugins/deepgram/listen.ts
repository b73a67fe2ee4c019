import { explainFailure } from '../../runtime/plugin-sdk/provider-error.ts'
import { bytesOf } from '../../runtime/plugin-sdk/speech/pcm.ts'
import type { HeardWords } from '../../runtime/plugin-sdk/speech/recognition-stream.ts'
import type { SocketAddress } from '../../runtime/plugin-sdk/speech/socket.ts'
import type { RecognitionProtocol } from '../../runtime/plugin-sdk/speech/socket-speech-stream.ts'
import { DEEPGRAM, HEARING_RATE_HZ } from './endpoint.ts'

interface ListenMessage {
  type: string
  is_final?: boolean
  speech_final?: boolean
  start?: number
  duration?: number
  channel?: {
    alternatives?: {
      transcript?: string
      confidence?: number
      words?: { start: number; end: number }[]
      /** With `language=multi`, the one of most words first. */
      languages?: string[]
    }[]
  }
  description?: string
  message?: string
  variant?: string
}

/** Live transcription, /v1/listen: developers.deepgram.com/reference/speech-to-text/listen-streaming. */
export function listen(address: SocketAddress): RecognitionProtocol {
  return {
    address,
    sampleRateHz: HEARING_RATE_HZ,
    audio: bytesOf,
    finish: () => ['{"type":"CloseStream"}'],
    // Without audio or this the server hangs up after 10 s.
    keepAlive: { everyMs: 4_000, message: '{"type":"KeepAlive"}' },
    read(text, hearing) {
      const message = JSON.parse(text) as ListenMessage
      switch (message.type) {
        case 'SpeechStarted':
          return hearing.started()
        case 'UtteranceEnd':
          return hearing.ended()
        case 'Results': {
          const words = wordsOf(message)
          if (words.text !== '') {
            if (message.is_final === true) hearing.final(words)
            else hearing.interim(words)
          }
          if (message.speech_final === true) hearing.ended()
          return
        }
        case 'Error':
          return hearing.failed(
            explainFailure(DEEPGRAM, { message: message.description ?? message.message, code: message.variant }),
          )
        default:
      }
    },
  }
}

function wordsOf({ channel, start = 0, duration = 0 }: ListenMessage): HeardWords {
  const best = channel?.alternatives?.[0]
  return {
    text: best?.transcript ?? '',
    startS: best?.words?.[0]?.start ?? start,
    endS: best?.words?.at(-1)?.end ?? start + duration,
    confidence: best?.confidence,
    language: best?.languages?.[0],
  }
}
