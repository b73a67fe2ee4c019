/** How a language parts its words: by blanks, or not at all. */
export type Writing = 'spaced' | 'unspaced'

/**
 * The words of a text as they are spoken, accents kept: `sí` is no `si`. Of a language without blanks each character is a word.
 */
export function spokenWords(text: string, writing: Writing = 'spaced'): string[] {
  const words =
    text
      .normalize('NFC')
      .toLowerCase()
      // A dotted capital I of Turkish leaves its dot behind.
      .replaceAll('i\u0307', 'i')
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return writing === 'spaced' ? words : words.flatMap((word) => [...word])
}

/** Phrases that are found word by word. */
export class PhraseList {
  readonly #phrases: ReadonlySet<string>
  readonly #longest: number
  readonly #writing: Writing

  /** @param text phrases between commas or line ends */
  constructor(text: string, writing: Writing = 'spaced') {
    const phrases = text
      .split(/[,、\n]/)
      .map((phrase) => spokenWords(phrase, writing))
      .filter(({ length }) => length > 0)
    this.#writing = writing
    this.#phrases = new Set(phrases.map((words) => words.join(' ')))
    this.#longest = Math.max(0, ...phrases.map(({ length }) => length))
  }

  get size(): number {
    return this.#phrases.size
  }

  /** The text is one of the phrases, and nothing else. */
  is(text: string): boolean {
    return this.#phrases.has(spokenWords(text, this.#writing).join(' '))
  }

  /** How many words long the phrases are that begin at a word. */
  *lengthsAt(words: readonly string[], from: number): Generator<number> {
    for (let length = 1; length <= this.#longest && from + length <= words.length; length++) {
      if (this.#phrases.has(words.slice(from, from + length).join(' '))) yield length
    }
  }
}

/** Of how few phrases of the lists the words are made; undefined: of others, too, or there are none. */
export function phrasesIn(words: readonly string[], ...lists: readonly PhraseList[]): number | undefined {
  const fewest: (number | undefined)[] = [0]
  for (let from = 0; from < words.length; from++) {
    const before = fewest[from]
    if (before === undefined) continue
    for (const list of lists) {
      for (const length of list.lengthsAt(words, from)) {
        fewest[from + length] = Math.min(before + 1, fewest[from + length] ?? Number.POSITIVE_INFINITY)
      }
    }
  }
  return words.length === 0 ? undefined : fewest[words.length]
}
