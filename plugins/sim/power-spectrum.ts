/** Power spectra of real windows by a radix-2 FFT whose tables are made once. */
export class PowerSpectrum {
  readonly #size: number
  readonly #cos: Float32Array
  readonly #sin: Float32Array
  readonly #reversed: Uint32Array
  readonly #re: Float32Array
  readonly #im: Float32Array

  /** `size` is a power of two, in samples. */
  constructor(size: number) {
    this.#size = size
    this.#re = new Float32Array(size)
    this.#im = new Float32Array(size)
    this.#cos = Float32Array.from({ length: size / 2 }, (_, i) => Math.cos((2 * Math.PI * i) / size))
    this.#sin = Float32Array.from({ length: size / 2 }, (_, i) => -Math.sin((2 * Math.PI * i) / size))
    const bits = Math.log2(size)
    this.#reversed = Uint32Array.from({ length: size }, (_, i) => reverseBits(i, bits))
  }

  /** Writes |X(k)|² of `input` (at most `size` samples, the rest counts as zero) for k < size/2 into `power`. */
  compute(input: Float32Array, power: Float32Array): void {
    const size = this.#size
    const re = this.#re
    const im = this.#im
    for (let i = 0; i < size; i++) re[this.#reversed[i]!] = i < input.length ? input[i]! : 0
    im.fill(0)
    for (let half = 1; half < size; half *= 2) {
      const stride = size / (2 * half)
      for (let start = 0; start < size; start += 2 * half) {
        for (let k = 0; k < half; k++) {
          const wr = this.#cos[k * stride]!
          const wi = this.#sin[k * stride]!
          const a = start + k
          const b = a + half
          const tr = wr * re[b]! - wi * im[b]!
          const ti = wr * im[b]! + wi * re[b]!
          re[b] = re[a]! - tr
          im[b] = im[a]! - ti
          re[a] = re[a]! + tr
          im[a] = im[a]! + ti
        }
      }
    }
    for (let k = 0; k < size / 2; k++) power[k] = re[k]! * re[k]! + im[k]! * im[k]!
  }
}

function reverseBits(value: number, bits: number): number {
  let reversed = 0
  for (let bit = 0; bit < bits; bit++) reversed |= ((value >> bit) & 1) << (bits - 1 - bit)
  return reversed
}
