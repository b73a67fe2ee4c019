import { baseOf, languageOf } from '../../conversation/languages/index.ts'

/** Whether there is anything to say in it: a voice makes noise of a mark alone, or refuses it. */
export const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

/** Splits texts of any language into sentences, by the Unicode rules of Intl.Segmenter plus the language's abbreviations. */
export function splitSentences(text: string, language = 'en'): string[] {
  const sentences: string[] = []
  let from = 0
  for (const end of [...sentenceEnds(text, language), text.length]) {
    const sentence = text.slice(from, end).trim()
    if (sentence !== '') sentences.push(sentence)
    from = end
  }
  return sentences
}

/** Where the sentences of a text end, the blanks behind them included: that of the last one too, if it ends. */
export function* sentenceEnds(text: string, language = 'en'): Generator<number> {
  const { segmenter, abbreviation, ordinal } = rulesOf(language)
  // Of a long run of abbreviations the last alone is looked at.
  let tail = ''
  for (const { segment, index } of segmenter.segment(text)) {
    tail = (tail + segment).slice(-MAX_ABBREVIATION_CHARS)
    const end = index + segment.length
    if (abbreviation.test(tail)) continue
    if (ordinal?.test(tail) === true && /^\p{L}/u.test(text.slice(end, end + 2))) continue
    yield end
    tail = ''
  }
}

/** A text in pieces that a voice can begin with one after the other: sentences, and of longer ones `maxChars` at a time. */
export function* piecesOf(text: string, maxChars: number): Generator<string> {
  if (text.length <= maxChars) return yield text
  let piece = ''
  for (const { segment } of rulesOf('en').segmenter.segment(text)) {
    if (piece !== '' && piece.length + segment.length > maxChars) {
      yield piece
      piece = ''
    }
    let rest = segment
    while (rest.length > maxChars) {
      const space = rest.lastIndexOf(' ', maxChars - 1) + 1
      const cut = space > 0 ? space : isHigh(rest, maxChars - 1) ? maxChars - 1 : maxChars
      yield rest.slice(0, cut)
      rest = rest.slice(cut)
    }
    piece += rest
  }
  if (piece !== '') yield piece
}

/** Whether a pair of code units would be cut behind this one. */
function isHigh(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit < 0xdc00
}

/** Cuts a growing text into sentences as soon as each is known to be complete. */
export class SentenceBuffer {
  readonly #language: string
  readonly #maxChars: number
  #text = ''

  /** `maxChars`: a text without any sentence end is cut there, so that the buffer stays small. */
  constructor(language = 'en', maxChars = 600) {
    this.#language = language
    this.#maxChars = maxChars
  }

  /** Takes more text; returns the sentences that ended. */
  push(text: string): string[] {
    this.#text += text
    // It is known that the sentence is over, though nothing follows yet.
    if (/\u2029\s*$/u.test(this.#text)) return this.flush()
    const sentences = splitSentences(this.#text, this.#language)
    const last = sentences.at(-1)
    if (last === undefined) {
      // Blanks alone: they part nothing.
      this.#text = ''
      return []
    }
    // The last one may go on ("It costs 3." + "50 euros"): a mark and the space behind it are not enough.
    // Of a run of blanks behind it the beginning will do.
    const from = this.#text.lastIndexOf(last)
    this.#text = this.#text.slice(from, from + last.length + this.#maxChars)
    const complete = sentences.slice(0, -1).filter(hasWords)
    if (last.length <= this.#maxChars) return complete
    const cut = last.lastIndexOf(' ') + 1 || last.length
    this.#text = this.#text.slice(cut)
    return [...complete, last.slice(0, cut).trim()].filter(hasWords)
  }

  /** Returns what is left and empties the buffer. */
  flush(): string[] {
    const sentences = splitSentences(this.#text, this.#language).filter(hasWords)
    this.#text = ''
    return sentences
  }
}

interface Rules {
  segmenter: Intl.Segmenter
  /** A text that ends with a dot that ends no sentence. */
  abbreviation: RegExp
  /** A text that ends with a number and a dot, where that is an ordinal before a word. */
  ordinal: RegExp | undefined
}

const MAX_ABBREVIATION_CHARS = 64
const MAX_RULES = 64
const rules = new Map<string, Rules>()

function rulesOf(language: string): Rules {
  const base = baseOf(language)
  const known = rules.get(base)
  if (known !== undefined) return known
  const made = makeRules(base)
  if (rules.size < MAX_RULES) rules.set(base, made)
  return made
}

function makeRules(base: string): Rules {
  const { abbreviations, dottedOrdinals } = languageOf(base)
  // Of one in two parts (`z. B.`) the first ends no sentence either.
  const words = abbreviations
    .flatMap((word) => [...word.matchAll(/\. /g)].map(({ index }) => word.slice(0, index)).concat(word))
    .map((word) => word.replaceAll('.', '\\.').replaceAll(' ', '\\s?'))
  return {
    segmenter: new Intl.Segmenter(/^[a-z]{2,3}$/.test(base) ? base : 'en', { granularity: 'sentence' }),
    abbreviation: new RegExp(`(?:^|[\\s("'’„«])(?:${[...words, '[A-Z]'].join('|')})\\.\\s*$`, 'u'),
    // A year or a long number ends its sentence; a day, a floor and a century have two digits.
    ordinal: dottedOrdinals ? /(?:^|[\s("'])\d{1,2}\.\s*$/u : undefined,
  }
}
