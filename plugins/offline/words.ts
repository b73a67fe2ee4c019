import { LANGUAGES } from './languages/index.ts'
import type { Language } from './languages/language.ts'

/** A text as a bag of comparable terms: lower case, no accents, no stop words, endings cut ("opening" and "opens" → "open"). */
export function terms(text: string, language: Language): string[] {
  const found: string[] = []
  for (const word of words(text)) {
    if (!language.stopWords.has(word)) found.push(stem(word, language))
  }
  return found
}

/** The words of a text, lower case and without accents; scripts without spaces are segmented by dictionary. */
export function words(text: string): string[] {
  const found: string[] = []
  const plain = text
    .toLowerCase()
    .replace(/['’]s\b/g, '')
    .replace(/['’](re|t|ll|m|ve|d)\b/g, '$1')
    .replace(/['’]/g, ' ')
  for (const { segment, isWordLike } of WORDS.segment(plain)) {
    if (isWordLike) found.push(fold(segment))
  }
  return found
}

/** The language most of whose stop words are in the text; `fallback` when none stands out. */
export function detectLanguage(text: string, fallback: Language): Language {
  const seen = words(text)
  let best = fallback
  let bestCount = seen.filter((word) => fallback.stopWords.has(word)).length
  for (const language of LANGUAGES) {
    const count = seen.filter((word) => language.stopWords.has(word)).length
    if (count > bestCount) {
      best = language
      bestCount = count
    }
  }
  return best
}

/** The weighted terms a question asks for: its topics, and what its question word hints at ("where" → address). */
export function questionTerms(text: string, language: Language): QuestionTerm[] {
  const found = new Map<string, QuestionTerm>()
  for (const word of words(text)) {
    const hint = language.stopWords.has(word)
    const alike = synonymsOf(language).get(hint ? word : stem(word, language))
    if (hint && !alike) continue
    const term = hint ? word : stem(word, language)
    if (!found.has(term)) found.set(term, { term, alike: alike ?? NONE, hint })
  }
  return [...found.values()]
}

export interface QuestionTerm {
  term: string
  /** Terms that mean much the same. */
  alike: ReadonlySet<string>
  /** From a question word, not a topic. */
  hint: boolean
}

const NONE: ReadonlySet<string> = new Set()
const synonyms = new WeakMap<Language, Map<string, Set<string>>>()

/** The synonym groups of a language by stem; stop words in them ("where") by the word itself. */
function synonymsOf(language: Language): Map<string, Set<string>> {
  let index = synonyms.get(language)
  if (index) return index
  index = new Map()
  for (const group of language.synonyms) {
    const stems = group.filter((word) => !language.stopWords.has(word)).map((word) => stem(word, language))
    for (const word of group) {
      const key = language.stopWords.has(word) ? word : stem(word, language)
      const known = index.get(key) ?? new Set()
      for (const other of stems) if (other !== key) known.add(other)
      index.set(key, known)
    }
  }
  synonyms.set(language, index)
  return index
}

/** Cuts known endings, the longest first, while at least three letters stay: "openings" → "opening" → "open". */
function stem(word: string, language: Language): string {
  let stemmed = language.irregular[word] ?? word
  for (let cut = 0; cut < MAX_CUTS; cut++) {
    const ending = language.endings.find((end) => stemmed.length - end.length >= 3 && stemmed.endsWith(end))
    if (ending === undefined) break
    stemmed = stemmed.slice(0, -ending.length)
  }
  return stemmed
}

const MAX_CUTS = 2

function fold(word: string): string {
  return word
    .normalize('NFD')
    .replace(/\p{Mn}+/gu, '')
    .replaceAll('ß', 'ss')
}

const WORDS = new Intl.Segmenter('en', { granularity: 'word' })
