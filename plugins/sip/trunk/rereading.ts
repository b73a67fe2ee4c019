/**
 * Reads something anew after each change of it: one reading at a time, and one more after it for all changes that came meanwhile,
 * which it may have missed.
 */
export class Rereading {
  readonly #read: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  /** @param read rejects never: what failed is tried again with the next change */
  constructor(read: () => Promise<void>) {
    this.#read = read
  }

  /** Resolves once what there was at the time of the call has been read, or could not be. */
  again(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#read().finally(() => {
        this.#running = undefined
      })
      return this.#running
    }
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      return this.again()
    })
    return this.#next
  }
}
