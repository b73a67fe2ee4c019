import { german } from './de.ts'
import { english } from './en.ts'
import { spanish } from './es.ts'
import { french } from './fr.ts'
import { italian } from './it.ts'
import type { Language } from './language.ts'
import { portuguese } from './pt.ts'

/** The first is used where nothing tells the language. */
export const LANGUAGES: readonly [Language, ...Language[]] = [english, spanish, french, german, italian, portuguese]

/** The language of a tag such as `fr-CA`, or English. */
export function languageOf(tag: string | undefined): Language {
  const code = tag?.split(/[-_+]/)[0]?.toLowerCase()
  return LANGUAGES.find((language) => language.code === code) ?? LANGUAGES[0]
}
