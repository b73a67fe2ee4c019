import type { AudioFormat } from '../../call/types/leg.ts'
import { codecFor } from '../codecs/codec.ts'
import { FRAME_MS, samplesPerFrame } from '../frame.ts'
import { LazyFrames } from '../lazy-frames.ts'

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
/** Of one note: quieter than speech, so that the caller notices speech at once. */
const PEAK = 1_500

const NOTES = BARS.flat()
const FRAMES_A_NOTE = NOTE_MS / FRAME_MS
/** A note rings on under so many that follow. */
const RINGS_UNDER = RING_MS / NOTE_MS - 1

const made = new Map<string, LazyFrames>()

/**
 * Hold music in a session's format: frame `index` of 20 ms since it began. A bell plays the same ten seconds over and
 * over. Who waits asks from frame 0 up, and each frame is made when the first of them does.
 */
export function holdMusic(format: AudioFormat, index: number, codec: typeof codecFor = codecFor): Uint8Array {
  const key = `${format.encoding} ${format.sampleRateHz}`
  let frames = made.get(key)
  if (frames === undefined) {
    const { encode } = codec(format)
    // An encoder may give the same buffer again.
    const make = (frame: number) => encode(samplesAt(format.sampleRateHz, frame)).slice()
    frames = new LazyFrames(NOTES.length * FRAMES_A_NOTE, make)
    made.set(key, frames)
  }
  return frames.at(index)
}

/** The sum of the notes that ring in a frame. What still rings at the end rings on at the beginning: the seam is not heard. */
function samplesAt(sampleRateHz: number, frame: number): Int16Array {
  const length = samplesPerFrame(sampleRateHz)
  const sum = new Float64Array(length)
  const note = Math.floor(frame / FRAMES_A_NOTE)
  for (let before = 0; before <= RINGS_UNDER; before++) {
    const semitones = NOTES.at(note - before)!
    ring(sum, sampleRateHz, semitones, ((before * NOTE_MS) / FRAME_MS + (frame % FRAMES_A_NOTE)) * length)
  }
  return Int16Array.from(sum)
}

/** Adds a note to the samples; `from`: of its own samples, the first of these. */
function ring(sum: Float64Array, sampleRateHz: number, semitones: number, from: number): void {
  const hz = A4_HZ * 2 ** (semitones / 12)
  const ringSamples = (RING_MS * sampleRateHz) / 1000
  for (let i = 0; i < sum.length; i++) {
    const n = from + i
    const attack = Math.min(1, (1000 * n) / sampleRateHz / ATTACK_MS)
    const decay = Math.exp((-4 * n) / ringSamples) - Math.exp(-4)
    const phase = (2 * Math.PI * hz * n) / sampleRateHz
    sum[i]! += PEAK * attack * decay * (Math.sin(phase) + 0.3 * Math.sin(2 * phase))
  }
}
