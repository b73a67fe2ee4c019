import { boundary } from '../../lib/async/boundary.ts'
import { codecFor } from '../../media/codecs/codec.ts'
import { FRAME_MS, samplesPerFrame } from '../../media/frame.ts'
import { chime } from '../../media/tones/chime.ts'
import type { Leg } from '../types/leg.ts'

/** Silence before the first sound and between two. */
const EVERY_MS = 2_500

/** Plays two soft notes at intervals on a line whose voice worker is gone, so that the caller knows the line is alive. */
export class HoldSound {
  readonly #frames: Uint8Array[]
  readonly #leg: Leg
  #timer: NodeJS.Timeout | undefined
  #silentMs = 0
  #at = 0

  constructor(leg: Leg) {
    const { sampleRateHz } = leg.format
    const { encode } = codecFor(leg.format)
    const samples = chime(sampleRateHz)
    const length = samplesPerFrame(sampleRateHz)
    this.#frames = Array.from({ length: Math.floor(samples.length / length) }, (_, i) =>
      encode(samples.slice(i * length, (i + 1) * length)).slice(),
    )
    this.#leg = leg
  }

  start(): void {
    this.#silentMs = 0
    this.#at = 0
    this.#timer ??= setInterval(
      boundary('call', () => this.#tick()),
      FRAME_MS,
    )
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    this.#silentMs += FRAME_MS
    if (this.#silentMs < EVERY_MS) return
    const frame = this.#frames[this.#at++]
    if (frame !== undefined) {
      this.#leg.sendAudio(frame)
      return
    }
    this.#at = 0
    this.#silentMs = 0
  }
}
