import type { Piece } from './reading-order.ts'

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu
const LEFT_TO_RIGHT = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/gu
/** Letters as they are drawn within a word, and ligatures; their plain letters are what people search for. */
const DRAWN_FORMS = /[\ufb00-\ufdff\ufe70-\ufefc]/g
/** What takes the direction of the words around it, at both ends of a word or number that is read from left to right. */
const NEUTRAL_ENDS = /^([\s.,;:!?"'…-]*)(.*?)([\s.,;:!?"'…-]*)$/su

/** Whether a line is read from right to left: most of its letters are, or, among such lines, any of them. */
export function isRightToLeft(pieces: readonly Piece[], isAmongSuch: boolean): boolean {
  let letters = 0
  let others = 0
  for (const { text } of pieces) {
    letters += count(text, RIGHT_TO_LEFT)
    others += count(text, LEFT_TO_RIGHT)
  }
  return letters > (isAmongSuch ? 0 : others)
}

/**
 * The text of runs on one line as it is read, from the places they have. In a line from right to left, words and numbers that are read from
 * left to right stay as they are (UAX 9).
 * @param pieces from left to right
 */
export function lineText(pieces: readonly Piece[], isFromRight: boolean): string {
  if (!isFromRight) return plainForms(pieces.map(({ text }) => text).join(''))
  const ordered: string[] = []
  /** Words from left to right that belong together, at the end of `ordered`. */
  let run: string[] = []
  let blank = ''
  const end = (): void => {
    ordered.push(...run, blank)
    run = []
    blank = ''
  }
  for (const { text } of pieces.toReversed()) {
    if (text.trim() === '') {
      if (run.length === 0) ordered.push(text)
      else blank += text
      continue
    }
    if (count(text, RIGHT_TO_LEFT) > 0) {
      end()
      ordered.push(text)
    } else if (run.length > 0 && count(text, LEFT_TO_RIGHT) > 0) {
      run.unshift(text, blank)
      blank = ''
    } else {
      end()
      const [, left = '', word = '', right = ''] = NEUTRAL_ENDS.exec(text) ?? []
      ordered.push(right)
      run = [word]
      blank = left
    }
  }
  end()
  return plainForms(ordered.join(''))
}

function plainForms(text: string): string {
  return text.replace(DRAWN_FORMS, (form) => form.normalize('NFKC'))
}

function count(text: string, letters: RegExp): number {
  return text.match(letters)?.length ?? 0
}
