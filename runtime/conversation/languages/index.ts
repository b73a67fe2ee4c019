import { german } from './de.ts'
import { english } from './en.ts'
import { spanish } from './es.ts'
import { french } from './fr.ts'
import { italian } from './it.ts'
import type { Language } from './language.ts'
import { portuguese } from './pt.ts'

/** All the languages the runtime speaks by itself; the first where nothing tells the language. */
export const LANGUAGES: readonly [Language, ...Language[]] = [english, german, spanish, french, italian, portuguese]

/** An agent's language that follows the caller's. */
export const MULTI = 'multi'

/** The first part of a language tag, small letters: `de` of `de-AT`. Names of voices begin alike (`pt-br+f3`). */
export function baseOf(tag: string): string {
  return (tag.split(/[-_+]/)[0] ?? '').toLowerCase()
}

const others = new Map<string, Language>()
const MAX_OTHERS = 200

/**
 * The language of a tag. One the runtime doesn't speak has English phrases, and no words of English are looked for in it.
 * Undefined, empty and `multi` are English.
 */
export function languageOf(tag: string | undefined): Language {
  const code = baseOf(tag ?? '')
  if (code === '' || code === MULTI) return LANGUAGES[0]
  const known = LANGUAGES.find((language) => language.code === code) ?? others.get(code)
  if (known !== undefined) return known
  const made = unspoken(code)
  if (others.size < MAX_OTHERS) others.set(code, made)
  return made
}

const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' })
const HUMS = new Set('mm mmm mhm mm-hm hm hmm hmmm ah aha oh ok okay'.split(' '))

function unspoken(code: string): Language {
  const name = /^[a-z]{2,3}$/.test(code) ? (NAMES.of(code) ?? code) : code
  return {
    ...LANGUAGES[0],
    code,
    name,
    instruction: `Always speak ${name}.`,
    openEndings: new Set(),
    backchannels: HUMS,
    commonWords: new Set(),
    abbreviations: [],
    keys: [],
  }
}
