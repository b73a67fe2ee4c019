/** How a voice is to say a word it would say wrong. */
export interface PronouncedWord {
  word: string
  say: string
}

/**
 * Writes words as the voice is to say them, in a text that comes in pieces. A word is replaced where it stands alone, in
 * any case of letters; of several that fit, the longest.
 */
export class Pronunciation {
  readonly #say = new Map<string, string>()
  readonly #pattern: RegExp | undefined
  /** The last words of a text that may still be the start of a longer one. */
  readonly #maxHeld: number
  #held = ''

  constructor(words: readonly PronouncedWord[]) {
    for (const { word, say } of words) if (word.trim() !== '') this.#say.set(fold(word.trim()), say)
    const longestFirst = [...this.#say.keys()].sort((a, b) => b.length - a.length)
    this.#maxHeld = longestFirst[0]?.length ?? 0
    if (longestFirst.length === 0) return
    const any = longestFirst.map((word) => literal(word).replace(/\s+/g, '\\s+')).join('|')
    this.#pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})(?![\\p{L}\\p{N}])`, 'giu')
  }

  /** Takes more text; returns what can be spoken of it by now. */
  push(text: string): string {
    if (this.#pattern === undefined) return text
    this.#held += text
    const from = this.#heldFrom()
    const ready = this.#held.slice(0, from)
    this.#held = this.#held.slice(from)
    return this.#replaced(ready)
  }

  /** What is left. */
  flush(): string {
    const rest = this.#held
    this.#held = ''
    return this.#replaced(rest)
  }

  #replaced(text: string): string {
    if (this.#pattern === undefined) return text
    return text.replace(this.#pattern, (found) => this.#say.get(fold(found)) ?? found)
  }

  /** Where the part begins that more text may change: the last word, and words before it that begin an entry. */
  #heldFrom(): number {
    const text = this.#held
    // Nothing before can be the start of an entry that ends behind the text.
    const start = new RegExp(WORD_START)
    start.lastIndex = Math.max(0, text.length - this.#maxHeld - MAX_SPACES)
    for (let found = start.exec(text); found !== null; found = start.exec(text)) {
      const rest = fold(text.slice(found.index))
      start.lastIndex = found.index + 1
      if (rest.length > this.#maxHeld) continue
      for (const word of this.#say.keys()) if (word.startsWith(rest)) return found.index
    }
    return text.length
  }
}

/** Spaces and line breaks beyond one, between the words of an entry. */
const MAX_SPACES = 32
const WORD_START = /(?<![\p{L}\p{N}])(?=\S)/gu

const fold = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ')
const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
