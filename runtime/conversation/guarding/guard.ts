import type { Guardrails } from '../../call/types/guardrails.ts'
import { splitSentences } from '../../plugin-sdk/speech/sentences.ts'
import { detectLanguage } from '../languages/detect.ts'
import { baseOf, MULTI } from '../languages/index.ts'
import { Grounds, opensFact } from './grounds.ts'
import { NeverSaid } from './never-said.ts'
import type { Refusal } from './refusal.ts'

/** Fewer words are no evidence of a language. */
const LEAST_WORDS = 5
/** A text without an end is checked in pieces of this length. */
const MAX_SENTENCE_CHARS = 2_000

/** What a piece of an answer came to. */
export interface Guarded {
  /** May be said. */
  readonly text: string
  /** The answer ends here. */
  readonly refused?: Refusal
  /** The text ends a sentence, and what follows is held back. */
  readonly endsSentence?: boolean
}

/** Checks the answers of one conversation, sentence by sentence. What was said is a ground of what follows. */
export class Guard {
  readonly #rules: Guardrails
  readonly #never: NeverSaid
  readonly #grounds = new Grounds()
  readonly #language: () => string

  /** @param language the tag of what is spoken now */
  constructor(rules: Guardrails, language: () => string) {
    this.#rules = rules
    this.#never = new NeverSaid(rules.never ?? [], rules.patterns ?? [])
    this.#language = language
  }

  /** An answer begins. `sources`: what it may repeat amounts, dates and addresses of. */
  answer(sources: readonly string[]): GuardedAnswer {
    return new GuardedAnswer(this.#rules, this.#never, this.#grounds, sources, this.#language)
  }
}

/** One answer on its way to the caller. */
export class GuardedAnswer {
  readonly #rules: Guardrails
  readonly #never: NeverSaid
  readonly #grounds: Grounds
  readonly #sources: readonly string[]
  readonly #language: () => string
  /** The sentence that is being written, and how much of it was let go. */
  #sentence = ''
  #released = 0
  #sentences = 0
  #said = ''

  constructor(
    rules: Guardrails,
    never: NeverSaid,
    grounds: Grounds,
    sources: readonly string[],
    language: () => string,
  ) {
    this.#rules = rules
    this.#never = never
    this.#grounds = grounds
    this.#sources = sources
    this.#language = language
  }

  /** What of the answer may be said so far. */
  get said(): string {
    return this.#said
  }

  /** Takes the next piece of the answer. */
  push(piece: string): Guarded {
    this.#sentence += piece
    let text = ''
    let endsSentence = false
    for (;;) {
      const end = this.#sentenceEnd()
      if (end === undefined) break
      const checked = this.#close(this.#sentence.slice(0, end))
      if (checked.refused !== undefined) return { text, refused: checked.refused }
      text += checked.text
      this.#sentence = this.#sentence.slice(end)
      endsSentence = true
    }
    const held = this.#heldFrom()
    if (held > this.#released) {
      const refused = this.#sentences === this.#rules.maxSentences ? this.#tooLong() : undefined
      if (refused !== undefined) return { text, refused }
      text += this.#sentence.slice(this.#released, held)
      this.#released = held
      endsSentence = false
    }
    this.#said += text
    return { text, ...(endsSentence && text !== '' ? { endsSentence } : {}) }
  }

  /** The answer is over: what is left of it. */
  end(): Guarded {
    const checked = this.#close(this.#sentence)
    this.#sentence = ''
    this.#said += checked.text
    return checked
  }

  #close(sentence: string): Guarded {
    if (sentence.trim() === '') {
      const text = sentence.slice(this.#released)
      this.#released = 0
      return { text }
    }
    const refused = this.#sentences === this.#rules.maxSentences ? this.#tooLong(sentence) : this.#refusalOf(sentence)
    if (refused !== undefined) return { text: '', refused }
    const text = sentence.slice(this.#released)
    this.#released = 0
    this.#sentences++
    return { text }
  }

  #tooLong(sentence = this.#sentence): Refusal | undefined {
    if (sentence.trim() === '') return undefined
    return { rule: 'max_sentences', sentence, found: String(this.#rules.maxSentences) }
  }

  /** Where the first sentence ends for sure: another one has begun. */
  #sentenceEnd(): number | undefined {
    const sentences = splitSentences(this.#sentence, this.#language())
    const first = sentences[0]
    if (first !== undefined && sentences.length > 1) {
      const behind = this.#sentence.indexOf(first) + first.length
      const next = this.#sentence.indexOf(sentences[1]!, behind)
      return next < 0 ? undefined : next
    }
    return this.#sentence.length > MAX_SENTENCE_CHARS ? this.#sentence.length : undefined
  }

  /** How much of the sentence may be said before its end is known. */
  #heldFrom(): number {
    const sentence = this.#sentence
    const { grounded = [], language = false, maxSentences } = this.#rules
    if (this.#never.needsSentence) return this.#released
    if (language && sentence.split(/\s+/).length <= LEAST_WORDS) return this.#released
    if (language && this.#isForeign(sentence)) return this.#released
    if (maxSentences !== undefined && this.#sentences >= maxSentences) return this.#released
    const fact = grounded.length === 0 ? -1 : opensFact(sentence, grounded, this.#language())
    const open = this.#never.openWords(sentence)
    const words = [...sentence.matchAll(/\S+/g)]
    const phrase = open === 0 ? sentence.length : (words.at(-open)?.index ?? 0)
    // A word of its last letters may become another one: the text before it is what is known.
    const whole = fact < 0 ? sentence.length : fact
    return Math.max(this.#released, Math.min(whole, phrase))
  }

  #isForeign(sentence: string): boolean {
    const spoken = baseOf(this.#language())
    if (spoken === MULTI || sentence.trim().split(/\s+/).length < LEAST_WORDS) return false
    const found = detectLanguage(sentence)?.code
    return found !== undefined && found !== spoken
  }

  #refusalOf(sentence: string): Refusal | undefined {
    const never = this.#never.foundIn(sentence)
    if (never !== undefined) return { ...never, sentence }
    const { grounded = [], language = false } = this.#rules
    const sources = [...this.#sources, this.#said]
    const ungrounded =
      grounded.length === 0 ? undefined : this.#grounds.ungrounded(sentence, grounded, sources, this.#language())
    if (ungrounded !== undefined) return { rule: ungrounded.kind, sentence, found: ungrounded.found }
    return language && this.#isForeign(sentence)
      ? { rule: 'language', sentence, found: baseOf(this.#language()) }
      : undefined
  }
}
