import type { AudioFormat } from '../../call/types/leg.ts'
import { codecFor } from '../codecs/codec.ts'
import { samplesPerFrame } from '../frame.ts'

/** Peak of the noise: about -66 dBov, what a quiet room sounds like on the phone. */
const PEAK = 24
const VARIANTS = 50

const made = new Map<string, readonly Uint8Array[]>()

/**
 * Frames of faint noise in a session's format: a line that is dead silent sounds broken, and one without packets is closed by
 * routers. `index` chooses the frame; count it up.
 */
export function comfortNoise(format: AudioFormat, index: number): Uint8Array {
  const key = `${format.encoding} ${format.sampleRateHz}`
  let frames = made.get(key)
  if (frames === undefined) {
    frames = makeFrames(format)
    made.set(key, frames)
  }
  return frames[index % VARIANTS]!
}

function makeFrames(format: AudioFormat): Uint8Array[] {
  const { encode } = codecFor(format)
  let state = 1
  const noise = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return state / 2 ** 31
  }
  let previous = 0
  return Array.from({ length: VARIANTS }, () => {
    const samples = new Int16Array(samplesPerFrame(format.sampleRateHz))
    // A one-pole low-pass takes the hiss out.
    for (let i = 0; i < samples.length; i++) {
      previous = 0.6 * previous + 0.4 * noise() * PEAK
      samples[i] = Math.round(previous * 2)
    }
    return encode(samples)
  })
}
