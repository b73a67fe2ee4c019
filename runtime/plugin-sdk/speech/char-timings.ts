import type { TimedWord } from './socket-synthesize-stream.ts'

/** Where one character lies in the audio, in seconds. */
interface TimedChar {
  char: string
  startS: number
  endS: number
}

/** Characters of scripts that are written without blanks: where a word ends is not known from them, and each is told by itself. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u

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
      const parts = UNSPACED.test(char) || (/[\p{L}\p{N}]/u.test(char) && UNSPACED.test(this.#word?.text ?? ''))
      if (parts) words.push(...this.flush())
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
