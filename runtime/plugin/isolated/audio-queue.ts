/** Audio of one caller that its recogniser has not taken; what is older is dropped. */
const MAX_WAITING = 1_000

/** Audio on its way to a recogniser. Imports nothing: it runs in Deno, too. */
export class AudioQueue implements AsyncIterable<Int16Array> {
  readonly #waiting: Int16Array[] = []
  #ended = false
  #wake: () => void = () => undefined

  push(samples: Int16Array): void {
    if (this.#waiting.length >= MAX_WAITING) this.#waiting.shift()
    this.#waiting.push(samples)
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Int16Array> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) yield next
      else if (this.#ended) return
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}
