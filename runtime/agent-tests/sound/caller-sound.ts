import type { PhoneLine } from '../schema.ts'

/** How late a loudspeaker's sound is in its own microphone. */
const ECHO_MS = 60
/** Echo is kept of so much; more is no echo. */
const MAX_ECHO_MS = 2_000
/** How loud people speak on the telephone, until the caller has spoken (ITU-T P.56: −26 dB below full scale). */
const SPEECH_RMS = 0x8000 * gain(-26)

/** What a caller's microphone picks up: their voice, the noise around them, and what comes from the loudspeaker. */
export class CallerSound {
  readonly #noise: number
  readonly #echo: number
  readonly #samplesPerMs: number
  readonly #delay: number
  readonly #maxEcho: number
  readonly #random: () => number
  #voiceRms = SPEECH_RMS
  #saying: Int16Array | undefined
  #at = 0
  /** So many samples of the microphone were taken. */
  #taken = 0
  /** What the loudspeaker plays, the oldest first. */
  #heard: Int16Array[] = []

  /** @param random 0–1 */
  constructor(sampleRateHz: number, { noise_db, echo_db }: PhoneLine, random: () => number) {
    this.#noise = noise_db === undefined ? 0 : gain(noise_db)
    this.#echo = echo_db === undefined ? 0 : gain(echo_db)
    this.#samplesPerMs = sampleRateHz / 1_000
    this.#delay = ECHO_MS * this.#samplesPerMs
    this.#maxEcho = MAX_ECHO_MS * this.#samplesPerMs
    this.#random = random
  }

  get speaks(): boolean {
    return this.#saying !== undefined
  }

  say(samples: Int16Array): void {
    this.#saying = samples
    this.#at = 0
    this.#voiceRms = Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length)
  }

  /**
   * The loudspeaker plays this, behind what it plays still.
   * @param atMs when it came, since the microphone's first sample: one that is behind its time picks it up later
   */
  hear(samples: Int16Array, atMs: number): void {
    if (this.#echo === 0) return
    const ahead = Math.max(0, Math.round(atMs * this.#samplesPerMs) - this.#taken)
    if (this.#waiting <= ahead) this.#heard.push(new Int16Array(ahead + this.#delay - this.#waiting))
    this.#heard.push(samples.slice())
    while (this.#waiting > this.#maxEcho) this.#heard.shift()
  }

  /** Samples of the loudspeaker that the microphone has not picked up yet. */
  get #waiting(): number {
    return this.#heard.reduce((sum, one) => sum + one.length, 0)
  }

  /** The next samples of the microphone. */
  next(length: number): Int16Array {
    const out = new Int16Array(length)
    this.#taken += length
    const voice = this.#saying?.subarray(this.#at, this.#at + length)
    this.#at += length
    if (this.#saying !== undefined && this.#at >= this.#saying.length) this.#saying = undefined
    const echo = this.#echo === 0 ? undefined : this.#takeHeard(length)
    for (let i = 0; i < length; i++) {
      const noise = this.#noise === 0 ? 0 : this.#noise * this.#voiceRms * gaussian(this.#random)
      const sum = (voice?.[i] ?? 0) + (echo?.[i] ?? 0) * this.#echo + noise
      out[i] = Math.max(-0x8000, Math.min(0x7fff, Math.round(sum)))
    }
    return out
  }

  #takeHeard(length: number): Int16Array {
    const out = new Int16Array(length)
    for (let at = 0; at < length; ) {
      const first = this.#heard.shift()
      if (first === undefined) break
      const taken = first.subarray(0, length - at)
      out.set(taken, at)
      at += taken.length
      if (taken.length < first.length) this.#heard.unshift(first.subarray(taken.length))
    }
    return out
  }
}

/** Decibels as a factor. */
function gain(db: number): number {
  return 10 ** (db / 20)
}

/** One of the normal distribution, by the method of Box and Muller. */
function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
