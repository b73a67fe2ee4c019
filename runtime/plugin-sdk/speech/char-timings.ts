import type { TimedWord } from './socket-synthesize-stream.ts'

/** Where one character lies in the audio, in seconds. */
interface TimedChar {
  char: string
  startS: number
  endS: number
}

/** Puts words together from characters that come in pieces, cut anywhere. */
export class CharTimings {
  #word: TimedWord | undefined

  /** The words that these complete. */
  push(chars: readonly TimedChar[]): TimedWord[] {
    const words: TimedWord[] = []
    for (const { char, startS, endS } of chars) {
      if (char.trim() === '') {
        words.push(...this.flush())
        continue
      }
      this.#word = this.#word
        ? { text: this.#word.text + char, startS: this.#word.startS, endS: Math.max(this.#word.endS, endS) }
        : { text: char, startS, endS }
    }
    return words
  }

  /** The last word. */
  flush(): TimedWord[] {
    const last = this.#word === undefined ? [] : [this.#word]
    this.#word = undefined
    return last
  }
}
