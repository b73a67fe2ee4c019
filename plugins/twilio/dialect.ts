import {
  MARK,
  objectIn,
  readerOf,
  type StreamDialect,
  textIn,
} from '../../runtime/plugin-sdk/telephony/stream/dialect.ts'

/** Twilio Media Streams, bidirectional: https://www.twilio.com/docs/voice/media-streams/websocket-messages */
export const twilioDialect: StreamDialect = {
  format: { encoding: 'pcmu', sampleRateHz: 8_000 },
  // The TwiML after the stream requests our URL, and gets a hangup.
  closingEndsCall: true,
  clearReturnsMarks: true,
  read: readerOf({
    start(message) {
      const start = objectIn(message, 'start')
      return {
        streamId: textIn(message, 'streamSid'),
        carrierId: textIn(start, 'callSid'),
        token: textIn(objectIn(start, 'customParameters'), 'token'),
      }
    },
    mark: MARK,
    timed: true,
  }),
  media: (streamSid, payload) => JSON.stringify({ event: 'media', streamSid, media: { payload } }),
  mark: (streamSid, name) => JSON.stringify({ event: 'mark', streamSid, mark: { name } }),
  clear: (streamSid) => JSON.stringify({ event: 'clear', streamSid }),
}
