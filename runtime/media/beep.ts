/** Tones between these may be the beep of an answering machine. */
const LOWEST_HZ = 350
const HIGHEST_HZ = 2_600
const WINDOW_MS = 20
/** A beep lasts at least this long; a longer sound than the second is music or a line's own tone. */
const MIN_BEEP_MS = 160
const MAX_BEEP_MS = 3_000
/** RMS, in 16-bit samples: about -44 dB of full scale. */
const MIN_LEVEL = 200
/** What one sine doesn't explain of a window's energy. Speech has several at once, and glides. */
const MAX_RESIDUE = 0.02
/** How far the pitch may wander from one window to the next, and the level from the beginning. */
const MAX_DRIFT = 0.03
const MAX_LEVEL_RATIO = 2.5
/** The tone is over once a window is this much quieter. */
const END_LEVEL_RATIO = 0.25

/**
 * Hears the beep after which an answering machine records: one steady sine, then silence. Works on windows of 20 ms. Pure.
 *
 * A sine obeys x[n] + x[n-2] = 2·cos(ω)·x[n-1]; the least-squares fit of that gives its pitch, and what the fit leaves
 * tells a tone from anything else.
 */
export class BeepDetector {
  readonly #step: number
  readonly #windowSamples: number
  #rest = new Float64Array(0)
  #toneMs = 0
  #toneHz = 0
  #toneLevel = 0
  #ending = false

  /** @param sampleRateHz a multiple of 8,000: the beep is looked for at 8 kHz */
  constructor(sampleRateHz: number) {
    this.#step = sampleRateHz / 8_000
    if (!Number.isInteger(this.#step))
      throw new RangeError(`Beeps are found at multiples of 8,000 Hz, not ${sampleRateHz}`)
    this.#windowSamples = (8_000 * WINDOW_MS) / 1000
  }

  /** True when a beep ended within these samples: now is the time to speak. */
  push(samples: Int16Array): boolean {
    const all = new Float64Array(this.#rest.length + Math.floor(samples.length / this.#step))
    all.set(this.#rest)
    for (let i = this.#rest.length, at = 0; i < all.length; i++) {
      let sum = 0
      for (let k = 0; k < this.#step; k++) sum += samples[at++]!
      all[i] = sum / this.#step
    }
    let ended = false
    let from = 0
    for (; from + this.#windowSamples <= all.length; from += this.#windowSamples) {
      if (this.#window(all.subarray(from, from + this.#windowSamples))) ended = true
    }
    this.#rest = all.slice(from)
    return ended
  }

  #window(x: Float64Array): boolean {
    const { hz, level, residue } = fitSine(x)
    const isTone = level >= MIN_LEVEL && residue <= MAX_RESIDUE && hz >= LOWEST_HZ && hz <= HIGHEST_HZ
    const goesOn =
      isTone &&
      Math.abs(hz - this.#toneHz) <= MAX_DRIFT * this.#toneHz &&
      level <= this.#toneLevel * MAX_LEVEL_RATIO &&
      level * MAX_LEVEL_RATIO >= this.#toneLevel
    if (goesOn) {
      this.#toneMs += WINDOW_MS
      return false
    }
    const wasBeep = this.#toneMs >= MIN_BEEP_MS && this.#toneMs <= MAX_BEEP_MS
    const ended = wasBeep && level <= this.#toneLevel * END_LEVEL_RATIO
    // The window in which a tone ends holds some of both: the next one tells.
    if (wasBeep && !ended && !isTone && !this.#ending) {
      this.#ending = true
      return false
    }
    this.#ending = false
    this.#toneMs = isTone ? WINDOW_MS : 0
    this.#toneHz = hz
    this.#toneLevel = level
    return ended
  }
}

function fitSine(x: Float64Array): { hz: number; level: number; residue: number } {
  let cross = 0
  let square = 0
  let energy = 0
  for (let n = 2; n < x.length; n++) {
    const middle = x[n - 1]!
    cross += middle * (x[n]! + x[n - 2]!)
    square += middle * middle
    energy += x[n]! * x[n]!
  }
  const level = Math.sqrt(energy / (x.length - 2))
  if (square === 0) return { hz: 0, level, residue: 1 }
  const c = cross / square
  let left = 0
  for (let n = 2; n < x.length; n++) left += (x[n]! + x[n - 2]! - c * x[n - 1]!) ** 2
  const hz = Math.abs(c) >= 2 ? 0 : (Math.acos(c / 2) * 8_000) / (2 * Math.PI)
  return { hz, level, residue: left / energy }
}
