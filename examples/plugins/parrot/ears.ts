import type { SttEvent } from '@patchbay/plugin'

/** Louder than this is speech. */
const LOUD = 500
/** Silence that ends an utterance. */
const PAUSE_S = 0.5

/** Hears one utterance after the other, and how long each was: `heard 3 tenths`. */
export class InboundAudio {
  readonly #rateHz: number
  #samples = 0
  #fromS: number | undefined
  #untilS = 0

  constructor(rateHz: number) {
    this.#rateHz = rateHz
  }

  *push(samples: Int16Array): Generator<SttEvent> {
    const startS = this.#samples / this.#rateHz
    this.#samples += samples.length
    const nowS = this.#samples / this.#rateHz
    if (samples.some((sample) => Math.abs(sample) > LOUD)) {
      this.#fromS ??= startS
      this.#untilS = nowS
      yield { type: 'interim', ...this.#words() }
    } else if (this.#fromS !== undefined && nowS - this.#untilS >= PAUSE_S) yield* this.end()
  }

  *end(): Generator<SttEvent> {
    if (this.#fromS === undefined) return
    yield { type: 'final', ...this.#words() }
    this.#fromS = undefined
  }

  #words() {
    const startS = this.#fromS ?? 0
    const tenths = Math.round((this.#untilS - startS) * 10)
    return { text: `heard ${tenths} tenths`, startS, endS: this.#untilS, confidence: 1 }
  }
}
