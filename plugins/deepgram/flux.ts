import { explainFailure } from '../../runtime/plugin-sdk/provider-error.ts'
import { bytesOf } from '../../runtime/plugin-sdk/speech/pcm.ts'
import type { HeardWords } from '../../runtime/plugin-sdk/speech/recognition-stream.ts'
import type { SocketAddress } from '../../runtime/plugin-sdk/speech/socket.ts'
import type { RecognitionProtocol } from '../../runtime/plugin-sdk/speech/socket-speech-stream.ts'
import { DEEPGRAM, HEARING_RATE_HZ } from './endpoint.ts'

interface FluxMessage {
  type: string
  event?: 'StartOfTurn' | 'Update' | 'EagerEndOfTurn' | 'TurnResumed' | 'EndOfTurn'
  transcript?: string
  audio_window_start?: number
  audio_window_end?: number
  words?: { confidence?: number }[]
  /** Of flux-general-multi, the one of most words first. */
  languages?: string[]
  code?: string
  description?: string
}

/** Conversational recognition with turns, /v2/listen: developers.deepgram.com/reference/speech-to-text/listen-flux. */
export function flux(address: SocketAddress): RecognitionProtocol {
  /** Words of the turn under way. */
  let open: HeardWords | undefined
  return {
    address,
    sampleRateHz: HEARING_RATE_HZ,
    audio: bytesOf,
    finish: () => ['{"type":"CloseStream"}'],
    // A stream that is closed in the middle of a turn tells no end of it.
    closing(hearing) {
      if (open === undefined) return
      hearing.final(open)
      hearing.ended()
    },
    read(text, hearing) {
      const message = JSON.parse(text) as FluxMessage
      if (message.type === 'Error') {
        return hearing.failed(explainFailure(DEEPGRAM, { message: message.description, code: message.code }))
      }
      if (message.type !== 'TurnInfo') return
      const words = {
        text: message.transcript ?? '',
        startS: message.audio_window_start,
        endS: message.audio_window_end,
        confidence: message.words?.[0]?.confidence,
        language: message.languages?.[0],
      }
      open = message.event === 'EndOfTurn' ? undefined : words
      switch (message.event) {
        case 'EndOfTurn':
          return hearing.turnEnd(words)
        case 'EagerEndOfTurn':
          return hearing.eagerEnd(words)
        case 'TurnResumed':
          return hearing.resumed(words)
        case 'StartOfTurn':
          hearing.started()
          return hearing.interim(words)
        default:
          return hearing.interim(words)
      }
    },
  }
}
