/**
 * Joins an answer that broke off with its continuation by another model: a continuation that begins again from the
 * start loses the words that were said already.
 */
export class Overlap {
  readonly #said: string
  /** What came so far, white space before it aside, is this much of what was said. */
  #matched = 0
  /** The white space before it. */
  #lead = ''
  #decided: boolean

  constructor(said: string) {
    this.#said = said.trimStart()
    this.#decided = this.#said === ''
  }

  /** What of the next piece is new. */
  push(text: string): string {
    if (this.#decided) return text
    const piece = this.#matched === 0 ? this.#afterLead(text) : text
    if (this.#said.startsWith(piece, this.#matched)) {
      this.#matched += piece.length
      return ''
    }
    this.#decided = true
    const left = this.#said.length - this.#matched
    if (piece.startsWith(this.#said.slice(this.#matched))) return piece.slice(left)
    const held = this.#lead + this.#said.slice(0, this.#matched) + piece
    return /\s$/.test(this.#said) || /^[\s.,;:!?]/.test(held) ? held : ` ${held}`
  }

  #afterLead(text: string): string {
    const piece = text.trimStart()
    this.#lead += text.slice(0, text.length - piece.length)
    return piece
  }
}
