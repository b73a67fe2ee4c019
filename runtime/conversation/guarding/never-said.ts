import { createRequire } from 'node:module'
import { plain } from '../languages/plain.ts'

/** Patterns of agents that are compiled in a process. */
const MAX_COMPILED = 2_000
/** A sentence is no longer. */
const MAX_CHARS = 4_000

interface Pattern {
  exec(text: string): { 0?: string } | null
}

const compiled = new Map<string, Pattern>()
let engine: (new (source: string, flags: string) => Pattern) | undefined

/** The pattern for RE2, which takes a time that is linear in the text whatever it is. @throws where RE2 has no such pattern */
export function compilePattern(source: string): Pattern {
  const known = compiled.get(source)
  if (known !== undefined) return known
  // Loaded with the first pattern: it is half a megabyte of WebAssembly.
  engine ??= (createRequire(import.meta.url)('re2-wasm') as { RE2: NonNullable<typeof engine> }).RE2
  const pattern = new engine(source, 'iu')
  if (compiled.size >= MAX_COMPILED) compiled.clear()
  compiled.set(source, pattern)
  return pattern
}

/** Why a text is no pattern; undefined: it is one. */
export function faultOfPattern(source: string): string | undefined {
  try {
    return compilePattern(source).exec('') === null ? undefined : 'matches an empty text, so it would refuse everything'
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 300) : 'is no pattern'
  }
}

/** Words, phrases and patterns that are never said. Letters count in any case, with accents or without. */
export class NeverSaid {
  readonly #phrases: readonly { readonly text: string; readonly words: readonly string[] }[]
  readonly #patterns: readonly string[]

  constructor(never: readonly string[], patterns: readonly string[]) {
    this.#phrases = never
      .map((text) => ({ text, words: plain(text).split(' ') }))
      .filter(({ words }) => words[0] !== '')
    this.#patterns = patterns
  }

  /** Whether a whole sentence must be known before any of it is said. */
  get needsSentence(): boolean {
    return this.#patterns.length > 0
  }

  /** The phrase or the match in a sentence; undefined: none. */
  foundIn(sentence: string): { rule: 'never' | 'patterns'; found: string } | undefined {
    const text = plain(sentence)
    const phrase = this.#phrases.find(({ words }) => holdsWords(text, words.join(' ')))
    if (phrase !== undefined) return { rule: 'never', found: phrase.text }
    for (const source of this.#patterns) {
      const match = compilePattern(source).exec(sentence.slice(0, MAX_CHARS))
      if (match !== null) return { rule: 'patterns', found: match[0] ?? source }
    }
    return undefined
  }

  /** How many of the sentence's last words may be the beginning of a phrase. */
  openWords(sentence: string): number {
    const said = plain(sentence).split(' ').filter(Boolean)
    let most = 0
    for (const { words } of this.#phrases) {
      for (let count = Math.min(words.length, said.length); count > most; count--) {
        const tail = said.slice(-count)
        const isOpen = tail.every((word, i) => (i === count - 1 ? words[i]!.startsWith(word) : words[i] === word))
        if (isOpen) most = count
      }
    }
    return most
  }
}

/** Words in a row; in a script without blanks, characters in a row. */
function holdsWords(text: string, words: string): boolean {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}\p{Script=Thai}]/u.test(words)) return text.includes(words)
  return ` ${text} `.includes(` ${words} `)
}
