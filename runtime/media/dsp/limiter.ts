/** 3 dB below full scale: networks raise the level on the way, and G.711 clips hard. */
const CEILING = 23_197
/** How soon the level falls before a peak, from all to nothing. */
const ATTACK_MS = 4
/** How soon it rises again: slower than a vowel's period, faster than a word. */
const RELEASE_MS = 120

/**
 * Turns a voice down where it is louder than a telephone line carries, for as long as it is; all else passes as it is. Keeps the
 * state of one stream. Pure.
 */
export class Limiter {
  readonly #fall: number
  readonly #rise: number
  #gain = 1

  constructor(sampleRateHz: number) {
    this.#fall = 1000 / (ATTACK_MS * sampleRateHz)
    this.#rise = 1000 / (RELEASE_MS * sampleRateHz)
  }

  /** The same samples where none is too loud. */
  push(samples: Int16Array): Int16Array {
    if (this.#gain === 1 && samples.every((sample) => sample <= CEILING && sample >= -CEILING)) return samples
    const gains = new Float64Array(samples.length)
    // Backwards: the level falls before the peak, so that the peak keeps its shape.
    let gain = 1
    for (let i = samples.length - 1; i >= 0; i--) {
      gain = Math.min(1, gain + this.#fall, CEILING / Math.abs(samples[i]!))
      gains[i] = gain
    }
    gain = this.#gain
    const out = new Int16Array(samples.length)
    for (let i = 0; i < samples.length; i++) {
      gain = Math.min(gain + this.#rise, gains[i]!)
      out[i] = Math.trunc(samples[i]! * gain)
    }
    this.#gain = gain
    return out
  }
}
