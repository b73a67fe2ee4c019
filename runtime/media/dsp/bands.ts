import { FRAME_MS } from '../frame.ts'

/** Sound is looked at as on a telephone, in frames of 20 ms. */
const RATE_HZ = 8_000
const FRAME = (RATE_HZ * FRAME_MS) / 1000
const SIZE = 256
/** A transform of real samples takes them as half as many complex ones. */
const HALF = SIZE / 2
/** Edges of the bands, about a third of the ear's own. */
const EDGES_HZ = [200, 400, 600, 850, 1_150, 1_500, 1_950, 2_500, 3_300]
export const BANDS = EDGES_HZ.length - 1
/**
 * The level of each band. Not a typed array: those have memory of their own outside the heap, and of some thousands a second that live for
 * seconds the garbage collector would give back each by itself, for tens of milliseconds at once.
 */
export type Levels = readonly number[]
/** Noise floor in dB of full scale. */
export const FLOOR_DB = -75

const hann = Float64Array.from({ length: SIZE }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (n + 0.5)) / SIZE))
const cosines = Float64Array.from({ length: HALF }, (_, k) => Math.cos((2 * Math.PI * k) / SIZE))
const sines = Float64Array.from({ length: HALF }, (_, k) => Math.sin((2 * Math.PI * k) / SIZE))
const reversed = Uint8Array.from({ length: HALF }, (_, i) => {
  let out = 0
  for (let bit = 1, mask = HALF >> 1; bit < HALF; bit <<= 1, mask >>= 1) if (i & bit) out |= mask
  return out
})
/** Of each band, the first bin and the one after its last. */
const BINS = EDGES_HZ.map((hz) => Math.round((hz * SIZE) / RATE_HZ))
/** A sine of full scale has 0 dB. */
const SCALE = 4 / (SIZE * 32_768)

/** Cuts sound into frames of 20 ms and tells the level of each in eight bands, in dB of full scale. Pure. */
export class BandLevels {
  readonly #rateHz: number
  readonly #window = new Float64Array(SIZE)
  #filled = 0
  #sum = 0
  #summed = 0
  /** Counts input samples in 1/8,000 of a second. */
  #phase = 0
  readonly #re = new Float64Array(HALF)
  readonly #im = new Float64Array(HALF)

  /** @param sampleRateHz 8,000 or more */
  constructor(sampleRateHz: number) {
    this.#rateHz = sampleRateHz
  }

  /** Levels of the frames that these samples complete. */
  push(samples: Int16Array): Levels[] {
    const frames: Levels[] = []
    this.#take(samples, () => frames.push(this.#levels()))
    return frames
  }

  /** Takes samples without computing levels; returns the number of frames they complete. */
  skip(samples: Int16Array): number {
    let frames = 0
    this.#take(samples, () => frames++)
    return frames
  }

  #take(samples: Int16Array, frame: () => void): void {
    let sum = this.#sum
    let summed = this.#summed
    let phase = this.#phase
    for (let i = 0; i < samples.length; i++) {
      sum += samples[i]!
      summed++
      phase += RATE_HZ
      if (phase < this.#rateHz) continue
      phase -= this.#rateHz
      this.#window[SIZE - FRAME + this.#filled++] = sum / summed
      sum = 0
      summed = 0
      if (this.#filled < FRAME) continue
      frame()
      this.#filled = 0
      this.#window.copyWithin(0, FRAME)
    }
    this.#sum = sum
    this.#summed = summed
    this.#phase = phase
  }

  #levels(): Levels {
    const re = this.#re
    const im = this.#im
    for (let i = 0; i < HALF; i++) {
      re[reversed[i]!] = this.#window[2 * i]! * hann[2 * i]!
      im[reversed[i]!] = this.#window[2 * i + 1]! * hann[2 * i + 1]!
    }
    transform(re, im)
    const out: number[] = []
    for (let band = 0; band < BANDS; band++) {
      let energy = 0
      for (let k = BINS[band]!; k < BINS[band + 1]!; k++) energy += energyOf(k, re, im)
      out.push(Math.max(FLOOR_DB, 10 * Math.log10(energy * SCALE * SCALE + 1e-12)))
    }
    return out
  }
}

/** Energy of bin `k` (1 to HALF - 1) of the real samples whose even and odd ones were transformed as one complex run. */
function energyOf(k: number, re: Float64Array, im: Float64Array): number {
  const evenRe = (re[k]! + re[HALF - k]!) / 2
  const evenIm = (im[k]! - im[HALF - k]!) / 2
  const oddRe = (im[k]! + im[HALF - k]!) / 2
  const oddIm = (re[HALF - k]! - re[k]!) / 2
  const x = evenRe + oddRe * cosines[k]! + oddIm * sines[k]!
  const y = evenIm + oddIm * cosines[k]! - oddRe * sines[k]!
  return x * x + y * y
}

/** Fast Fourier transform in place of bit-reversed input (Cooley and Tukey). */
function transform(re: Float64Array, im: Float64Array): void {
  for (let half = 1; half < HALF; half <<= 1) {
    const stride = HALF / half
    for (let start = 0; start < HALF; start += 2 * half) {
      for (let k = 0; k < half; k++) {
        const a = start + k
        const b = a + half
        const c = cosines[k * stride]!
        const s = sines[k * stride]!
        const tr = re[b]! * c + im[b]! * s
        const ti = im[b]! * c - re[b]! * s
        re[b] = re[a]! - tr
        im[b] = im[a]! - ti
        re[a]! += tr
        im[a]! += ti
      }
    }
  }
}
