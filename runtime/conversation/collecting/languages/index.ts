import { baseOf } from '../../languages/index.ts'
import type { SpokenForms } from '../spoken-forms.ts'
import { german } from './de.ts'
import { english } from './en.ts'
import { spanish } from './es.ts'
import { french } from './fr.ts'
import { italian } from './it.ts'
import { portuguese } from './pt.ts'

const SPOKEN_FORMS: readonly SpokenForms[] = [english, german, french, spanish, italian, portuguese]

/** The forms of a language tag's language; English where it has none of its own: values are then keyed, typed or said in numerals. */
export function spokenFormsOf(tag: string | undefined): SpokenForms {
  return SPOKEN_FORMS.find(({ code }) => code === baseOf(tag ?? 'en')) ?? english
}
