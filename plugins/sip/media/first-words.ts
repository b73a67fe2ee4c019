/** Louder than a line's noise, and than breath. */
const LOUD_PEAK = 700
/** A click is no word. */
const WORD_MS = 160
const PAUSE_MS = 500

/** Detects when a callee has said their first words and waits for an answer. Pure. */
export class FirstWords {
  readonly #sampleRateHz: number
  #loudMs = 0
  #quietMs = 0

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz
  }

  /** True once something was said and a pause has followed. */
  push(samples: Int16Array): boolean {
    const ms = (samples.length * 1_000) / this.#sampleRateHz
    if (samples.some((sample) => Math.abs(sample) > LOUD_PEAK)) {
      this.#loudMs += ms
      this.#quietMs = 0
    } else this.#quietMs += ms
    return this.#loudMs >= WORD_MS && this.#quietMs >= PAUSE_MS
  }
}
