import type * as german from './german/mod.ts'

/** The languages of the page, each by its own name. */
export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  it: 'Italiano',
  pt: 'Português',
  nl: 'Nederlands',
  pl: 'Polski',
  sv: 'Svenska',
  tr: 'Türkçe',
  ja: '日本語',
  hi: 'हिन्दी',
} as const
export type Language = keyof typeof LANGUAGES

/** What the page says in another language than English: German's keys are those of all. */
export type Dictionary = {
  readonly [Part in keyof typeof german]: Readonly<Record<keyof (typeof german)[Part], string>>
}

/** Each is a file of its own, which only pages in it load. One that lacks a sentence is a type error. */
export const DICTIONARIES: Readonly<Record<Exclude<Language, 'en'>, () => Promise<Dictionary>>> = {
  de: () => import('./german/mod.ts'),
  es: () => import('./spanish/mod.ts'),
  fr: () => import('./french/mod.ts'),
  it: () => import('./italian/mod.ts'),
  pt: () => import('./portuguese/mod.ts'),
  nl: () => import('./dutch/mod.ts'),
  pl: () => import('./polish/mod.ts'),
  sv: () => import('./swedish/mod.ts'),
  tr: () => import('./turkish/mod.ts'),
  ja: () => import('./japanese/mod.ts'),
  hi: () => import('./hindi/mod.ts'),
}
