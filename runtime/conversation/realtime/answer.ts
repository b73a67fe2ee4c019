/** Sound of one answer at most: far beyond any reply to a caller. */
const MAX_ANSWER_MS = 5 * 60_000

/** The sound of one answer, as it comes. Read once. */
export class AnswerAudio {
  readonly sampleRateHz: number
  readonly #chunks: Int16Array<ArrayBuffer>[] = []
  #changed = Promise.withResolvers<void>()
  #end: { error: unknown } | undefined
  #samples = 0

  constructor(sampleRateHz: number) {
    this.sampleRateHz = sampleRateHz
  }

  /** All that came until now. */
  get lengthMs(): number {
    return (this.#samples * 1000) / this.sampleRateHz
  }

  push(samples: Int16Array<ArrayBuffer>): void {
    if (this.#end !== undefined || samples.length === 0) return
    this.#samples += samples.length
    if (this.lengthMs > MAX_ANSWER_MS) this.fail(new Error('the answer does not end'))
    else this.#chunks.push(samples)
    this.#change()
  }

  end(): void {
    this.fail(undefined)
  }

  /** It broke off. */
  fail(error: unknown): void {
    this.#end ??= { error }
    this.#change()
  }

  /** Throws what it broke off with. */
  async *read(): AsyncGenerator<Int16Array<ArrayBuffer>> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) yield chunk
      else if (this.#end === undefined) await this.#changed.promise
      else if (this.#end.error === undefined) return
      else throw this.#end.error
    }
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
