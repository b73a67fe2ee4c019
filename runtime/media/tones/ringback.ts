import type { AudioFormat } from '../../call/types/leg.ts'
import { codecFor } from '../codecs/codec.ts'
import { FRAME_MS, samplesPerFrame } from '../frame.ts'
import { LazyFrames } from '../lazy-frames.ts'

const PEAK = 2_500

/** What a telephone network plays to the caller while it rings at the other end (ITU-T E.180, supplement 2). */
interface Cadence {
  frequenciesHz: readonly number[]
  /** Sound and silence in turn, from the beginning. */
  pattern: readonly number[]
}

const NORTH_AMERICA: Cadence = { frequenciesHz: [440, 480], pattern: [2_000, 4_000] }
const BRITAIN: Cadence = { frequenciesHz: [400, 450], pattern: [400, 200, 400, 2_000] }
const ELSEWHERE: Cadence = { frequenciesHz: [425], pattern: [1_000, 4_000] }

function cadenceOf(number: string): Cadence {
  if (number.startsWith('+1')) return NORTH_AMERICA
  return number.startsWith('+44') ? BRITAIN : ELSEWHERE
}

const made = new Map<string, LazyFrames>()

/**
 * The ringing tone of the network a number belongs to, in a session's format: frame `index` of 20 ms since it began to ring; undefined
 * where the tone pauses. Pure.
 */
export function ringback(format: AudioFormat, number: string, index: number): Uint8Array | undefined {
  const cadence = cadenceOf(number)
  const wholeMs = cadence.pattern.reduce((sum, ms) => sum + ms, 0)
  let atMs = (index * FRAME_MS) % wholeMs
  for (const [i, ms] of cadence.pattern.entries()) {
    if (atMs < ms) return i % 2 === 0 ? toneFrames(format, cadence).at(atMs / FRAME_MS) : undefined
    atMs -= ms
  }
  return undefined
}

/** The longest sound of a cadence, frame by frame; shorter ones are its beginning. */
function toneFrames(format: AudioFormat, { frequenciesHz, pattern }: Cadence): LazyFrames {
  const key = `${format.encoding} ${format.sampleRateHz} ${frequenciesHz}`
  const known = made.get(key)
  if (known !== undefined) return known
  const length = samplesPerFrame(format.sampleRateHz)
  const { encode } = codecFor(format)
  const frames = new LazyFrames(Math.max(...pattern) / FRAME_MS, (frame) => {
    const samples = Int16Array.from({ length }, (_, n) => {
      const seconds = (frame * length + n) / format.sampleRateHz
      return frequenciesHz.reduce((sum, hz) => sum + PEAK * Math.sin(2 * Math.PI * hz * seconds), 0)
    })
    return encode(samples).slice()
  })
  made.set(key, frames)
  return frames
}
