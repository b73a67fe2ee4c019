const HALF_TAPS = 12
const PHASES = 128

/** Changes the rate of a stream of samples by a windowed sinc. Delay: 12 samples of the lower rate. */
export class Resampler {
  readonly #step: number
  readonly #half: number
  readonly #table: Float32Array[]
  #held: Float32Array
  /** Of the next sample, within #held. */
  #at: number

  constructor(fromHz: number, toHz: number) {
    this.#step = fromHz / toHz
    const cutoff = Math.min(1, toHz / fromHz)
    const half = Math.ceil(HALF_TAPS / cutoff)
    this.#half = half
    this.#table = Array.from({ length: PHASES }, (_, phase) => {
      const taps = Float32Array.from({ length: 2 * half }, (_, i) => {
        const x = i - half + 1 - phase / PHASES
        const sinc = x === 0 ? 1 : Math.sin(Math.PI * x * cutoff) / (Math.PI * x * cutoff)
        return Math.abs(x) >= half ? 0 : sinc * (0.5 + 0.5 * Math.cos((Math.PI * x) / half))
      })
      const sum = taps.reduce((a, b) => a + b, 0)
      return taps.map((tap) => tap / sum)
    })
    this.#held = new Float32Array(half)
    this.#at = half
  }

  push(samples: Float32Array): Float32Array {
    if (this.#step === 1) return samples
    const half = this.#half
    const all = new Float32Array(this.#held.length + samples.length)
    all.set(this.#held)
    all.set(samples, this.#held.length)
    const out: number[] = []
    for (; this.#at + half < all.length; this.#at += this.#step) {
      const base = Math.floor(this.#at)
      const taps = this.#table[Math.floor((this.#at - base) * PHASES)]!
      let sum = 0
      for (let i = 0; i < taps.length; i++) sum += all[base - half + 1 + i]! * taps[i]!
      out.push(sum)
    }
    const used = Math.max(0, Math.floor(this.#at) - half)
    this.#held = all.slice(used)
    this.#at -= used
    return Float32Array.from(out)
  }
}
