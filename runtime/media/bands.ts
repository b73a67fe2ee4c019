import { FRAME_MS } from './frame.ts'

/** Sound is looked at as on a telephone, in frames of 20 ms. */
const RATE_HZ = 8_000
const FRAME = (RATE_HZ * FRAME_MS) / 1000
const SIZE = 256
/** Edges of the bands, about a third of the ear's own. */
const EDGES_HZ = [200, 400, 600, 850, 1_150, 1_500, 1_950, 2_500, 3_300]
export const BANDS = EDGES_HZ.length - 1
/** Below this nothing is told apart: dB of full scale. */
export const FLOOR_DB = -75

const hann = Float64Array.from({ length: SIZE }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (n + 0.5)) / SIZE))
const cosines = Float64Array.from({ length: SIZE / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / SIZE))
const sines = Float64Array.from({ length: SIZE / 2 }, (_, k) => Math.sin((2 * Math.PI * k) / SIZE))
const reversed = Uint8Array.from({ length: SIZE }, (_, i) => {
  let out = 0
  for (let bit = 1, mask = SIZE >> 1; bit < SIZE; bit <<= 1, mask >>= 1) if (i & bit) out |= mask
  return out
})
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
  readonly #re = new Float64Array(SIZE)
  readonly #im = new Float64Array(SIZE)

  /** @param sampleRateHz 8,000 or more */
  constructor(sampleRateHz: number) {
    this.#rateHz = sampleRateHz
  }

  /** Levels of the frames that these samples complete. */
  push(samples: Int16Array): Float32Array[] {
    const frames: Float32Array[] = []
    for (let i = 0; i < samples.length; i++) {
      this.#sum += samples[i]!
      this.#summed++
      this.#phase += RATE_HZ
      if (this.#phase < this.#rateHz) continue
      this.#phase -= this.#rateHz
      this.#window[SIZE - FRAME + this.#filled++] = this.#sum / this.#summed
      this.#sum = 0
      this.#summed = 0
      if (this.#filled < FRAME) continue
      frames.push(this.#levels())
      this.#filled = 0
      this.#window.copyWithin(0, FRAME)
    }
    return frames
  }

  #levels(): Float32Array {
    const re = this.#re
    const im = this.#im
    for (let i = 0; i < SIZE; i++) re[reversed[i]!] = this.#window[i]! * hann[i]!
    im.fill(0)
    transform(re, im)
    const out = new Float32Array(BANDS)
    for (let band = 0; band < BANDS; band++) {
      let energy = 0
      const to = Math.round((EDGES_HZ[band + 1]! * SIZE) / RATE_HZ)
      for (let k = Math.round((EDGES_HZ[band]! * SIZE) / RATE_HZ); k < to; k++) energy += re[k]! ** 2 + im[k]! ** 2
      out[band] = Math.max(FLOOR_DB, 10 * Math.log10(energy * SCALE * SCALE + 1e-12))
    }
    return out
  }
}

/** Fast Fourier transform in place of bit-reversed input (Cooley and Tukey). */
function transform(re: Float64Array, im: Float64Array): void {
  for (let half = 1; half < SIZE; half <<= 1) {
    const stride = SIZE / 2 / half
    for (let start = 0; start < SIZE; start += 2 * half) {
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
