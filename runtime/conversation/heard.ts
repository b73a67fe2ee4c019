/** Letters a second of unhurried speech; used until the length of the audio is known. */
const CHARACTERS_PER_SECOND = 15

interface TimedWord {
  endIndex: number
  startMs: number
}

/**
 * Which words of a stretch of speech lie before a position in its audio. Words with timings of the synthesiser are
 * taken by them; words without are laid along the audio in proportion to their letters.
 */
export class SpokenText {
  text = ''
  readonly #timed: TimedWord[] = []
  #everyWordTimed = true
  /** All text is here. */
  complete = false

  /** @param startMs position of the words in the audio, when the synthesiser says so */
  add(text: string, startMs?: number): void {
    this.text += text
    if (text.trim() === '') return
    if (startMs === undefined) this.#everyWordTimed = false
    else this.#timed.push({ endIndex: this.text.length, startMs })
  }

  /**
   * The words that began before `playedMs`. Whole words only: one that was cut in its first half was not heard.
   * @param totalMs length of the audio, once all of it is synthesised
   */
  heardBy(playedMs: number, totalMs: number | undefined): string {
    if (playedMs <= 0) return ''
    if (totalMs !== undefined && playedMs >= totalMs && this.complete) return this.text.trim()
    if (this.#everyWordTimed && this.#timed.length > 0) {
      const last = this.#timed.findLast((word) => word.startMs < playedMs)
      return last === undefined ? '' : this.text.slice(0, last.endIndex).trim()
    }
    const characters =
      totalMs !== undefined && totalMs > 0 && this.complete
        ? (playedMs / totalMs) * this.text.length
        : (playedMs / 1000) * CHARACTERS_PER_SECOND
    return wholeWords(this.text, characters)
  }
}

/** The words of which at least half lies within the first `characters` letters. */
function wholeWords(text: string, characters: number): string {
  let end = 0
  for (const match of text.matchAll(/\S+/gu)) {
    if (match.index + match[0].length / 2 > characters) break
    end = match.index + match[0].length
  }
  return text.slice(0, end).trim()
}
