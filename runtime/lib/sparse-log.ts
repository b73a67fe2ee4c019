/** Lets a line about the same thing through once in an interval, with how often it was left out in between. */
export class SparseLog {
  readonly #intervalMs: number
  readonly #nowMs: () => number
  readonly #said = new Map<string, { atMs: number; leftOut: number }>()

  constructor(intervalMs: number, nowMs: () => number) {
    this.#intervalMs = intervalMs
    this.#nowMs = nowMs
  }

  /** `write` gets how many lines about `about` were left out since the last one. */
  say(about: string, write: (leftOut: number) => void): void {
    const now = this.#nowMs()
    const last = this.#said.get(about)
    if (last !== undefined && now - last.atMs < this.#intervalMs) {
      last.leftOut += 1
      return
    }
    for (const [key, { atMs }] of this.#said) if (now - atMs > 2 * this.#intervalMs) this.#said.delete(key)
    this.#said.set(about, { atMs: now, leftOut: 0 })
    write(last?.leftOut ?? 0)
  }
}
