import { BANDS, FeatureExtractor } from './features.ts'

/** Step between the frames of a template; arriving audio is measured every second one of them. */
export const TEMPLATE_HOP_MS = 10
export const LIVE_HOP_MS = 20

/** How an utterance sounds, frame by frame. */
export interface Template {
  text: string
  /** Language tag. */
  language: string
  /** Frames of TEMPLATE_HOP_MS. */
  length: number
  /** BANDS values a frame. */
  shapes: Float32Array
  /** How much each frame counts: 1 loud, 0 silent. */
  weights: Float32Array
  /** Sum of the weights up to and including each frame. */
  progress: Float32Array
  /** The frame each word of the text ends at, estimated by its letters. */
  wordEnds: readonly { text: string; frame: number }[]
}

/** Below the utterance's loudest frame by this much, a frame counts fully; by QUIET_DB and more, not at all. */
const LOUD_DB = 20
const QUIET_DB = 34

/** Measures a rendering of `text`: mono 16-bit samples. Undefined when nothing is audible in it. */
export function makeTemplate(
  text: string,
  samples: Int16Array,
  sampleRateHz: number,
  language = 'en',
): Template | undefined {
  const shapes: Float32Array[] = []
  const levels: number[] = []
  new FeatureExtractor(sampleRateHz, TEMPLATE_HOP_MS).push(samples, ({ shape, power }) => {
    shapes.push(shape)
    levels.push(power)
  })
  const peak = Math.max(0, ...levels)
  const weights = levels.map((power) => weightOf(power, peak))
  const first = weights.findIndex((weight) => weight > 0)
  if (first < 0) return undefined
  const last = weights.findLastIndex((weight) => weight > 0)
  const length = last - first + 1
  const packed = new Float32Array(length * BANDS)
  for (let i = 0; i < length; i++) packed.set(shapes[first + i]!, i * BANDS)
  const kept = Float32Array.from(weights.slice(first, last + 1))
  const progress = new Float32Array(length)
  let sum = 0
  for (let i = 0; i < length; i++) {
    sum += kept[i]!
    progress[i] = sum
  }
  return { text, language, length, shapes: packed, weights: kept, progress, wordEnds: wordEnds(text, kept) }
}

/** 0–1 by loudness relative to the loudest frame; powers, not amplitudes. */
export function weightOf(power: number, peak: number): number {
  if (power <= 0 || peak <= 0) return 0
  const belowDb = -10 * Math.log10(power / peak)
  return Math.min(1, Math.max(0, (QUIET_DB - belowDb) / (QUIET_DB - LOUD_DB)))
}

function wordEnds(text: string, weights: Float32Array): { text: string; frame: number }[] {
  const audible = [...weights.keys()].filter((i) => weights[i]! > 0)
  const ends: { text: string; frame: number }[] = []
  const letters = text.replace(/\s/g, '').length
  let read = 0
  for (const match of text.matchAll(/\S+/g)) {
    read += match[0].length
    const frame = audible[Math.min(audible.length, Math.round((audible.length * read) / letters)) - 1] ?? 0
    ends.push({ text: text.slice(0, match.index + match[0].length), frame })
  }
  return ends
}
