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

/** What was segmented last: the same words are read several times for one answer. */
const segmented = new Map<string, readonly string[]>()
const MAX_SEGMENTED = 64
const MAX_SEGMENTED_CHARACTERS = 1_000

/** The words of a text, lower case and without accents; scripts without spaces are segmented by dictionary. */
export function words(text: string): readonly string[] {
  const known = segmented.get(text)
  if (known !== undefined) return known
  const found = segment(text)
  if (text.length > MAX_SEGMENTED_CHARACTERS) return found
  if (segmented.size >= MAX_SEGMENTED) segmented.clear()
  segmented.set(text, found)
  return found
}

function segment(text: string): string[] {
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

/** The words of a text whose scripts have spaces, as `words` gives them: fast, for texts of tools. */
export const foldedWords = (text: string): string[] => fold(text.toLowerCase()).match(/[\p{L}\p{N}]+/gu) ?? []

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
export function questionTerms(text: string, language: Language, groups = language.synonyms): QuestionTerm[] {
  const found = new Map<string, QuestionTerm>()
  const synonyms = synonymsOf(groups, language)
  for (const word of words(text)) {
    const hint = language.stopWords.has(word)
    const alike = synonyms.get(hint ? word : stem(word, language))
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
const indexes = new WeakMap<Language['synonyms'], Map<string, Set<string>>>()

/** Synonym groups by stem; stop words in them ("where") by the word itself. */
function synonymsOf(groups: Language['synonyms'], language: Language): Map<string, Set<string>> {
  let index = indexes.get(groups)
  if (index) return index
  index = new Map()
  for (const group of groups) {
    const stems = group.filter((word) => !language.stopWords.has(word)).map((word) => stem(word, language))
    for (const word of group) {
      const key = language.stopWords.has(word) ? word : stem(word, language)
      const known = index.get(key) ?? new Set()
      for (const other of stems) if (other !== key) known.add(other)
      index.set(key, known)
    }
  }
  indexes.set(groups, index)
  return index
}

/** Cuts known endings, the longest first, while at least three letters stay: "openings" → "opening" → "open". */
export function stem(word: string, language: Language): string {
  let stemmed = language.irregular[word] ?? word
  for (let cut = 0; cut < MAX_CUTS; cut++) {
    const ending = language.endings.find((end) => stemmed.length - end.length >= 3 && stemmed.endsWith(end))
    if (ending === undefined) break
    stemmed = stemmed.slice(0, -ending.length)
  }
  return stemmed
}

const MAX_CUTS = 2

export function fold(word: string): string {
  return word
    .normalize('NFD')
    .replace(/\p{Mn}+/gu, '')
    .replaceAll('ß', 'ss')
}

const WORDS = new Intl.Segmenter('en', { granularity: 'word' })
