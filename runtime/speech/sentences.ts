import { baseOf, languageOf } from '../conversation/languages/index.ts'

/** Splits texts of any language into sentences, by the Unicode rules of Intl.Segmenter plus the language's abbreviations. */
export function splitSentences(text: string, language = 'en'): string[] {
  const sentences: string[] = []
  let carried = ''
  const { segmenter, abbreviation } = rulesOf(language)
  for (const { segment } of segmenter.segment(text)) {
    carried += segment
    if (abbreviation.test(carried)) continue
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

interface Rules {
  segmenter: Intl.Segmenter
  /** A text that ends with a dot that ends no sentence. */
  abbreviation: RegExp
}

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
  const { abbreviations } = languageOf(base)
  // Of one in two parts (`z. B.`) the first ends no sentence either.
  const words = abbreviations
    .flatMap((word) => [...word.matchAll(/\. /g)].map(({ index }) => word.slice(0, index)).concat(word))
    .map((word) => word.replaceAll('.', '\\.').replaceAll(' ', '\\s?'))
  return {
    segmenter: new Intl.Segmenter(/^[a-z]{2,3}$/.test(base) ? base : 'en', { granularity: 'sentence' }),
    abbreviation: new RegExp(`(?:^|[\\s("'])(?:${[...words, '[A-Z]'].join('|')})\\.\\s*$`, 'u'),
  }
}
