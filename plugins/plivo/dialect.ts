import { dialectOf } from '../../runtime/plugin-sdk/telephony/stream/dialect.ts'

const RATE_HZ = 8_000

/** Plivo Audio Streams, bidirectional: https://www.plivo.com/docs/voice/xml/stream */
export const plivoDialect = dialectOf({
  format: { encoding: 'pcmu', sampleRateHz: RATE_HZ },
  closingEndsCall: false,
  clearReturnsMarks: false,
  reads: {
    name: 'event',
    start: { named: 'start', streamId: 'start.streamId', carrierId: 'start.callId', token: 'extra_headers' },
    // Its timestamps are those of the clock on the wall.
    media: { named: 'media', payload: 'media.payload', track: 'media.track' },
    dtmf: { named: 'dtmf', digit: 'dtmf.digit' },
    mark: { named: 'playedStream', name: 'name' },
    stop: { named: 'stop' },
  },
  writes: {
    media: {
      event: 'playAudio',
      media: { contentType: 'audio/x-mulaw', sampleRate: RATE_HZ, payload: '{payload}' },
    },
    mark: { event: 'checkpoint', streamId: '{streamId}', name: '{name}' },
    clear: { event: 'clearAudio', streamId: '{streamId}' },
  },
})
