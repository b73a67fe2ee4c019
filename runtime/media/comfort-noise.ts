import { samplesPerFrame } from './frame.ts'
import { encodeG711 } from './g711.ts'

/** Peak of the noise: about -66 dBov, what a quiet room sounds like on the phone. */
const PEAK = 24
const VARIANTS = 50
const RATE_HZ = 8_000

const made = new Map<'pcmu' | 'pcma', readonly Uint8Array[]>()

/**
 * Frames of faint noise in G.711: a line that is dead silent sounds broken, and one without packets is closed by routers.
 * `index` chooses the frame; count it up.
 */
export function comfortNoise(encoding: 'pcmu' | 'pcma', index: number): Uint8Array {
  let frames = made.get(encoding)
  if (frames === undefined) {
    frames = makeFrames(encoding)
    made.set(encoding, frames)
  }
  return frames[index % VARIANTS]!
}

function makeFrames(encoding: 'pcmu' | 'pcma'): Uint8Array[] {
  let state = 1
  const noise = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return state / 2 ** 31
  }
  let previous = 0
  return Array.from({ length: VARIANTS }, () => {
    const samples = new Int16Array(samplesPerFrame(RATE_HZ))
    // A one-pole low-pass takes the hiss out.
    for (let i = 0; i < samples.length; i++) {
      previous = 0.6 * previous + 0.4 * noise() * PEAK
      samples[i] = Math.round(previous * 2)
    }
    return encodeG711(encoding, samples)
  })
}
