import type { AudioFormat } from '../../runtime/call/types/leg.ts'
import { RealtimeLeg, type RealtimeLegOptions } from './realtime-leg.ts'

/** The leg of a realtime session over WebSocket: PCM in binary messages both ways, JSON beside it. */

const MAX_AUDIO_MESSAGE_MS = 100
/** Audio kept for a client that reads too slowly. */
const MAX_OUTGOING_AUDIO_MS = 2_000
/** The same of one that may come back: what the agent said meanwhile. */
const MAX_AUDIO_WHILE_AWAY_MS = 20_000
const BYTES_PER_SAMPLE = 2

interface WebSocketLegOptions extends RealtimeLegOptions {
  sampleRateHz: number
}

export class WebSocketLeg extends RealtimeLeg {
  readonly format: AudioFormat
  #answered = false
  #samples = 0

  constructor({ sampleRateHz, ...options }: WebSocketLegOptions) {
    const keptMs = options.resumes === undefined ? MAX_OUTGOING_AUDIO_MS : MAX_AUDIO_WHILE_AWAY_MS
    super(options, (sampleRateHz * BYTES_PER_SAMPLE * keptMs) / 1000)
    this.format = { encoding: 'pcm_s16le', sampleRateHz }
  }

  answer(): void {
    this.#answered = true
    const audio = { encoding: 'pcm_s16le', sample_rate: this.format.sampleRateHz } as const
    const resumeToken = this.line.issueToken()
    const resumable = resumeToken === undefined ? {} : ({ media: 'websocket', resume_token: resumeToken } as const)
    this.line.started({ call_log_id: this.callId, audio, ...resumable })
  }

  sendAudio(bytes: Uint8Array): void {
    this.line.put(bytes)
  }

  clear(): void {
    this.line.clearAudio()
    this.line.send({ type: 'audio.clear' })
  }

  mark(markId: number): void {
    this.line.send({ type: 'audio.mark', id: markId })
  }

  protected signal(): void {
    this.line.tell('no_webrtc', 'Audio of this session goes over its WebSocket')
  }

  protected binary(bytes: Uint8Array): void {
    const samples = bytes.byteLength / BYTES_PER_SAMPLE
    const durationMs = (samples * 1000) / this.format.sampleRateHz
    if (!Number.isInteger(samples)) {
      this.error('odd_audio', `Audio is 16-bit samples, but the message had ${bytes.byteLength} bytes`)
    } else if (durationMs > MAX_AUDIO_MESSAGE_MS) {
      this.error(
        'long_audio',
        `An audio message holds at most ${MAX_AUDIO_MESSAGE_MS} ms, not ${durationMs.toFixed(1)}`,
      )
    } else if (!this.#answered) {
      this.line.tell('not_started', 'Audio before "session.started" is dropped')
    } else if (!this.line.gate.audio(durationMs, this.clock.monotonicMs())) {
      this.line.tell('fast_audio', 'Audio arrives faster than it plays; what is too early is dropped')
    } else if (samples > 0) {
      this.events?.audio(bytes, this.#samples)
      this.#samples += samples
    }
  }
}
