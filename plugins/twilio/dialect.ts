import { dialectOf } from '../../runtime/plugin-sdk/telephony/stream/dialect.ts'

/** Twilio Media Streams, bidirectional: https://www.twilio.com/docs/voice/media-streams/websocket-messages */
export const twilioDialect = dialectOf({
  format: { encoding: 'pcmu', sampleRateHz: 8_000 },
  // The TwiML after the stream requests our URL, and gets a hangup.
  closingEndsCall: true,
  clearReturnsMarks: true,
  reads: {
    name: 'event',
    start: {
      named: 'start',
      streamId: 'streamSid',
      carrierId: 'start.callSid',
      token: 'start.customParameters.token',
    },
    media: { named: 'media', payload: 'media.payload', atMs: 'media.timestamp', track: 'media.track' },
    dtmf: { named: 'dtmf', digit: 'dtmf.digit' },
    mark: { named: 'mark', name: 'mark.name' },
    stop: { named: 'stop' },
  },
  writes: {
    media: { event: 'media', streamSid: '{streamId}', media: { payload: '{payload}' } },
    mark: { event: 'mark', streamSid: '{streamId}', mark: { name: '{name}' } },
    clear: { event: 'clear', streamSid: '{streamId}' },
  },
})
