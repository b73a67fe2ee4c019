/** The caller's sound on its way into a session, in order: some waits until it is known to be a turn. */
export class HeldSound {
  readonly #send: (samples: Int16Array) => void
  #waiting: Int16Array[] = []
  /** Sound went out that is no item yet. */
  #wasSent = false

  constructor(send: (samples: Int16Array) => void) {
    this.#send = send
  }

  take(samples: Int16Array, mustWait: boolean): void {
    this.#waiting.push(samples)
    if (!mustWait) this.#flush()
  }

  /** It is a turn: what waits goes out. */
  commit(): void {
    this.#flush()
    this.#wasSent = false
  }

  /** It is none. True: some went out already. */
  drop(): boolean {
    const wasSent = this.#wasSent
    this.#waiting = []
    this.#wasSent = false
    return wasSent
  }

  #flush(): void {
    for (const samples of this.#waiting.splice(0)) {
      this.#wasSent = true
      this.#send(samples)
    }
  }
}
