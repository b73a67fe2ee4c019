import { detectLanguage } from '../languages/detect.ts'
import { baseOf, languageOf, type Manner, MULTI } from '../languages/index.ts'
import type { Language } from '../languages/language.ts'

/** A word or two may be any language's: they change nothing alone. */
const SURE_WORDS = 3

/**
 * What is spoken in a conversation: the agent's language, or with `multi` the caller's, from turn to turn. Pure.
 */
export class SpokenLanguage {
  /** The caller's language is the agent's. */
  readonly follows: boolean
  readonly #manner: Manner
  #tag: string
  /** Heard once, in too few words to be sure. */
  #guess: string | undefined

  constructor(language: string | undefined, manner: Manner = {}) {
    this.#manner = manner
    const tag = language ?? 'en'
    this.follows = tag.toLowerCase() === MULTI
    this.#tag = this.follows ? 'en' : tag
  }

  /** A language tag. */
  get tag(): string {
    return this.#tag
  }

  get language(): Language {
    return languageOf(this.#tag, this.#manner)
  }

  /**
   * Final words of the caller, and their language as the recogniser names it. Returns the language they are in, where the
   * conversation follows the caller; undefined where it doesn't.
   */
  heard(text: string, named: string | undefined): string | undefined {
    if (!this.follows) return undefined
    const known = named !== undefined && named !== '' && baseOf(named) !== MULTI ? named : undefined
    const tag = known ?? detectLanguage(text)?.code
    if (tag === undefined || baseOf(tag) === baseOf(this.#tag)) {
      this.#guess = undefined
      return this.#tag
    }
    const words = text.trim().split(/\s+/).length
    if (words < SURE_WORDS && this.#guess !== baseOf(tag)) {
      this.#guess = baseOf(tag)
      return this.#tag
    }
    this.#guess = undefined
    this.#tag = tag
    return tag
  }
}
