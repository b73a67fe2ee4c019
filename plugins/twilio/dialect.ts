import {
  msIn,
  objectIn,
  readObject,
  type StreamDialect,
  type StreamEvent,
  textIn,
} from '../../runtime/telephony/stream/dialect.ts'

/** Twilio Media Streams, bidirectional: https://www.twilio.com/docs/voice/media-streams/websocket-messages */
export const twilioDialect: StreamDialect = {
  format: { encoding: 'pcmu', sampleRateHz: 8_000 },
  // What follows the stream in the TwiML asks us, and is told to hang up.
  closingEndsCall: true,
  clearReturnsMarks: true,
  read(text): StreamEvent | undefined {
    const message = readObject(text)
    switch (message.event) {
      case 'start': {
        const start = objectIn(message, 'start')
        return {
          type: 'start',
          streamId: textIn(message, 'streamSid'),
          carrierId: textIn(start, 'callSid'),
          token: textIn(objectIn(start, 'customParameters'), 'token'),
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
        // `connected`, and whatever Twilio adds.
        return undefined
    }
  },
  media: (streamSid, payload) => JSON.stringify({ event: 'media', streamSid, media: { payload } }),
  mark: (streamSid, name) => JSON.stringify({ event: 'mark', streamSid, mark: { name } }),
  clear: (streamSid) => JSON.stringify({ event: 'clear', streamSid }),
}
