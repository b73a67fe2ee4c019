import { OPEN_TAG } from './inline-text.ts'

/** What begins something of HTML that no page shows. The opening tag is whole, so that its name is known. */
const BEGINS = /<!--|<(script|style|svg)\b[^<>]*>/gi
/** As much of what is left out is kept as the end of it may have in a piece before. */
const MAX_END_CHARS = 16

/** Leaves out scripts, styles, pictures and comments of HTML, which go on over lines and pieces until they end. */
export class HiddenMarkup {
  /** How what is left out ends, and what of it came last. */
  #open: { end: RegExp; instead: string; last: string } | undefined

  /** The line so far with what is added to it, without what no page shows; a tag that goes on in the next line is one line. */
  shown(line: string, added: string): string {
    let shown = line
    let rest = added
    for (;;) {
      if (this.#open !== undefined) {
        const { end, instead, last } = this.#open
        const text = last + rest
        const found = end.exec(text)
        if (found === null) {
          this.#open.last = text.slice(-MAX_END_CHARS)
          return shown
        }
        this.#open = undefined
        shown += instead
        rest = text.slice(found.index + found[0].length)
      }
      shown += rest
      const begins = beginsIn(shown)
      if (begins === undefined)
        return shown.endsWith('\n') && OPEN_TAG.test(shown.slice(0, -1)) ? `${shown.slice(0, -1)} ` : shown
      const { index, 0: mark, 1: name } = begins
      this.#open =
        name === undefined
          ? { end: /-->/, instead: '', last: '' }
          : { end: new RegExp(`</${name}\\s*>`, 'i'), instead: ' ', last: '' }
      rest = shown.slice(index + mark.length)
      shown = shown.slice(0, index)
    }
  }

  /** The text is over, whatever was left out. */
  end(): void {
    this.#open = undefined
  }
}

/** The first that no code holds: what is written as code is said as it is. */
function beginsIn(text: string): RegExpExecArray | undefined {
  if (!text.includes('<')) return undefined
  for (const found of text.matchAll(BEGINS)) {
    const isInCode = (text.slice(0, found.index).match(/`/g)?.length ?? 0) % 2 === 1
    if (!isInCode && text[found.index - 1] !== '\\') return found
  }
  return undefined
}
