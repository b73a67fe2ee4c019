import { objectIn, readerOf, type StreamDialect, textIn } from '../../runtime/plugin-sdk/telephony/stream/dialect.ts'

const CONTENT_TYPE = 'audio/x-mulaw'
const RATE_HZ = 8_000

/** Plivo Audio Streams, bidirectional: https://www.plivo.com/docs/voice/xml/stream */
export const plivoDialect: StreamDialect = {
  format: { encoding: 'pcmu', sampleRateHz: RATE_HZ },
  closingEndsCall: false,
  clearReturnsMarks: false,
  read: readerOf({
    start(message) {
      const start = objectIn(message, 'start')
      const token = /(?:^|[{;,\s"'])token["']?\s*[=:]\s*["']?([A-Za-z0-9_-]+)/.exec(textIn(message, 'extra_headers'))
      return { streamId: textIn(start, 'streamId'), carrierId: textIn(start, 'callId'), token: token?.[1] ?? '' }
    },
    mark: { event: 'playedStream', name: (message) => textIn(message, 'name') },
    // They are those of the clock on the wall.
    timed: false,
  }),
  media: (_streamId, payload) =>
    JSON.stringify({ event: 'playAudio', media: { contentType: CONTENT_TYPE, sampleRate: RATE_HZ, payload } }),
  mark: (streamId, name) => JSON.stringify({ event: 'checkpoint', streamId, name }),
  clear: (streamId) => JSON.stringify({ event: 'clearAudio', streamId }),
}
