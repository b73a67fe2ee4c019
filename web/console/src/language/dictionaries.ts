import type * as german from './german/mod.ts'

/** The languages of the page, each by its own name. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES

/** What the page says in another language than English: German's keys are those of all. */
export type Dictionary = {
  readonly [Part in keyof typeof german]: Readonly<Record<keyof (typeof german)[Part], string>>
}

/** Each is a file of its own, which only pages in it load. One that lacks a sentence is a type error. */
export const DICTIONARIES: Readonly<Record<Exclude<Language, 'en'>, () => Promise<Dictionary>>> = {
  de: () => import('./german/mod.ts'),
}
