/**
 * Joins an answer that broke off with its continuation by another model: a continuation that begins again from the
 * start loses the words that were said already.
 */
export class Overlap {
  readonly #said: string
  #held = ''
  #decided: boolean

  constructor(said: string) {
    this.#said = said.trimStart()
    this.#decided = this.#said === ''
  }

  /** What of the next piece is new. */
  push(text: string): string {
    if (this.#decided) return text
    this.#held += text
    const held = this.#held.trimStart()
    if (this.#said.startsWith(held)) return ''
    this.#decided = true
    if (held.startsWith(this.#said)) return held.slice(this.#said.length)
    const joined = /\s$/.test(this.#said) || /^[\s.,;:!?]/.test(this.#held) ? this.#held : ` ${this.#held}`
    return joined
  }
}
