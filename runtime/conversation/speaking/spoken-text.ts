/** Letters a second of unhurried speech; used until the length of the audio is known. */
const CHARACTERS_PER_SECOND = 15
/** A word that is found only this far on is another one. */
const MAX_SKIPPED_CHARACTERS = 60

/** Audio of words without timings behind a word that has one, before they are laid by their letters. */
const TIMINGS_END_MS = 2_000

/** Scripts that are written without blanks between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u
const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' })

interface TimedWord {
  text: string
  startMs: number
}

/**
 * Which words of a stretch of speech lie before a position in its audio. Words with timings of the synthesiser are
 * taken by them; words without are laid along the audio in proportion to their letters.
 */
export class SpokenText {
  text = ''
  /** What the synthesiser says of when words begin, in their order. */
  readonly #timed: TimedWord[] = []
  /** All text is here. */
  complete = false

  add(text: string): void {
    this.text += text
  }

  /** @param startMs position of the words in the audio */
  time(text: string, startMs: number): void {
    if (text.trim() !== '') this.#timed.push({ text: text.trim(), startMs })
  }

  /**
   * The words that began before `playedMs`. Whole words only: one that was cut in its first half was not heard.
   * @param totalMs length of the audio, once all of it is synthesised
   */
  heardBy(playedMs: number, totalMs: number | undefined): string {
    if (playedMs <= 0) return ''
    if (totalMs !== undefined && playedMs >= totalMs && this.complete) return this.text.trim()
    const timed = this.#timedBy(playedMs)
    if (timed !== undefined) {
      const behindMs = playedMs - timed.startMs
      const untimed = timed.isLast && behindMs > TIMINGS_END_MS ? (behindMs / 1000) * CHARACTERS_PER_SECOND : 0
      const rest = this.text.slice(timed.endIndex)
      return `${this.text.slice(0, timed.endIndex)}${untimed === 0 ? '' : leading(rest, untimed)}`.trim()
    }
    const characters =
      totalMs !== undefined && totalMs > 0 && this.complete
        ? (playedMs / totalMs) * this.text.length
        : (playedMs / 1000) * CHARACTERS_PER_SECOND
    return leading(this.text, characters).trim()
  }

  /** Where the last word ends that began before then; undefined where no word has a timing. */
  #timedBy(playedMs: number): { endIndex: number; startMs: number; isLast: boolean } | undefined {
    if (this.#timed.length === 0) return undefined
    const lower = this.text.toLowerCase()
    let endIndex = 0
    let startMs = 0
    let isLast = true
    for (const word of this.#timed) {
      if (word.startMs >= playedMs) {
        isLast = false
        break
      }
      // A synthesiser may spell a word otherwise than the text has it; those around it tell where it stands.
      const said = word.text.toLowerCase()
      const near = lower.slice(endIndex, endIndex + MAX_SKIPPED_CHARACTERS + said.length)
      const skipped = near.indexOf(said)
      if (skipped < 0) continue
      const at = endIndex + skipped
      // A voice that tells the beginning of sentences alone: their words lie along the audio.
      const isOne = isOneWord(word.text)
      const heard = isOne ? word.text : leading(word.text, ((playedMs - word.startMs) / 1000) * CHARACTERS_PER_SECOND)
      endIndex = at + heard.length
      startMs = isOne ? word.startMs : playedMs
    }
    return { endIndex, startMs, isLast }
  }
}

/** The words of which at least half lies within the first `characters` letters. */
function leading(text: string, characters: number): string {
  let end = 0
  for (const { index, length } of wordsOf(text)) {
    if (index + length / 2 > characters) break
    end = index + length
  }
  return text.slice(0, end)
}

function* wordsOf(text: string): Generator<{ index: number; length: number }> {
  for (const { 0: run, index } of text.matchAll(/\S+/gu)) {
    if (!UNSPACED.test(run)) {
      yield { index, length: run.length }
      continue
    }
    // Marks behind a word are heard with it.
    let word: { index: number; length: number } | undefined
    for (const { segment, index: at, isWordLike } of WORDS.segment(run)) {
      if (word !== undefined && isWordLike === true) {
        yield word
        word = undefined
      }
      word =
        word === undefined
          ? { index: index + at, length: segment.length }
          : { index: word.index, length: word.length + segment.length }
    }
    if (word !== undefined) yield word
  }
}

/** What a voice tells the beginning of is one word, not a sentence of them. */
function isOneWord(text: string): boolean {
  const words = wordsOf(text)
  words.next()
  return words.next().done === true
}
