import {
  MARK,
  objectIn,
  readerOf,
  type StreamDialect,
  textIn,
} from '../../runtime/plugin-sdk/telephony/stream/dialect.ts'
import { readState } from './state.ts'

/** Telnyx media streaming, bidirectional RTP: https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming */
export const telnyxDialect: StreamDialect = {
  format: { encoding: 'pcmu', sampleRateHz: 8_000 },
  closingEndsCall: false,
  clearReturnsMarks: false,
  read: readerOf({
    start(message) {
      const start = objectIn(message, 'start')
      return {
        streamId: textIn(message, 'stream_id'),
        carrierId: textIn(start, 'call_control_id'),
        token: readState(textIn(start, 'client_state')).token,
        encoding: textIn(objectIn(start, 'media_format'), 'encoding'),
      }
    },
    mark: MARK,
    timed: true,
  }),
  media: (_streamId, payload) => JSON.stringify({ event: 'media', media: { payload } }),
  mark: (_streamId, name) => JSON.stringify({ event: 'mark', mark: { name } }),
  clear: () => JSON.stringify({ event: 'clear' }),
}
