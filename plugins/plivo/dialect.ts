import {
  objectIn,
  readObject,
  type StreamDialect,
  type StreamEvent,
  textIn,
} from '../../runtime/telephony/stream/dialect.ts'

const CONTENT_TYPE = 'audio/x-mulaw'
const RATE_HZ = 8_000

/** Plivo Audio Streams, bidirectional: https://www.plivo.com/docs/voice/xml/stream */
export const plivoDialect: StreamDialect = {
  format: { encoding: 'pcmu', sampleRateHz: RATE_HZ },
  closingEndsCall: false,
  clearReturnsMarks: false,
  read(text): StreamEvent | undefined {
    const message = readObject(text)
    switch (message.event) {
      case 'start': {
        const start = objectIn(message, 'start')
        const token = /(?:^|[{;,\s"'])token["']?\s*[=:]\s*["']?([A-Za-z0-9_-]+)/.exec(textIn(message, 'extra_headers'))
        return {
          type: 'start',
          streamId: textIn(start, 'streamId'),
          carrierId: textIn(start, 'callId'),
          token: token?.[1] ?? '',
        }
      }
      case 'media': {
        const media = objectIn(message, 'media')
        // Plivo's timestamps are those of the clock on the wall.
        return { type: 'media', payload: textIn(media, 'payload'), atMs: undefined }
      }
      case 'dtmf':
        return { type: 'dtmf', digit: textIn(objectIn(message, 'dtmf'), 'digit') }
      case 'playedStream':
        return { type: 'mark', name: textIn(message, 'name') }
      case 'stop':
        return { type: 'stop' }
      default:
        return undefined
    }
  },
  media: (_streamId, payload) =>
    JSON.stringify({ event: 'playAudio', media: { contentType: CONTENT_TYPE, sampleRate: RATE_HZ, payload } }),
  mark: (streamId, name) => JSON.stringify({ event: 'checkpoint', streamId, name }),
  clear: (streamId) => JSON.stringify({ event: 'clearAudio', streamId }),
}
