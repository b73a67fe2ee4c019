import { dialectOf } from '../../runtime/plugin-sdk/telephony/stream/dialect.ts'

/** Telnyx media streaming, bidirectional RTP: https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming */
export const telnyxDialect = dialectOf({
  format: { encoding: 'pcmu', sampleRateHz: 8_000 },
  closingEndsCall: false,
  clearReturnsMarks: false,
  reads: {
    name: 'event',
    start: {
      named: 'start',
      streamId: 'stream_id',
      carrierId: 'start.call_control_id',
      token: 'start.client_state',
      encoding: 'start.media_format.encoding',
    },
    media: { named: 'media', payload: 'media.payload', atMs: 'media.timestamp', track: 'media.track' },
    dtmf: { named: 'dtmf', digit: 'dtmf.digit' },
    mark: { named: 'mark', name: 'mark.name' },
    stop: { named: 'stop' },
  },
  writes: {
    media: { event: 'media', media: { payload: '{payload}' } },
    mark: { event: 'mark', mark: { name: '{name}' } },
    clear: { event: 'clear' },
  },
})
