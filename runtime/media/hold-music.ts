import type { AudioFormat } from '../session/leg.ts'
import { codecFor } from './codec.ts'
import { FRAME_MS, samplesPerFrame } from './frame.ts'

/** Four broken chords, a bar each, of eight notes: equal temperament, in semitones from A4. */
const BARS = [
  [-21, -14, -9, -5, 3, -5, -9, -14],
  [-24, -17, -12, -8, 0, -8, -12, -17],
  [-28, -16, -9, -4, 3, -4, -9, -16],
  [-26, -14, -10, -5, -2, -5, -10, -14],
] as const
const NOTE_MS = 300
const RING_MS = 1_200
const ATTACK_MS = 8
const A4_HZ = 440
/** Of one note: quieter than speech, so that who waits hears at once when somebody speaks. */
const PEAK = 1_500

const made = new Map<string, readonly Uint8Array[]>()

/**
 * Music for somebody who waits, in a session's format: frame `index` of 20 ms since it began. A bell plays the same ten seconds over and
 * over. Pure.
 */
export function holdMusic(format: AudioFormat, index: number): Uint8Array {
  const key = `${format.encoding} ${format.sampleRateHz}`
  let frames = made.get(key)
  if (frames === undefined) {
    frames = makeFrames(format)
    made.set(key, frames)
  }
  return frames[index % frames.length]!
}

function makeFrames(format: AudioFormat): Uint8Array[] {
  const { sampleRateHz } = format
  const notes = BARS.flat()
  const noteSamples = (NOTE_MS * sampleRateHz) / 1000
  const sum = new Float64Array(notes.length * noteSamples)
  const ringSamples = (RING_MS * sampleRateHz) / 1000
  for (const [at, semitones] of notes.entries()) {
    const hz = A4_HZ * 2 ** (semitones / 12)
    for (let n = 0; n < ringSamples; n++) {
      const attack = Math.min(1, (1000 * n) / sampleRateHz / ATTACK_MS)
      const decay = Math.exp((-4 * n) / ringSamples) - Math.exp(-4)
      const phase = (2 * Math.PI * hz * n) / sampleRateHz
      // What still rings at the end rings on at the beginning: the seam is not heard.
      sum[(at * noteSamples + n) % sum.length]! += PEAK * attack * decay * (Math.sin(phase) + 0.3 * Math.sin(2 * phase))
    }
  }
  const length = samplesPerFrame(sampleRateHz)
  const { encode } = codecFor(format)
  return Array.from({ length: (notes.length * NOTE_MS) / FRAME_MS }, (_, frame) =>
    encode(Int16Array.from(sum.subarray(frame * length, (frame + 1) * length))).slice(),
  )
}
