/** Splits texts of any language into sentences, by the Unicode rules of Intl.Segmenter plus common abbreviations. */
export function splitSentences(text: string, language = 'en'): string[] {
  const sentences: string[] = []
  let carried = ''
  for (const { segment } of segmenter(language).segment(text)) {
    carried += segment
    if (ABBREVIATION.test(carried)) continue
    const sentence = carried.trim()
    if (sentence !== '') sentences.push(sentence)
    carried = ''
  }
  if (carried.trim() !== '') sentences.push(carried.trim())
  return sentences
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
    const sentences = splitSentences(this.#text, this.#language)
    const last = sentences.at(-1)
    if (last === undefined) return []
    // The last one may go on ("It costs 3." + "50 euros"): a mark and the space behind it are not enough.
    this.#text = this.#text.slice(this.#text.lastIndexOf(last))
    const complete = sentences.slice(0, -1)
    if (last.length <= this.#maxChars) return complete
    const cut = last.lastIndexOf(' ') + 1 || last.length
    this.#text = this.#text.slice(cut)
    return [...complete, last.slice(0, cut).trim()]
  }

  /** Returns what is left and empties the buffer. */
  flush(): string[] {
    const sentences = splitSentences(this.#text, this.#language)
    this.#text = ''
    return sentences
  }
}

const ABBREVIATION =
  /(?:^|[\s("'])(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|No|Nr|vs|etc|e\.g|i\.e|approx|z\.\s?B|bzw|ca|Str|Hr|Fr|M|Mme|Sra|Dra|Ud|Uds|p\.\s?ej|[A-Z])\.\s*$/u

const segmenters = new Map<string, Intl.Segmenter>()

function segmenter(language: string): Intl.Segmenter {
  const base = (language.split(/[-_+]/)[0] ?? 'en').toLowerCase()
  let found = segmenters.get(base)
  if (!found) {
    const known = /^[a-z]{2,3}$/.test(base) ? base : 'en'
    found = new Intl.Segmenter(known, { granularity: 'sentence' })
    if (segmenters.size < 64) segmenters.set(base, found)
  }
  return found
}
