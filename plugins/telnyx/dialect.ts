import {
  msIn,
  objectIn,
  readObject,
  type StreamDialect,
  type StreamEvent,
  textIn,
} from '../../runtime/telephony/stream/dialect.ts'
import { readState } from './state.ts'

/** Telnyx media streaming, bidirectional RTP: https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming */
export const telnyxDialect: StreamDialect = {
  format: { encoding: 'pcmu', sampleRateHz: 8_000 },
  closingEndsCall: false,
  clearReturnsMarks: false,
  read(text): StreamEvent | undefined {
    const message = readObject(text)
    switch (message.event) {
      case 'start': {
        const start = objectIn(message, 'start')
        return {
          type: 'start',
          streamId: textIn(message, 'stream_id'),
          carrierId: textIn(start, 'call_control_id'),
          token: readState(textIn(start, 'client_state')).token,
        }
      }
      case 'media': {
        const media = objectIn(message, 'media')
        if (textIn(media, 'track') === 'outbound') return undefined
        return { type: 'media', payload: textIn(media, 'payload'), atMs: msIn(media, 'timestamp') }
      }
      case 'dtmf':
        return { type: 'dtmf', digit: textIn(objectIn(message, 'dtmf'), 'digit') }
      case 'mark':
        return { type: 'mark', name: textIn(objectIn(message, 'mark'), 'name') }
      case 'stop':
        return { type: 'stop' }
      default:
        return undefined
    }
  },
  media: (_streamId, payload) => JSON.stringify({ event: 'media', media: { payload } }),
  mark: (_streamId, name) => JSON.stringify({ event: 'mark', mark: { name } }),
  clear: () => JSON.stringify({ event: 'clear' }),
}
