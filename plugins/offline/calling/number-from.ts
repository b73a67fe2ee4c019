import { spokenFormsOf } from '../../../runtime/conversation/collecting/languages/index.ts'
import { numberAt } from '../../../runtime/conversation/collecting/numbers.ts'
import { type Token, tokensOf } from '../../../runtime/conversation/collecting/tokens.ts'

/** A number with decimals may be written with either mark. */
const WRITTEN = /^\d{1,9}(?:[.,]\d{1,4})?$/
const GERMAN_ARTICLES = ['ein', 'eine', 'einen', 'einem', 'einer']
/** Articles, pronouns and letters that are written as a number word is. */
const ALSO_ARTICLES = new Set(['one', 'oh', 'o', 'un', 'une', 'uno', 'una', 'um', 'uma', 'meia', ...GERMAN_ARTICLES])

/** A word, and the parts that a number may be made of: `twenty-one`. */
export interface NumberWord {
  readonly word: string
  readonly parts: readonly Token[]
}

export const numberWord = (word: string): NumberWord => ({ word, parts: tokensOf(word) })

/** The number that words begin with, and how many of them it takes; undefined where they begin with none. */
export function numberFrom(
  words: readonly NumberWord[],
  language: string,
): { readonly value: number; readonly count: number } | undefined {
  const { word: first = '' } = words[0] ?? {}
  if (WRITTEN.test(first)) return { value: Number(first.replace(',', '.')), count: 1 }
  const forms = spokenFormsOf(language)
  const parts = words.map((word) => word.parts)
  const number = numberAt(parts.flat(), 0, forms)
  if (number === undefined) {
    const digit = forms.digitWords.get(first)
    return digit === undefined ? undefined : { value: Number(digit), count: 1 }
  }
  let tokens = 0
  const last = parts.findIndex((part) => {
    tokens += part.length
    return tokens >= number.length
  })
  // "7pm" is no number.
  return tokens === number.length ? { value: number.value, count: last + 1 } : undefined
}

/** Whether a word may be an article as well as the number one. */
export const isAlsoArticle = (word: string): boolean => ALSO_ARTICLES.has(word)

/** German says the number one otherwise: only before "Uhr" an article is an hour. */
export const isGermanArticle = (word: string): boolean => GERMAN_ARTICLES.includes(word)
