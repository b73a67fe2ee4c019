const RATE_HZ = 8_000
const WINDOW_MS = 20
const WINDOW_SAMPLES = (RATE_HZ * WINDOW_MS) / 1000
/** Where tones of a telephone line are looked for. */
const LOWEST_HZ = 300
const HIGHEST_HZ = 3_400
const BIN_HZ = 25
/** RMS, in 16-bit samples: about -46 dB of full scale. */
const MIN_LEVEL = 160
/** Share of a window's energy that one sine explains: 20 dB of noise under the tone leave 0.99, a vowel's harmonics less. */
const MIN_SHARE = 0.9
/** How far the pitch may wander from the tone's own, and the level. */
const MAX_DRIFT = 0.015
const MAX_LEVEL_RATIO = 2
/** A tone is over in silence once a window is this much quieter. */
const QUIET_RATIO = 0.25

/** A span of one steady sine, reported when it ends. Times in ms since the first sample. */
export interface Tone {
  hz: number
  startMs: number
  lengthMs: number
  /** Silence follows, not speech or another sound. */
  quiet: boolean
}

/**
 * Finds stretches of one steady sine on a telephone line, in windows of 20 ms. A length is right to about 40 ms. What is
 * made of two tones (ringback, DTMF) or is modulated does not match. Pure.
 */
export class ToneTracker {
  readonly #step: number
  #rest = new Float64Array(0)
  #windows = 0
  /** The tone that sounds: its windows so far, mean pitch and level. */
  #count = 0
  #hz = 0
  #level = 0
  /** The window in which a tone ends holds some of both: the next one tells what follows. */
  #ended: Omit<Tone, 'quiet'> | undefined
  #endedLevel = 0

  /** @param sampleRateHz a multiple of 8,000: tones are looked for at 8 kHz */
  constructor(sampleRateHz: number) {
    this.#step = sampleRateHz / RATE_HZ
    if (!Number.isInteger(this.#step))
      throw new RangeError(`Tones are found at multiples of ${RATE_HZ} Hz, not ${sampleRateHz}`)
  }

  /** The tone that sounds now, and how long it has. */
  get sounding(): { hz: number; lengthMs: number } | undefined {
    return this.#count === 0 ? undefined : { hz: this.#hz, lengthMs: this.#count * WINDOW_MS }
  }

  /** The tones that ended within these samples. */
  push(samples: Int16Array): Tone[] {
    const all = new Float64Array(this.#rest.length + Math.floor(samples.length / this.#step))
    all.set(this.#rest)
    for (let i = this.#rest.length, at = 0; i < all.length; i++) {
      let sum = 0
      for (let k = 0; k < this.#step; k++) sum += samples[at++]!
      all[i] = sum / this.#step
    }
    const tones: Tone[] = []
    let from = 0
    for (; from + WINDOW_SAMPLES <= all.length; from += WINDOW_SAMPLES) {
      const tone = this.#window(all.subarray(from, from + WINDOW_SAMPLES))
      if (tone !== undefined) tones.push(tone)
    }
    this.#rest = all.slice(from)
    return tones
  }

  #window(x: Float64Array): Tone | undefined {
    this.#windows++
    const level = rms(x)
    let told: Tone | undefined
    if (this.#ended !== undefined) {
      told = { ...this.#ended, quiet: level <= this.#endedLevel * QUIET_RATIO }
      this.#ended = undefined
    }
    const sine = level < MIN_LEVEL ? undefined : strongestSine(x)
    const isTone = sine !== undefined && sine.share >= MIN_SHARE
    if (this.#count > 0) {
      if (isTone && this.#goesOn(sine.hz, level)) {
        this.#count++
        this.#hz += (sine.hz - this.#hz) / this.#count
        return told
      }
      const lengthMs = this.#count * WINDOW_MS
      this.#ended = { hz: this.#hz, startMs: (this.#windows - 1) * WINDOW_MS - lengthMs, lengthMs }
      this.#endedLevel = this.#level
    }
    this.#count = isTone ? 1 : 0
    this.#hz = sine?.hz ?? 0
    this.#level = level
    return told
  }

  #goesOn(hz: number, level: number): boolean {
    return (
      Math.abs(hz - this.#hz) <= MAX_DRIFT * this.#hz &&
      level <= this.#level * MAX_LEVEL_RATIO &&
      level * MAX_LEVEL_RATIO >= this.#level
    )
  }
}

const BINS = (HIGHEST_HZ - LOWEST_HZ) / BIN_HZ + 1
/** Windowed cosines and sines of each bin, and the window alone. */
const cosines = new Float64Array(BINS * WINDOW_SAMPLES)
const sines = new Float64Array(BINS * WINDOW_SAMPLES)
for (let bin = 0; bin < BINS; bin++) {
  const omega = (2 * Math.PI * (LOWEST_HZ + bin * BIN_HZ)) / RATE_HZ
  for (let n = 0; n < WINDOW_SAMPLES; n++) {
    const hann = 0.5 - 0.5 * Math.cos((2 * Math.PI * (n + 0.5)) / WINDOW_SAMPLES)
    cosines[bin * WINDOW_SAMPLES + n] = hann * Math.cos(omega * n)
    sines[bin * WINDOW_SAMPLES + n] = hann * Math.sin(omega * n)
  }
}

/** The sine that explains most of a window: its pitch by interpolated peak, its share by least squares. */
function strongestSine(x: Float64Array): { hz: number; share: number } {
  const power = new Float64Array(BINS)
  let best = 0
  for (let bin = 0; bin < BINS; bin++) {
    const row = bin * WINDOW_SAMPLES
    let re = 0
    let im = 0
    for (let n = 0; n < WINDOW_SAMPLES; n++) {
      re += cosines[row + n]! * x[n]!
      im += sines[row + n]! * x[n]!
    }
    power[bin] = re * re + im * im
    if (power[bin]! > power[best]!) best = bin
  }
  let shift = 0
  if (best > 0 && best < BINS - 1) {
    const [a, b, c] = [power[best - 1]!, power[best]!, power[best + 1]!].map((value) => Math.log(value + 1e-9))
    shift = (a! - c!) / (2 * (a! - 2 * b! + c!))
  }
  const hz = LOWEST_HZ + (best + shift) * BIN_HZ
  return { hz, share: shareOf(x, hz) }
}

function shareOf(x: Float64Array, hz: number): number {
  const omega = (2 * Math.PI * hz) / RATE_HZ
  let cc = 0
  let ss = 0
  let cs = 0
  let xc = 0
  let xs = 0
  let energy = 0
  for (let n = 0; n < x.length; n++) {
    const c = Math.cos(omega * n)
    const s = Math.sin(omega * n)
    cc += c * c
    ss += s * s
    cs += c * s
    xc += x[n]! * c
    xs += x[n]! * s
    energy += x[n]! * x[n]!
  }
  const determinant = cc * ss - cs * cs
  if (energy === 0 || determinant === 0) return 0
  const a = (xc * ss - xs * cs) / determinant
  const b = (xs * cc - xc * cs) / determinant
  return (a * xc + b * xs) / energy
}

function rms(x: Float64Array): number {
  let energy = 0
  for (const value of x) energy += value * value
  return Math.sqrt(energy / x.length)
}
