import { LANGUAGES, type Language } from './dictionaries.ts'

/** The language of the page: the one chosen in this browser, else the first of the browser's own that the page speaks. */

const KEPT_AS = 'language'

const isLanguage = (name: string | null | undefined): name is Language => name != null && Object.hasOwn(LANGUAGES, name)
const bare = (tag: string): string => tag.split('-')[0]!.toLowerCase()

const kept = localStorage.getItem(KEPT_AS)
export const language: Language = isLanguage(kept) ? kept : (navigator.languages.map(bare).find(isLanguage) ?? 'en')

/** With the region the browser names, for numbers and dates. */
export const locale: string = navigator.languages.find((tag) => bare(tag) === language) ?? language

document.documentElement.lang = language

/** Keeps the choice in this browser and draws the page anew. */
export function choose(next: Language): void {
  localStorage.setItem(KEPT_AS, next)
  location.reload()
}
