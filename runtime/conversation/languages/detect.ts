import { LANGUAGES } from './index.ts'
import type { Language } from './language.ts'

/** A language's words stand out of another's by this many at least. */
const MARGIN = 1
const MIN_WORDS = 2
/** In so short a text one word is enough. */
const SHORT_TEXT_WORDS = 2

/** Scripts that one of the languages alone is written in. */
const BY_SCRIPT: readonly (readonly [script: RegExp, code: string])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, 'ja'],
  [/\p{Script=Devanagari}/u, 'hi'],
]

/** The language whose frequent words a text holds; undefined where none stands out. */
export function detectLanguage(text: string): Language | undefined {
  const code = BY_SCRIPT.find(([script]) => script.test(text))?.[1]
  if (code !== undefined) return LANGUAGES.find((language) => language.code === code)
  const words =
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}']+/gu) ?? []
  const least = words.length <= SHORT_TEXT_WORDS ? 1 : MIN_WORDS
  let best: Language | undefined
  let most = 0
  let second = 0
  for (const language of LANGUAGES) {
    const count = words.filter((word) => language.commonWords.has(word)).length
    if (count > most) {
      second = most
      most = count
      best = language
    } else if (count > second) second = count
  }
  return most >= least && most - second >= MARGIN ? best : undefined
}
