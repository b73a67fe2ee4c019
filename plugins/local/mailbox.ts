/** What comes in its own time, to be taken in order by one reader. What is put after the end is dropped. */
export class Mailbox<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = []
  #isOver = false
  #failure: Error | undefined
  #wake: () => void = () => undefined

  put(item: T): void {
    if (!this.#isOver) this.#waiting.push(item)
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  /** Thrown to the reader once it has taken what came before. */
  fail(error: Error): void {
    this.#failure ??= error
    this.end()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) yield next
      else if (this.#isOver) {
        if (this.#failure !== undefined) throw this.#failure
        return
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}
