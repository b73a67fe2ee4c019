import { PowerSpectrum } from './power-spectrum.ts'

/** Bands of a frame's shape. */
export const BANDS = 24
const LOW_HZ = 150
/** Below the 3.4 kHz edge of a telephone line, so that a band means the same at every sample rate. */
const HIGH_HZ = 3_300
const WINDOW_MS = 32
/** Root compression: unlike a logarithm it leaves faint bands, where noise rules, faint. */
const COMPRESSION = 0.3

/** The loudness-independent features of a 32 ms window. */
export interface FrameFeatures {
  /** BANDS values of unit length, mean removed: how the power spreads over the mel bands. */
  shape: Float32Array
  /** Mean power of the telephone band, of samples scaled to ±1. */
  power: number
}

/**
 * Cuts arriving audio into windows of 32 ms, one each `hopMs`, and measures each. Works at any rate from 8 kHz up
 * without resampling: the windows last equally long and the bands are the same frequencies.
 */
export class FeatureExtractor {
  readonly #window: Float32Array
  readonly #hop: number
  readonly #samples: Float32Array
  readonly #windowed: Float32Array
  readonly #spectrum: PowerSpectrum
  readonly #power: Float32Array
  readonly #bands: Band[]
  readonly #scale: number
  #filled = 0
  /** How many samples of the window there are up to its last sound. */
  #soundTo = 0

  constructor(sampleRateHz: number, hopMs: number) {
    const length = Math.round((sampleRateHz * WINDOW_MS) / 1000)
    const size = 2 ** Math.ceil(Math.log2(length))
    this.#hop = Math.round((sampleRateHz * hopMs) / 1000)
    this.#samples = new Float32Array(length)
    this.#windowed = new Float32Array(length)
    this.#window = Float32Array.from({ length }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (i + 0.5)) / length))
    this.#spectrum = new PowerSpectrum(size)
    this.#power = new Float32Array(size / 2)
    this.#bands = bandsFor(sampleRateHz / size)
    const energy = this.#window.reduce((sum, weight) => sum + weight * weight, 0)
    this.#scale = 2 / (energy * size)
  }

  /** Takes mono 16-bit samples of any number; calls `each` for every window that is complete. */
  push(samples: Int16Array, each: (features: FrameFeatures) => void): void {
    const window = this.#samples
    let offset = 0
    while (offset < samples.length) {
      const count = Math.min(samples.length - offset, window.length - this.#filled)
      for (let i = 0; i < count; i++) {
        const sample = samples[offset + i]!
        window[this.#filled + i] = sample / 32_768
        if (sample !== 0) this.#soundTo = this.#filled + i + 1
      }
      this.#filled += count
      offset += count
      if (this.#filled < window.length) return
      // Who says nothing over a line that sends no noise costs nothing.
      each(this.#soundTo > 0 ? this.#measure() : { shape: new Float32Array(BANDS), power: 0 })
      window.copyWithin(0, this.#hop)
      this.#filled -= this.#hop
      this.#soundTo = Math.max(0, this.#soundTo - this.#hop)
    }
  }

  #measure(): FrameFeatures {
    for (let i = 0; i < this.#windowed.length; i++) this.#windowed[i] = this.#samples[i]! * this.#window[i]!
    this.#spectrum.compute(this.#windowed, this.#power)
    const shape = new Float32Array(BANDS)
    let total = 0
    for (let b = 0; b < BANDS; b++) {
      const { first, weights } = this.#bands[b]!
      let sum = 0
      for (let i = 0; i < weights.length; i++) sum += weights[i]! * this.#power[first + i]!
      shape[b] = sum * this.#scale
      total += shape[b]!
    }
    normalise(shape, total)
    return { shape, power: total }
  }
}

/** How alike two shapes are: 1 the same, about 0 unrelated. */
export function similarity(a: Float32Array, aOffset: number, b: Float32Array): number {
  let dot = 0
  for (let i = 0; i < BANDS; i++) dot += a[aOffset + i]! * b[i]!
  return dot
}

function normalise(shape: Float32Array, total: number): void {
  if (total <= 0) return
  let mean = 0
  for (let b = 0; b < BANDS; b++) {
    shape[b] = (shape[b]! / total) ** COMPRESSION
    mean += shape[b]! / BANDS
  }
  let norm = 0
  for (let b = 0; b < BANDS; b++) {
    shape[b] = shape[b]! - mean
    norm += shape[b]! * shape[b]!
  }
  const scale = norm > 0 ? 1 / Math.sqrt(norm) : 0
  for (let b = 0; b < BANDS; b++) shape[b] = shape[b]! * scale
}

interface Band {
  first: number
  weights: Float32Array
}

/** Of each width of a spectrum's bins there was: they are the same for every call. */
const madeBands = new Map<number, Band[]>()

function bandsFor(binHz: number): Band[] {
  const known = madeBands.get(binHz)
  if (known !== undefined) return known
  const bands = melBands(binHz)
  madeBands.set(binHz, bands)
  return bands
}

/** Triangular bands, evenly spaced on the mel scale (O'Shaughnessy 1987). `binHz`: width of a spectrum bin. */
function melBands(binHz: number): Band[] {
  const mel = (hz: number) => 2595 * Math.log10(1 + hz / 700)
  const hz = (m: number) => 700 * (10 ** (m / 2595) - 1)
  const step = (mel(HIGH_HZ) - mel(LOW_HZ)) / (BANDS + 1)
  const edge = (i: number) => hz(mel(LOW_HZ) + i * step)
  return Array.from({ length: BANDS }, (_, b) => {
    const [low, middle, high] = [edge(b), edge(b + 1), edge(b + 2)]
    const first = Math.ceil(low / binHz)
    const last = Math.max(first, Math.floor(high / binHz))
    const weights = Float32Array.from({ length: last - first + 1 }, (_, i) => {
      const f = (first + i) * binHz
      return Math.max(0, f <= middle ? (f - low) / (middle - low) : (high - f) / (high - middle))
    })
    // A band narrower than the bins still needs one.
    if (weights.every((weight) => weight === 0)) weights[0] = 1
    return { first, weights }
  })
}
